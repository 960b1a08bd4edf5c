"""The laboratory: emulated networks and bounded machines on this machine.

`links` joins network namespaces, `limits` bounds CPU and shared memory, and `reaper` removes all of
this, however the program ends.
"""
