"""Which processors the processes of a run may use: `pub=0;sub=1-2`, by role or, of a graph, by the
name of the process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from hyphos._errors import Error
from hyphos.lab.case import GRAPH, Case, by_role

MOST = 1024  # processors that the kernel has sets of
_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_NAME = re.compile(r"[\w.-]+")
# The roles of the processes of each workload; of a graph they have names.
ROLES = {
    **dict.fromkeys(("inproc", "inproc_flood"), ("pub",)),
    **dict.fromkeys(("pair", "fanout", "fanin", "flood", "uncapped"), ("pub", "sub")),
    "echo": ("pub", "hop"),
    "pipeline": ("pub", "hop", "sub"),
}


def canonical(text: str) -> str:
    """One spelling for each placement. ValueError says what is wrong."""
    parts = text.replace(";", " ").split()
    found: dict[str, str] = {}
    for part in parts:
        name, equals, cpus = part.partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise ValueError(f"'{part}' is no ROLE=PROCESSORS, such as pub=0 or sub=1-2")
        if name in found:
            raise ValueError(f"'{name}' is there twice")
        found[name] = listed(cpus_of(cpus))
    return of_roles(found)


def of_roles(cpus: Mapping[str, str]) -> str:
    return ";".join(f"{name}={cpus[name]}" for name in sorted(cpus))


def cpus_of(text: str) -> set[int]:
    """Of a list such as `0-2,5`. ValueError if it is none."""
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < MOST:
            raise ValueError(f"'{text}' is no list of processors such as 0-2,5")
        found |= set(range(first, last + 1))
    return found


def listed(cpus: Iterable[int]) -> str:
    """As the kernel lists them: 0-2,5."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def unknown(case: Case, processes: Iterable[str] = ()) -> str:
    """What is wrong with the names of a case's placement; empty if nothing is. `processes` are
    those of its graph."""
    known = tuple(processes) if case.workload == GRAPH else ROLES[case.workload]
    for name in by_role(case.placement):
        if name not in known:
            what = "its plan" if case.workload == GRAPH else f"the workload {case.workload}"
            return f"{what} has no '{name}' to place; there are {', '.join(known)}"
    return ""


def check(cases: Iterable[Case]) -> None:
    """Error if a case asks for a processor that this process may not use."""
    here = os.sched_getaffinity(0)
    for case in cases:
        for name, cpus in by_role(case.placement).items():
            if missing := cpus_of(cpus) - here:
                raise Error(
                    "unsupported",
                    f"{name} is placed on processor {listed(missing)}, and this machine lets "
                    f"`hyphos lab` use {listed(here)}",
                    "placement",
                    "--set placement='…' names others; `taskset -p $$` shows what a shell may use",
                )
