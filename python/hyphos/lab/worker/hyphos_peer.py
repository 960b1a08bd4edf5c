"""Hyphos by its public API: writes into loans in place, and forwards received arrays."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import hyphos

from .options import Edge, Options
from .peer import Fill, OnMessage

LARGE = 8 << 20


class HyphosPeer:
    def __init__(self, options: Options) -> None:
        self._o = options
        domain = f"lab{options.run_id}"
        self._folder = Path(f"/dev/shm/hyphos-{os.getuid()}", domain)
        plan = self._write_plan() if options.variant == "tcp" else ""
        self._node = hyphos.Node.open(options.name, plan=plan, process=options.name, domain=domain)

    def _write_plan(self) -> str:
        """A plan with the processes of this run, an endpoint for each, and their channels."""
        o = self._o
        edges = [o.edge(i) for i in range(o.edges)]
        names = sorted({name for edge in edges for name in (*edge.publishers, *edge.subscribers)})
        hosts = {address: f"h{i}" for i, address in enumerate(o.addresses)}
        processes = {}
        for i, name in enumerate(names):
            address = o.address_of(name[:3], int(name[3:]))
            endpoint = f"tcp://{address}:{o.port(i)}"
            processes[name] = {"host": hosts[address], "threads": 2, "endpoint": endpoint}
        plan = {
            "hyphos": 1,
            "hosts": {host: {"address": address} for address, host in hosts.items()},
            "processes": processes,
            "nodes": {name: {"process": name} for name in names},
            "channels": {edge.name: self._channel(edge) for edge in edges},
        }
        path = Path(o.run_dir, f"{o.name}.yaml")
        path.write_text(json.dumps(plan))
        return str(path)

    def _channel(self, edge: Edge) -> dict[str, Any]:
        policy = self._policy(edge)
        return {
            "transport": "zmq",
            "publishers": edge.publishers,
            "subscribers": edge.subscribers,
            "depth": policy.depth,
            "reliability": policy.reliability,
        }

    def _policy(self, edge: Edge) -> hyphos.Policy:
        if edge.block or self._o.reliability == "reliable":
            return hyphos.Policy(
                reliability="reliable", overflow="block", depth=self._o.queue or 16
            )
        return hyphos.Policy(depth=self._o.queue or (4 if self._o.size >= LARGE else 64))

    def open_publisher(self, edge: Edge) -> None:
        self._publisher = self._node.publisher(edge.name, bytes, policy=self._policy(edge))

    def open_subscriber(self, edge: Edge, on_message: OnMessage) -> None:
        self._node.subscribe(edge.name, bytes, on_message, "inline", policy=self._policy(edge))

    def publish(self, size: int, fill: Fill) -> None:
        message = self._publisher.loan(size)
        fill(message)
        self.forward(message)

    def forward(self, message: Any) -> None:
        sent = self._publisher.publish(message)
        if not sent:
            raise SystemExit(f"hyphos: publish: {sent.failure}")

    def close(self) -> None:
        self._node.close()
        # The domain is of this run only. The last process to leave finds an empty folder.
        with contextlib.suppress(OSError):
            self._folder.rmdir()
