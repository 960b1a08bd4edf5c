"""A mixed graph as a workload: any robot.yaml, with synthetic nodes instead of the real ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos.lab import placement
from hyphos.lab.capacity.graph import Graph, graph_of, silent
from hyphos.lab.case import Case


@dataclass(frozen=True)
class Mixed:
    """The graph of a plan."""

    graph: Graph
    silent: tuple[str, ...]  # channels left out, because the plan gives no size or rate
    id: str  # hash of the executed plan, independent of the file name

    def text(self, addresses: Mapping[str, str]) -> str:
        """The plan for hyphos-lab-graph. `addresses` are those of its hosts, if it has several."""
        return self.graph.robot_yaml(addresses)


@lru_cache(maxsize=16)
def load(path: Path) -> Mixed:
    """Raises Error if the plan is wrong, or defines no load."""
    if not path.is_file():
        raise Error(
            "not_found",
            "the plan does not exist",
            str(path),
            "give the path of a robot.yaml in `plan:`",
        )
    told = json.loads(_hyphos.Plan.load(str(path), [], False).json())
    graph = graph_of(told)
    hosts = dict.fromkeys(graph.hosts, "")
    run = hashlib.sha256(graph.robot_yaml(hosts).encode()).hexdigest()
    return Mixed(graph, tuple(silent(told)), run[:12])


def of_case(case: Case) -> Mixed:
    return load(Path(case.plan))


def resolved(case: Case) -> Case:
    """The case with the full path of its plan, and a hash that identifies its content. Raises Error
    if the plan cannot run."""
    path = Path(case.plan).expanduser().resolve()
    mixed = load(path)
    hosts = mixed.graph.hosts
    if len(hosts) > 1 and not case.link:
        raise Error(
            "invalid_config",
            f"no link joins its hosts {', '.join(hosts)}",
            str(path),
            "add `link: NAME` to the experiment, and define it in `links:`",
        )
    if len(hosts) == 1 and case.link:
        raise Error(
            "invalid_config",
            f"the whole plan is on one host, so nothing crosses the link '{case.link}'",
            str(path),
            "add hosts to the plan, or remove the link from the experiment",
        )
    if wrong := placement.unknown(case, mixed.graph.processes):
        raise Error("invalid_config", wrong, str(path), "placement: {PROCESS: [0], …}")
    return replace(case, plan=str(path), plan_id=mixed.id)
