"""Refuses options by their old names, with a hint that names the new one."""

from __future__ import annotations

from typing import Any

import typer

from hyphos.cli.plain import PlainCommand

RENAMED = {
    "--patience": "--wait-quiet",
    "--awake": "--no-cpu-idle",
    "--may-sleep": "--cpu-idle",
    "--held-out": "--test-set",
    "--anew": "--fresh",
    "--way": "--transport",
}


class Renamed(PlainCommand):
    """A command that had options with other names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for word in args:
            name = word.partition("=")[0]
            if name in RENAMED:
                raise typer.BadParameter(f"{name} is now {RENAMED[name]}", ctx=ctx)
        return super().parse_args(ctx, args)
