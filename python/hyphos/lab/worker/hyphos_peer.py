"""Hyphos, through its public API: loans written in place, received arrays handed on."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import hyphos

from .options import Edge, Options
from .roles import Fill, OnMessage

LARGE = 8 << 20


class HyphosPeer:
    def __init__(self, options: Options) -> None:
        self._o = options
        domain = f"lab{options.run_id}"
        self._folder = Path(f"/dev/shm/hyphos-{os.getuid()}", domain)
        self._node = hyphos.Node.open(options.name, process=options.name, domain=domain)

    def _policy(self, edge: Edge) -> hyphos.Policy:
        if edge.block or self._o.reliability == "reliable":
            return hyphos.Policy(reliability="reliable", overflow="block", depth=16)
        return hyphos.Policy(depth=4 if self._o.size >= LARGE else 64)

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
        # The domain was made for this run; the last process to leave finds its folder empty.
        with contextlib.suppress(OSError):
            self._folder.rmdir()
