"""Keeps the processors from sleeping during a measurement.

An idle processor sleeps. Waking it takes some microseconds. In a virtual machine the host decides
when it resumes, which may be milliseconds later. Both are parts of a latency that no middleware
controls. A loop on each processor at the lowest priority (SCHED_IDLE) keeps them awake, as
`idle=poll` on the kernel's command line does permanently.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from hyphos.lab.peers import lab_program

_PROGRAM = "hyphos-lab-busy-cpus"
_kept = 0


def are_kept() -> bool:
    """Whether this process keeps the processors awake."""
    return _kept > 0


@contextmanager
def kept_awake(wanted: bool = True) -> Iterator[None]:
    """Keeps them awake until the context ends, or this process. Costs the electricity of each core,
    and of its other hardware thread the small share of a loop of pause instructions. Raises Error
    not_found if the program is missing."""
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
