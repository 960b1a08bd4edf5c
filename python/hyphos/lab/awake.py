"""Keeps the processors from sleeping while something is measured.

A processor with nothing to do sleeps, and waking it up takes some microseconds; in a virtual
machine its host decides when it goes on, which may be milliseconds later. Both are parts of a
latency that no middleware decides. A loop on each processor that gives way to everything else
(SCHED_IDLE) keeps them awake, as `idle=poll` on the kernel's command line does for good.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from hyphos.lab.peers import lab_program

_PROGRAM = "hyphos-lab-busy-cpus"
_kept = 0


def are_kept() -> bool:
    """Whether this process keeps them awake."""
    return _kept > 0


@contextmanager
def kept_awake(wanted: bool = True) -> Iterator[None]:
    """Until its end, or that of this process. Costs a core each of electricity, and of its other
    hardware thread the little that a loop of pauses takes. Error not_found without its program."""
    global _kept  # noqa: PLW0603
    if not wanted:
        yield
        return
    program = subprocess.Popen(
        [str(lab_program(_PROGRAM))], stdin=subprocess.PIPE, start_new_session=True
    )
    assert program.stdin is not None
    _kept += 1
    try:
        yield
    finally:
        _kept -= 1
        program.stdin.close()
        program.wait()
