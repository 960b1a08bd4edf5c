"""The profiler: where in the stack, and in which node, the time of a message goes.

`collect` reads the flight recorders of a running graph, `Flows` joins what it found into the ways
that messages took, and the other modules show it: see docs/lab_profile.md.
"""
