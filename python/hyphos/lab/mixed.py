"""A mixed graph as a workload: any robot.yaml, with synthetic nodes in place of the real ones."""

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
    silent: tuple[str, ...]  # channels of which the plan does not say what they carry: left out
    id: str  # of what is run: another plan has another one, whatever its file is called

    def text(self, addresses: Mapping[str, str]) -> str:
        """The plan that hyphos-lab-graph runs. `addresses` of its hosts, where it has several."""
        return self.graph.robot_yaml(addresses)


@lru_cache(maxsize=16)
def load(path: Path) -> Mixed:
    """Error if the plan is wrong, or says nothing of its load."""
    if not path.is_file():
        raise Error("not_found", "there is no such plan", str(path), "`plan:` names a robot.yaml")
    told = json.loads(_hyphos.Plan.load(str(path), [], False).json())
    graph = graph_of(told)
    hosts = dict.fromkeys(graph.hosts, "")
    run = hashlib.sha256(graph.robot_yaml(hosts).encode()).hexdigest()
    return Mixed(graph, tuple(silent(told)), run[:12])


def of_case(case: Case) -> Mixed:
    return load(Path(case.plan))


def resolved(case: Case) -> Case:
    """The case with its plan's path in full, and what tells the plan from what it was before. Error
    if it cannot be run."""
    path = Path(case.plan).expanduser().resolve()
    mixed = load(path)
    hosts = mixed.graph.hosts
    if len(hosts) > 1 and not case.link:
        raise Error(
            "invalid_config",
            f"its hosts are {', '.join(hosts)}, and no link says what joins them",
            str(path),
            "in the experiment: `link: NAME`, described below `links:`",
        )
    if len(hosts) == 1 and case.link:
        raise Error(
            "invalid_config",
            f"all of it is on one host, so that nothing crosses the link '{case.link}'",
            str(path),
            "give the plan hosts, or the experiment no link",
        )
    if wrong := placement.unknown(case, mixed.graph.processes):
        raise Error("invalid_config", wrong, str(path), "placement: {PROCESS: [0], …}")
    return replace(case, plan=str(path), plan_id=mixed.id)
