"""The processors of the processes of a run: `pub=0;sub=1-2`, by role, or by process name in a
graph."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from hyphos._errors import Error
from hyphos.lab.case import GRAPH, Case, by_role

MOST = 1024  # size of the kernel's processor sets
_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_NAME = re.compile(r"[\w.-]+")
# The roles of the processes of each workload. The processes of a graph have names instead.
ROLES = {
    **dict.fromkeys(("inproc", "inproc_flood"), ("pub",)),
    **dict.fromkeys(("pair", "fanout", "fanin", "flood", "uncapped"), ("pub", "sub")),
    "echo": ("pub", "hop"),
    "pipeline": ("pub", "hop", "sub"),
}


def canonical(text: str) -> str:
    """The unique spelling of a placement. Raises ValueError with the fault."""
    parts = text.replace(";", " ").split()
    found: dict[str, str] = {}
    for part in parts:
        name, equals, cpus = part.partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise ValueError(f"'{part}' is not ROLE=PROCESSORS, such as pub=0 or sub=1-2")
        if name in found:
            raise ValueError(f"'{name}' is given twice")
        found[name] = listed(cpus_of(cpus))
    return of_roles(found)


def of_roles(cpus: Mapping[str, str]) -> str:
    return ";".join(f"{name}={cpus[name]}" for name in sorted(cpus))


def cpus_of(text: str) -> set[int]:
    """The processors of a list such as `0-2,5`. Raises ValueError if it is not a list."""
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < MOST:
            raise ValueError(f"'{text}' is not a list of processors such as 0-2,5")
        found |= set(range(first, last + 1))
    return found


def listed(cpus: Iterable[int]) -> str:
    """A list in the kernel's format: 0-2,5."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def unknown(case: Case, processes: Iterable[str] = ()) -> str:
    """The fault in the names of a case's placement. Empty if there is none. `processes` are those
    of its graph."""
    known = tuple(processes) if case.workload == GRAPH else ROLES[case.workload]
    for name in by_role(case.placement):
        if name not in known:
            what = "its plan" if case.workload == GRAPH else f"the workload {case.workload}"
            return f"{what} has no '{name}' to place, use one of {', '.join(known)}"
    return ""


def check(cases: Iterable[Case]) -> None:
    """Raises Error if a case needs a processor outside the affinity of this process."""
    here = os.sched_getaffinity(0)
    for case in cases:
        for name, cpus in by_role(case.placement).items():
            if missing := cpus_of(cpus) - here:
                raise Error(
                    "unsupported",
                    f"{name} is placed on processor {listed(missing)}, but `hyphos lab` may only "
                    f"use {listed(here)}",
                    "placement",
                    "choose others with --set placement='…'. `taskset -p $$` shows the allowed "
                    "ones",
                )
