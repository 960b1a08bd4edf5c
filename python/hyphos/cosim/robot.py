"""Runs the nodes of one robot of a co-simulation, including Python nodes. The engine starts it:

python -m hyphos.cosim.robot --robot NAME --plan FILE [--set KEY=VALUE]... [--node NODE]...
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from hyphos import _hyphos
from hyphos._hyphos import Plan
from hyphos.host import load_node
from hyphos.node import Node, Runtime


class Nodes:
    """The Python nodes of a robot and the objects created for them."""

    def __init__(self, plan: Path, settings: list[str], names: list[str]) -> None:
        self._plan = plan
        entries = json.loads(Plan.load(str(plan), settings, False).json())["nodes"]
        self._entries = [
            entry
            for entry in entries
            if entry["kind"] == "python" and (not names or entry["name"] in names)
        ]
        self._kept: list[Any] = []
        self._nodes: list[Node] = []

    def make(self, core: _hyphos.Runtime) -> None:
        runtime = Runtime(core)
        sys.path.insert(0, str(self._plan.resolve().parent))
        for entry in self._entries:
            made = load_node(entry, str(self._plan))
            node = runtime.node(entry["name"])
            self._nodes.append(node)
            # Runs in the pool, so that messages published at start also have a place in the order.
            runtime.settle(partial(self._keep, made, node))

    def _keep(self, make: Any, node: Node) -> None:
        self._kept.append(make(node))

    def close(self) -> None:
        for node in self._nodes:
            node.close()
        for thing in self._kept:
            if hasattr(thing, "close"):
                thing.close()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the engine
    words = argparse.ArgumentParser("hyphos.cosim.robot", description=__doc__)
    words.add_argument("--robot", required=True)
    words.add_argument("--plan", required=True, type=Path)
    words.add_argument("--set", action="append", default=[])
    words.add_argument("--node", action="append", default=[])
    words.add_argument("--link-fd", required=True, type=int, help="the engine's shared memory")
    told = words.parse_args()
    nodes = Nodes(told.plan, told.set, told.node)
    try:
        _hyphos.serve_robot(
            told.link_fd, told.robot, str(told.plan), told.set, told.node, nodes.make
        )
    finally:
        nodes.close()


if __name__ == "__main__":
    main()
