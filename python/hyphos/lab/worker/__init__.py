"""One process of a run in Python, the counterpart of lab/common/roles.hpp.

Uses only the standard library, because interpreters without Hyphos run it too (rospy needs the
system's interpreter).
"""
