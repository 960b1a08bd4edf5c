"""Messages sent one by one may leave the client's socket together: Nagle's algorithm joins them
until the previous message is acknowledged. No gateway may lose any of these messages.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from xmlrpc.client import ServerProxy
from xmlrpc.server import SimpleXMLRPCServer

import hyphos
import pytest
from helpers import PATIENCE_S, Inbox, Start, wait_until
from hyphos.msgs import String
from ros_tcp_client import connected, string_message
from ros_tcp_probe import needs_gateways

pytestmark = needs_gateways

BURST = 20  # twice the depth of the channel
BURSTS = 10
Send = Callable[[list[str]], None]
Open = Callable[[str], AbstractContextManager[Send]]


@contextmanager
def ros_tcp(address: str, ros2: bool = False) -> Iterator[Send]:
    with connected(int(address.rpartition(":")[2]), ros2=ros2) as client:
        client.publish("/burst", "std_msgs/String")
        yield lambda texts: client.send_at_once("/burst", [client.string(one) for one in texts])


@contextmanager
def ros_tcp_2(address: str) -> Iterator[Send]:
    with ros_tcp(address, ros2=True) as send:
        yield send


def web_frame(first: int, payload: bytes) -> bytes:
    """A masked client frame, RFC 6455."""
    mask = os.urandom(4)
    body = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", size)
    return bytes([first]) + length + mask + body


@contextmanager
def rosbridge(address: str, kind: int = 0x81) -> Iterator[Send]:
    port = int(address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as raw:
        key = base64.b64encode(os.urandom(16)).decode()
        raw.sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += raw.recv(4096)
        assert b" 101 " in answer

        def say(**operation: object) -> bytes:
            return web_frame(kind, json.dumps(operation).encode())

        raw.sendall(say(op="advertise", topic="/burst", type="std_msgs/String"))
        yield lambda texts: raw.sendall(
            b"".join(say(op="publish", topic="/burst", msg={"data": one}) for one in texts)
        )


@contextmanager
def rosbridge_binary(address: str) -> Iterator[Send]:
    """A client that sends JSON in binary frames, as ROS# does."""
    with rosbridge(address, 0x82) as send:
        yield send


def tcpros_header(**fields: str) -> bytes:
    lines = [f"{name}={value}".encode() for name, value in fields.items()]
    body = b"".join(struct.pack("<I", len(line)) + line for line in lines)
    return struct.pack("<I", len(body)) + body


@contextmanager
def ros1(master: str) -> Iterator[Send]:
    """A ROS 1 publisher built from plain sockets."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server = stack.enter_context(
            SimpleXMLRPCServer(("127.0.0.1", 0), allow_none=True, logRequests=False)
        )
        port = listener.getsockname()[1]

        def request_topic(*_: object) -> list[object]:
            return [1, "", ["TCPROS", "127.0.0.1", port]]

        server.register_function(request_topic, "requestTopic")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        api = f"http://127.0.0.1:{server.server_address[1]}/"
        with ServerProxy(master) as proxy:
            proxy.registerPublisher("/burster", "/burst", "std_msgs/String", api)
        listener.settimeout(PATIENCE_S)
        peer = stack.enter_context(listener.accept()[0])
        peer.settimeout(PATIENCE_S)
        assert peer.recv(65536)
        md5 = "992ce8a1687cec8c8bd883ec73ca41d1"
        peer.sendall(
            tcpros_header(
                callerid="/burster", md5sum=md5, type="std_msgs/String", message_definition="x"
            )
        )

        def send(texts: list[str]) -> None:
            bodies = [string_message(one) for one in texts]
            peer.sendall(b"".join(struct.pack("<I", len(body)) + body for body in bodies))

        yield send


@pytest.mark.parametrize(
    ("client", "words"),
    [
        (ros_tcp, ("ros_tcp", "--port", "0")),
        (ros_tcp_2, ("ros_tcp", "--port", "0", "--ros-version", "2")),
        (rosbridge, ("rosbridge", "--port", "0")),
        (rosbridge_binary, ("rosbridge", "--port", "0")),
        (ros1, ("ros1", "--master", "--set", "master_port=0")),
    ],
    ids=["ros_tcp", "ros_tcp_2", "rosbridge", "rosbridge_binary", "ros1"],
)
def test_bursts_in_one_segment_arrive_completely(
    node: hyphos.Node,
    hyphos_start: Start,
    domain: str,
    inbox: Inbox,
    client: Open,
    words: tuple[str, ...],
) -> None:
    node.subscribe("burst", String, inbox, mode="inline")
    address = hyphos_start("gateway", *words, "-d", domain).line().strip()
    sent = [f"{number:03}" for number in range(BURST * BURSTS)]
    with client(address) as send:

        def heard() -> bool:
            send(["first"])
            return bool(inbox.items)

        wait_until(heard, "the first message")
        for begin in range(0, len(sent), BURST):
            send(sent[begin : begin + BURST])
        wait_until(lambda: inbox.items[-1].data == sent[-1], "the last message")
    assert [item.data for item in inbox.items if item.data != "first"] == sent
