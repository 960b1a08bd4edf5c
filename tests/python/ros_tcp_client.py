"""A client of ROS-TCP as ROS-TCP-Connector 0.7 is one on the wire. Uses nothing of Hyphos.

As a program (`ros_tcp_client.py PORT`) it publishes and subscribes as fast as it can, until it is
killed.
"""

from __future__ import annotations

import itertools
import json
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def frame(name: str, payload: bytes) -> bytes:
    text = name.encode()
    return struct.pack("<I", len(text)) + text + struct.pack("<I", len(payload)) + payload


def string_message(text: str) -> bytes:
    """std_msgs/String as ROS 1 writes it."""
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def string_message_cdr(text: str) -> bytes:
    """std_msgs/msg/String as ROS 2 writes it."""
    data = text.encode() + b"\0"
    return b"\0\1\0\0" + struct.pack("<I", len(data)) + data


class RosTcpClient:
    """Speaks as the connector does: a sign of life first, each publisher registered twice."""

    def __init__(self, port: int, timeout_s: float = 60.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(bytes(8))
        name, payload = self.read()
        assert name == "__handshake", name
        self.greeting: dict[str, Any] = json.loads(payload)
        self._pings = itertools.count()
        self._calls = itertools.count(101)

    def send(self, name: str, payload: bytes) -> None:
        self.socket.sendall(frame(name, payload))

    def command(self, name: str, **values: Any) -> None:
        self.send(name, json.dumps(values).encode())

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("closed")
            data += more
        return bytes(data)

    def read(self) -> tuple[str, bytes]:
        """The next frame."""
        (length,) = struct.unpack("<I", self._exactly(4))
        name = self._exactly(length).rstrip(b"\0").decode()
        (length,) = struct.unpack("<I", self._exactly(4))
        return name, self._exactly(length)

    def read_named(self, wanted: str) -> bytes:
        """The next frame of that name; passes over others."""
        while True:
            name, payload = self.read()
            if name == wanted:
                return payload

    def read_note(self, kind: str) -> str:
        """The text of the next `__error`, `__warn` or `__log`."""
        text: str = json.loads(self.read_named(kind))["text"]
        return text

    def sync(self) -> None:
        """Returns when the gateway has handled all that was sent. Passes over what came before."""
        sent = {"request_time": f"ping {next(self._pings)}"}
        self.command("__ping", **sent)
        assert json.loads(self.read_named("__ping_response")) == sent

    def publish(self, topic: str, kind: str, *, latch: bool = False) -> None:
        for _ in range(2):
            self.command("__publish", topic=topic, message_name=kind, queue_size=10, latch=latch)

    def subscribe(self, topic: str, kind: str) -> None:
        self.command("__subscribe", topic=topic, message_name=kind)

    def topics(self) -> dict[str, str]:
        self.command("__topic_list")
        told = json.loads(self.read_named("__topic_list"))
        return dict(zip(told["topics"], told["types"], strict=True))

    def call(self, service: str, request: bytes) -> bytes:
        """Calls a service that was registered; passes over what comes before the answer."""
        number = next(self._calls)
        self.command("__request", srv_id=number)
        self.send(service, request)
        assert json.loads(self.read_named("__response")) == {"srv_id": number}
        name, reply = self.read()
        assert name == service
        return reply

    def answer(self, service: str, reply: bytes) -> bytes:
        """Waits for a request to a service of this client, and answers it."""
        number = json.loads(self.read_named("__request"))["srv_id"]
        name, request = self.read()
        assert name == service
        self.command("__response", srv_id=number)
        self.send(service, reply)
        return request

    def close(self) -> None:
        self.socket.close()


@contextmanager
def connected(port: int) -> Iterator[RosTcpClient]:
    client = RosTcpClient(port)
    try:
        yield client
    finally:
        client.close()


def _run_until_killed(port: int) -> None:
    with connected(port) as client:
        client.publish("/chat", "std_msgs/String")
        client.subscribe("/chat", "std_msgs/String")
        client.command("__unity_service", topic="/theirs", message_name="std_srvs/SetBool")
        client.sync()
        print("ready", flush=True)
        message = string_message("x" * 100_000)
        while True:
            client.send("/chat", message)


if __name__ == "__main__":
    _run_until_killed(int(sys.argv[1]))
