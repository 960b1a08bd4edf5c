"""Counts the messages that a node refuses because their content cannot be used."""

from __future__ import annotations

import threading

from hyphos.node import Node


class Refusals:
    """Counts the messages that a node refuses because their content cannot be used.

        if self.refusals.refuse("scan", unusable(scan)):
            return

    The count is the parameter `refused` of the node: `hyphos param get NODE refused` reads it from
    any process. The log of the node has the channel, the reason and the count, one line a second at
    most. Thread-safe.
    """

    def __init__(self, node: Node) -> None:
        self._log = node.log
        self._shown = node.params().declare("refused", 0, description="number of unusable messages")
        self._lock = threading.Lock()
        self._count = self._shown.value  # goes on where it was before a restart of the process

    def refuse(self, channel: str, reason: str) -> bool:
        """Counts the message and returns True if there is a reason. "" means a usable message."""
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
