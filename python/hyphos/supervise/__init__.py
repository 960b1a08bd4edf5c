"""Supervision of the processes of a plan, for `hyphos run`: start, watch, restart, end.

A `Supervisor` decides. `Place`s (this machine, or others by ssh) act, and report through one queue
of events.
"""
