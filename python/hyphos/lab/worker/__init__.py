"""One process of a run, in Python: what lab/common/roles.hpp is in C++.

Only the standard library: an interpreter that has no Hyphos runs it too (rospy's is the system's).
"""
