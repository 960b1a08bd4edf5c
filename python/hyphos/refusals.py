"""Counts the messages that a node refuses because of their content."""

from __future__ import annotations

import threading

from hyphos.node import Node


class Refusals:
    """Counts the messages that a node refuses because of their content.

        if self.refusals.refuse("scan", unusable(scan)):
            return

    The count is the parameter `refused` of the node, so any process can read it with
    `hyphos param get NODE refused`. The log of the node has the channel, the reason and the count,
    at most one line per second. Thread-safe.
    """

    def __init__(self, node: Node) -> None:
        self._log = node.log
        self._shown = node.params().declare("refused", 0, description="number of unusable messages")
        self._lock = threading.Lock()
        self._count = self._shown.value  # continues the count from before a restart

    def refuse(self, channel: str, reason: str) -> bool:
        """Counts the message and returns True if `reason` is not empty. "" is a usable message."""
        if not reason:
            return False
        with self._lock:
            self._count += 1
            count = self._count
            self._shown.set(count)
        self._log.every(1.0).warn("%s refused: %s (%d refused so far)", channel, reason, count)
        return True

    @property
    def count(self) -> int:
        """The number of refused messages."""
        with self._lock:
            return self._count
