"""The command line tool `hyphos`. Modules here only declare commands. The work is in hyphos.tools
and hyphos.recording, which are imported when a command runs, so that `--help` is fast."""

import typer

if tuple(int(part) for part in typer.__version__.split(".")[:2]) < (0, 9):
    from hyphos.cli import old_typer

    old_typer.extend()
