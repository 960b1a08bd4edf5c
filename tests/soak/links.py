"""Clients of the gateways. Each implements its own protocol without Hyphos, using only the Python
standard library. They start within a few milliseconds, so many clients can be killed.

Each client is a Link: it publishes texts on one topic and receives those of another.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import subprocess
import threading
import xmlrpc.client
import xmlrpc.server
from collections.abc import Callable
from typing import Any, Protocol

STRING = "std_msgs/String"
STRING_MD5 = "992ce8a1687cec8c8bd883ec73ca41d1"
PATIENCE_S = 30.0


class Link(Protocol):
    def say(self, text: str) -> None: ...
    def hear(self) -> str: ...


def string_message(text: str) -> bytes:
    """std_msgs/String in the ROS 1 format."""
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def text_of(message: bytes) -> str:
    return message[4:].decode()


def connect(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def exactly(source: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise ConnectionError("closed")
        data += more
    return bytes(data)


def sized(source: socket.socket) -> bytes:
    """Bytes with a length prefix, the format of all ROS 1 messages."""
    (length,) = struct.unpack("<I", exactly(source, 4))
    return exactly(source, length)


class RosTcp:
    """A client with the protocol of ROS-TCP-Connector."""

    def __init__(self, address: str, out: str, back: str) -> None:
        self._socket = connect(int(address.rpartition(":")[2]))
        self._out, self._back = out, back
        self._socket.sendall(bytes(8))
        self._command("__publish", topic=out, message_name=STRING, queue_size=10, latch=False)
        self._command("__subscribe", topic=back, message_name=STRING)

    def _send(self, name: str, payload: bytes) -> None:
        self._socket.sendall(string_message(name) + struct.pack("<I", len(payload)) + payload)

    def _command(self, name: str, **values: Any) -> None:
        self._send(name, json.dumps(values).encode())

    def offer(self, service: str) -> None:
        self._command("__unity_service", topic=service, message_name="std_srvs/SetBool")

    def say(self, text: str) -> None:
        self._send(self._out, string_message(text))

    def hear(self) -> str:
        while True:
            name = sized(self._socket).rstrip(b"\0").decode()
            payload = sized(self._socket)
            if name == self._back:
                return text_of(payload)
            if name == "__error":
                raise ConnectionError(payload.decode())


class Rosbridge:
    """A WebSocket client with JSON messages."""

    def __init__(self, address: str, out: str, back: str) -> None:
        port = int(address.rpartition(":")[2])
        self._socket = connect(port)
        self._out, self._back = out, back
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += exactly(self._socket, 1)
        if not head.startswith(b"HTTP/1.1 101"):
            raise ConnectionError(head.decode())
        self._frame(op="advertise", topic=out, type=STRING)
        self._frame(op="subscribe", topic=back, type=STRING)

    def _frame(self, **operation: Any) -> None:
        payload = json.dumps(operation).encode()
        size = len(payload)
        short = size if size < 126 else 126 if size < 65536 else 127
        more = b"" if size < 126 else struct.pack("!H" if size < 65536 else "!Q", size)
        # A mask of zeros is valid (RFC 6455, 5.3), and saves a pass over the bytes.
        self._socket.sendall(bytes([0x81, 0x80 | short]) + more + bytes(4) + payload)

    def offer(self, service: str) -> None:
        self._frame(op="advertise_service", service=service, type="std_srvs/SetBool")

    def say(self, text: str) -> None:
        self._frame(op="publish", topic=self._out, msg={"data": text})

    def hear(self) -> str:
        while True:
            first, size = exactly(self._socket, 2)
            if size >= 126:
                (size,) = struct.unpack(
                    "!H" if size == 126 else "!Q", exactly(self._socket, 2 if size == 126 else 8)
                )
            payload = exactly(self._socket, size)
            if first & 0xF == 8:
                raise ConnectionError(payload[2:].decode())
            if first & 0xF != 1:
                continue  # a ping: receiving it is a sufficient sign of life
            told = json.loads(payload)
            if told["op"] == "publish" and told["topic"] == self._back:
                return str(told["msg"]["data"])
            if told["op"] == "status":
                raise ConnectionError(told["msg"])


def header(**fields: str) -> bytes:
    parts = b"".join(string_message(f"{key}={value}") for key, value in fields.items())
    return struct.pack("<I", len(parts)) + parts


class Ros1:
    """A ROS 1 node: a talker and a listener."""

    def __init__(self, address: str, out: str, back: str, name: str = "") -> None:
        self._name = name or f"/soak_{os.getpid()}"
        self._out = out
        self._readers: list[socket.socket] = []
        self._arrived = threading.Condition()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._server = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
        self._server.register_instance(self)
        for run in (self._server.serve_forever, self._accept):
            threading.Thread(target=run, daemon=True).start()
        self._uri = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._source: socket.socket | None = None
        self._back = back
        master: Any = xmlrpc.client.ServerProxy(address)
        self._succeed(master.registerPublisher(self._name, out, STRING, self._uri))
        found = self._succeed(master.registerSubscriber(self._name, back, STRING, self._uri))
        self.publisherUpdate(self._name, back, found)

    @staticmethod
    def _succeed(answer: list[Any]) -> Any:
        code, text, value = answer
        if code != 1:
            raise ConnectionError(text)
        return value

    # The calls of other nodes, with their ROS names.
    def requestTopic(self, *_: Any) -> list[Any]:  # noqa: N802
        return [1, "", ["TCPROS", "127.0.0.1", self._listening.getsockname()[1]]]

    def getPid(self, *_: Any) -> list[Any]:  # noqa: N802
        return [1, "", os.getpid()]

    def publisherUpdate(self, _: str, topic: str, uris: list[str]) -> list[Any]:  # noqa: N802
        if topic == self._back and uris and self._source is None:
            threading.Thread(target=self._subscribe, args=(uris[0],), daemon=True).start()
        return [1, "", 0]

    def _subscribe(self, uri: str) -> None:
        publisher: Any = xmlrpc.client.ServerProxy(uri)
        _, _, port = self._succeed(publisher.requestTopic(self._name, self._back, [["TCPROS"]]))
        source = connect(int(port))
        source.sendall(
            header(callerid=self._name, topic=self._back, type=STRING, md5sum=STRING_MD5)
        )
        sized(source)
        with self._arrived:
            self._source = source
            self._arrived.notify_all()

    def _accept(self) -> None:
        while True:
            reader, _ = self._listening.accept()
            sized(reader)
            reader.sendall(
                header(callerid=self._name, topic=self._out, type=STRING, md5sum=STRING_MD5)
            )
            self._readers.append(reader)

    def say(self, text: str) -> None:
        body = string_message(text)
        for reader in list(self._readers):
            reader.sendall(struct.pack("<I", len(body)) + body)

    def hear(self) -> str:
        with self._arrived:
            if not self._arrived.wait_for(lambda: self._source is not None, PATIENCE_S):
                raise ConnectionError(f"no publisher on {self._back}")
        assert self._source is not None
        return text_of(sized(self._source))


class Ros2:
    """A ROS 2 program in another process, because this process has no DDS. It exchanges lines."""

    def __init__(self, address: str, out: str, back: str) -> None:
        program, domain = address.split(" ")
        self._process = subprocess.Popen(
            [program, domain, f"rt{out}", f"rt{back}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()

    def hear(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ConnectionError("the ROS 2 program has ended")
        return line.rstrip("\n")


KINDS: dict[str, Callable[[str, str, str], Link]] = {
    "ros_tcp": RosTcp,
    "rosbridge": Rosbridge,
    "ros1": Ros1,
    "ros2": Ros2,
}
