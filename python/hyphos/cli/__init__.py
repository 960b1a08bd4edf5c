"""The command line tool `hyphos`. Modules here only declare commands. The work is in hyphos.tools
and hyphos.recording, which are imported when a command runs, so that `--help` is fast."""
