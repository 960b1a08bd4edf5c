"""The interface of a middleware under test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .options import Edge

# Writes the header into the first bytes of a message.
Fill = Callable[[Any], None]
OnMessage = Callable[[Any], None]


class Peer(Protocol):
    """The interface of a middleware under test, see lab/common/peer.hpp. It delivers one message at
    a time, from its own thread."""

    def open_publisher(self, edge: Edge) -> None: ...
    def open_subscriber(self, edge: Edge, on_message: OnMessage) -> None: ...
    def publish(self, size: int, fill: Fill) -> None: ...
    def forward(self, message: Any) -> None: ...
    def close(self) -> None: ...
