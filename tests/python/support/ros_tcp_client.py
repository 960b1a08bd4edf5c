"""A ROS-TCP client with exactly the wire format of ROS-TCP-Connector 0.7, built for ROS 1 or for
ROS 2. It uses no part of Hyphos.

It behaves as the connector does:
- A thread writes the queue in the pieces of the connector's serializer, and leaves Nagle's
  algorithm on. After an idle second it writes a keep-alive.
- Each publisher is registered twice at the connection.
- Built for ROS 2, each text (names, and JSON of commands) ends with a NUL that its length includes.
- It reads names literally, as ASCII, and JSON of commands strictly: a NUL in either is an error.
- The frame after `__response` or `__request` is the body, with any name.
- Its deserializer raises an error for a body that is too short.

As a program (`ros_tcp_client.py PORT`) it publishes and subscribes as fast as it can, until it is
killed.
"""

from __future__ import annotations

import itertools
import json
import queue
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

KEEP_ALIVE_S = 1.0


def frame(name: str, payload: bytes, *, ros2: bool = False) -> bytes:
    return b"".join(pieces(name, payload, ros2=ros2))


def pieces(name: str, payload: bytes, *, ros2: bool = False) -> list[bytes]:
    """The pieces that the serializer writes to the socket, in order."""
    text = name.encode()
    end = [b"\0"] if ros2 else []
    size = struct.pack("<I", len(text) + len(end))
    return [size, text, *end, struct.pack("<I", len(payload)), payload]


def string_message(text: str) -> bytes:
    """std_msgs/String in the ROS 1 encoding."""
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def string_message_cdr(text: str) -> bytes:
    """std_msgs/msg/String in the ROS 2 encoding."""
    data = text.encode() + b"\0"
    return b"\0\1\0\0" + struct.pack("<I", len(data)) + data


class Deserializer:
    """Reads the fields of a message one after another, as the connector does. Raises an error at
    the end of the data, where the connector throws.
    """

    def __init__(self, data: bytes, *, ros2: bool) -> None:
        self._data = data
        self._ros2 = ros2
        self._at = 4 if ros2 else 0

    def number(self, code: str) -> Any:
        size = struct.calcsize(code)
        if self._ros2:
            self._at += -(self._at - 4) % size
        return struct.unpack("<" + code, self._take(size))[0]

    def text(self) -> str:
        length = self.number("i")
        data = self._take(length)
        if not self._ros2:
            return data.decode()
        if length < 1:
            raise ValueError("a text of ROS 2 has at least its NUL")
        return data[:-1].decode()

    def fields(self, kinds: str) -> list[Any]:
        """Reads several fields. `kinds`: codes of `struct` for numbers, s for texts."""
        return [self.text() if kind == "s" else self.number(kind) for kind in kinds]

    def _take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise ValueError(f"{count} bytes at {self._at} of {len(self._data)}")
        self._at += count
        return self._data[self._at - count : self._at]


class RosTcpClient:
    """A client that follows the connector: a keep-alive first, each publisher registered twice."""

    def __init__(self, port: int, timeout_s: float = 60.0, *, ros2: bool = False) -> None:
        self.ros2 = ros2
        self.socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self._queue: queue.SimpleQueue[list[bytes] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self.socket.sendall(bytes(8))
        name, payload = self.read()
        assert name == "__handshake", name
        self.greeting: dict[str, Any] = json.loads(payload)
        self._pings = itertools.count()
        self._calls = itertools.count(101)
        self._writer.start()

    def _write(self) -> None:
        try:
            while True:
                try:
                    parts = self._queue.get(timeout=KEEP_ALIVE_S)
                except queue.Empty:
                    parts = [bytes(8)]
                if parts is None:
                    return
                for part in parts:
                    self.socket.sendall(part)
        except OSError:
            pass  # the reader detects the closed connection

    def string(self, text: str) -> bytes:
        """std_msgs/String in the client's encoding."""
        return string_message_cdr(text) if self.ros2 else string_message(text)

    def message(self, kinds: str, *values: Any) -> bytes:
        """A message in the client's encoding, with fields as for Deserializer.fields()."""
        data = bytearray()
        for kind, value in zip(kinds, values, strict=True):
            code = "I" if kind == "s" else kind
            if self.ros2:
                data += bytes(-len(data) % struct.calcsize(code))
            if kind != "s":
                data += struct.pack("<" + code, value)
                continue
            text = value.encode() + (b"\0" if self.ros2 else b"")
            data += struct.pack("<I", len(text)) + text
        return (b"\0\1\0\0" if self.ros2 else b"") + bytes(data)

    def deserialize(self, data: bytes, kinds: str) -> list[Any]:
        return Deserializer(data, ros2=self.ros2).fields(kinds)

    def send(self, name: str, payload: bytes) -> None:
        self._queue.put(pieces(name, payload, ros2=self.ros2))

    def send_at_once(self, name: str, payloads: list[bytes]) -> None:
        """Sends the payloads in one segment, as a kernel joins data while an acknowledgement is
        outstanding.
        """
        self._queue.put([b"".join(frame(name, one, ros2=self.ros2) for one in payloads)])

    def command(self, name: str, **values: Any) -> None:
        # JsonUtility writes no blanks.
        text = json.dumps(values, separators=(",", ":")).encode()
        self.send(name, text + (b"\0" if self.ros2 else b""))

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("closed")
            data += more
        return bytes(data)

    def read(self) -> tuple[str, bytes]:
        """The next frame. A command must be JSON."""
        (length,) = struct.unpack("<i", self._exactly(4))
        name = self._exactly(length).decode("ascii")
        (length,) = struct.unpack("<i", self._exactly(4))
        payload = self._exactly(length)
        if "\0" in name:
            raise ValueError(f"the connector knows no topic {name!r}")
        if name.startswith("__"):
            json.loads(payload)
        return name, payload

    def read_named(self, wanted: str) -> bytes:
        """The next frame of that name. Skips others."""
        while True:
            name, payload = self.read()
            if name == wanted:
                return payload

    def read_note(self, kind: str) -> str:
        """The text of the next `__error`, `__warn` or `__log`."""
        text: str = json.loads(self.read_named(kind))["text"]
        return text

    def sync(self) -> None:
        """Returns when the gateway has handled all earlier messages. Skips frames before that."""
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
        """Calls a registered service. Skips frames before the reply."""
        number = next(self._calls)
        self.command("__request", srv_id=number)
        self.send(service, request)
        assert json.loads(self.read_named("__response")) == {"srv_id": number}
        return self.read()[1]

    def call_read(self, service: str, request: bytes, kinds: str) -> list[Any]:
        """Calls a service as a user of the connector does. Returns the fields of the reply, or
        raises an error.
        """
        return self.deserialize(self.call(service, request), kinds)

    def answer(self, service: str, reply: bytes) -> bytes:
        """Waits for a request to a service of this client, and replies to it."""
        number = json.loads(self.read_named("__request"))["srv_id"]
        name, request = self.read()
        assert name == service
        self.command("__response", srv_id=number)
        self.send(service, reply)
        return request

    def close(self) -> None:
        self._queue.put(None)
        self._writer.join(timeout=10)
        self.socket.close()


@contextmanager
def connected(port: int, *, ros2: bool = False) -> Iterator[RosTcpClient]:
    client = RosTcpClient(port, ros2=ros2)
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
        message = frame("/chat", string_message("x" * 100_000))
        while True:
            client.socket.sendall(message)


if __name__ == "__main__":
    _run_until_killed(int(sys.argv[1]))
