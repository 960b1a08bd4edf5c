"""Starting, watching, restarting and ending the processes of a plan: what `hyphos run` is made of.

A `Supervisor` decides; `Place`s (this machine, or others by ssh) do, and tell it through one queue
of events what happened.
"""
