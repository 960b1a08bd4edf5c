"""The profiler: the time of messages in each layer of the stack, and in each node.

`collect` reads the flight recorders of a running graph. `Flows` joins their events into the paths
of messages. The other modules show the result: see docs/how-to/lab_profile.md.
"""
