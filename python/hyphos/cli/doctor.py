"""hyphos doctor"""

from __future__ import annotations

import typer

from hyphos.cli.options import AsJson


def doctor(as_json: AsJson = False) -> None:
    """Check this machine and print a remedy for each problem. Exit code 1 if a check failed.

    Checks shared memory, limits, multicast, socket buffers, the CPU governor, the kernel, the clock
    remains of dead processes, and the simulators, devices and rights of the co-simulator.
    """
    from hyphos.tools.doctor import examine  # noqa: PLC0415

    raise typer.Exit(examine(as_json))
