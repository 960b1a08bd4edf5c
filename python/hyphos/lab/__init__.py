"""The laboratory: networks and machines as one asks for them, on this machine.

`links` joins network namespaces, `limits` bounds CPU and shared memory, and `reaper` sees to it
that nothing of this is left behind, however the program ends.
"""
