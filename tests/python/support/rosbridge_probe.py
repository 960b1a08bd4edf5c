"""A rosbridge gateway on an in-memory graph, and a raw client for tests."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers import PATIENCE_S, Program, Start, wait_until
from websockets.sync.client import ClientConnection, connect

PROBE = Path(__file__).parents[3] / "build/release/tests/gateway/rosbridge/rosbridge_probe"
GATEWAY = PROBE.parents[3] / "gateway/hyphos-gateway"
needs_probe = pytest.mark.skipif(not PROBE.exists(), reason="the gateways are not built")
needs_gateway = pytest.mark.skipif(not GATEWAY.exists(), reason="the gateways are not built")


class Gateway:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.address = program.line().strip()
        self.port = int(self.address.rsplit(":", 1)[1])

    def counted(self, why: str) -> int:
        return int(self._ask(why)[1])

    @property
    def open(self) -> int:
        """The number of publishers, subscriptions and servers of all clients."""
        return int(self._ask("")[0])

    def until_open(self, count: int) -> None:
        wait_until(lambda: self.open == count, f"{count} to be open")

    def _ask(self, why: str) -> list[str]:
        self.program.type(why + "\n")
        return self.program.line().split()


class RawClient:
    """A client that sends exactly the given operations."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def say(self, **operation: Any) -> None:
        self.socket.send(json.dumps(operation))

    def hear(self) -> Any:
        told = self.socket.recv(timeout=PATIENCE_S)
        return json.loads(told) if isinstance(told, str) else told


@contextmanager
def connected(address: str, context: ssl.SSLContext | None = None) -> Iterator[RawClient]:
    with connect(
        address,
        ssl=context,
        max_size=None,
        compression=None,
        proxy=None,
        open_timeout=PATIENCE_S,
        close_timeout=1,
    ) as socket:
        yield RawClient(socket)


Serve = Callable[..., Gateway]


def make_serve(start: Start) -> Serve:
    return lambda *words: Gateway(start(str(PROBE), *words, keys=True))
