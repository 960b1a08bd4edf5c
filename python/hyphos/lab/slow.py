"""Processors with a slower clock.

A quota stops programs for a part of each period, but a short piece of work stays as fast as before.
A slower clock makes each piece of work longer. If the frequency cannot be set, as in a virtual
machine, a real-time thread on each processor takes the rest of every 200 µs
(lab/cpu/slow_cpus.cpp).
"""

from __future__ import annotations

import os
import subprocess
from functools import cache

from hyphos._errors import Error
from hyphos.lab.peers import lab_program

_PROGRAM = "hyphos-lab-slow"


def words(share: float) -> list[str]:
    """The prefix of a command that gets that share of the clock."""
    return [str(lab_program(_PROGRAM)), f"{share:g}", "--"]


@cache
def why_not() -> str:
    """The missing requirement of this machine. Empty if there is none."""
    if os.geteuid() != 0:
        return "a slower clock needs root: run it with sudo"
    try:
        done = subprocess.run(
            [*words(0.5), "true"], capture_output=True, text=True, check=False, timeout=10
        )
    except (Error, OSError, subprocess.TimeoutExpired) as error:
        return f"cannot slow the clock here: {error}"
    return "" if done.returncode == 0 else f"cannot slow the clock: {done.stderr.strip()}"
