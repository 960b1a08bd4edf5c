"""The rosbridge gateway with foreign clients: roslibpy, and libraries for WebSocket and CBOR."""

from __future__ import annotations

import base64
import json
import math
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claims import own_port
from helpers import PATIENCE_S, Inbox, Start, wait_until
from rosbridge_probe import Gateway, Serve, connected, make_serve, needs_probe

cbor2 = pytest.importorskip("cbor2")
roslibpy = pytest.importorskip("roslibpy")
roslibpy.set_rosapi_timeout(PATIENCE_S)
pytestmark = needs_probe

CHATTER = {"topic": "/chatter", "type": "std_msgs/String"}


@pytest.fixture
def serve(start: Start) -> Serve:
    return make_serve(start)


@pytest.fixture
def gateway(serve: Serve) -> Gateway:
    return serve()


@pytest.fixture
def ros(gateway: Gateway) -> Iterator[Any]:
    client = roslibpy.Ros("127.0.0.1", gateway.port)
    client.run(timeout=PATIENCE_S)
    yield client
    client.close()


def test_roslibpy_publishes_and_subscribes(gateway: Gateway, ros: Any) -> None:
    inbox = Inbox()
    listener = roslibpy.Topic(ros, "/chatter", "std_msgs/String")
    listener.subscribe(inbox)
    talker = roslibpy.Topic(ros, "/chatter", "std_msgs/String", latch=True)
    talker.advertise()
    gateway.until_open(2)
    for number in range(100):
        talker.publish(roslibpy.Message({"data": f"grün {number}"}))
    heard = inbox.wait(100)
    assert [message["data"] for message in heard] == [f"grün {number}" for number in range(100)]

    late = Inbox()
    second = roslibpy.Topic(ros, "/chatter", "std_msgs/String")
    second.subscribe(late)
    assert late.wait(1)[0]["data"] == "grün 99"
    second.unsubscribe()
    listener.unsubscribe()
    talker.unadvertise()
    gateway.until_open(0)


def test_roslibpy_sends_numbers_missing_in_json(gateway: Gateway, ros: Any) -> None:
    inbox = Inbox()
    topic = roslibpy.Topic(ros, "/scan", "test_msgs/Cloud")
    topic.subscribe(inbox)
    gateway.until_open(1)
    topic.publish(roslibpy.Message({"ranges": [1.5, math.nan, -math.inf]}))
    assert inbox.wait(1)[0]["ranges"] == [1.5, "NaN", "-Infinity"]


def test_roslibpy_throttles_its_subscription(gateway: Gateway, ros: Any) -> None:
    every, some = Inbox(), Inbox()
    roslibpy.Topic(ros, "/chatter", "std_msgs/String").subscribe(every)
    with connected(gateway.address) as slow:
        slow.say(op="subscribe", throttle_rate=100, queue_length=1, **CHATTER)
        gateway.until_open(2)
        talker = roslibpy.Topic(ros, "/chatter", "std_msgs/String")
        begin = time.monotonic()
        for number in range(50):
            talker.publish(roslibpy.Message({"data": str(number)}))
        every.wait(50)
        while not some.items or some.items[-1] != "49":
            some(slow.hear()["msg"]["data"])
        # The newest message is always among them, and the rate was kept.
        assert len(some.items) <= 1 + (time.monotonic() - begin) / 0.1
        assert gateway.counted("throttled") == 50 - len(some.items)


@pytest.mark.cell("worlds", "rosbridge JSON", "service")
def test_roslibpy_offers_and_calls_services(gateway: Gateway, ros: Any) -> None:
    other = roslibpy.Ros("127.0.0.1", gateway.port)
    other.run(timeout=PATIENCE_S)

    def add(request: dict[str, int], response: dict[str, int]) -> bool:
        response["sum"] = request["a"] + request["b"]
        return request["a"] >= 0

    server = roslibpy.Service(other, "/add", "rospy_tutorials/AddTwoInts")
    server.advertise(add)
    gateway.until_open(1)
    client = roslibpy.Service(ros, "/add", "rospy_tutorials/AddTwoInts")
    for number in range(20):
        answer = client.call(roslibpy.ServiceRequest({"a": number, "b": 2}), timeout=PATIENCE_S)
        assert answer["sum"] == number + 2
    failed = Inbox()
    client.call(roslibpy.ServiceRequest({"a": -1, "b": 0}), callback=print, errback=failed)
    assert "the service failed" in failed.wait(1)[0]
    server.unadvertise()
    gateway.until_open(0)
    nobody = Inbox()
    client.call(roslibpy.ServiceRequest({"a": 1, "b": 0}), callback=print, errback=nobody)
    assert "has no server" in nobody.wait(1)[0]
    other.close()


def test_roslibpy_lists_the_graph(gateway: Gateway, ros: Any) -> None:
    talker = roslibpy.Topic(ros, "/cloud", "test_msgs/Cloud")
    talker.advertise()
    gateway.until_open(1)
    assert ros.get_topics() == ["/cloud"]
    assert ros.get_topic_type("/cloud") == "test_msgs/Cloud"
    assert ros.get_topics_for_type("test_msgs/Cloud") == ["/cloud"]
    assert "/rosapi/topics" in ros.get_services()
    assert len(ros.get_nodes()) == 1
    details = ros.get_message_details("test_msgs/Cloud")["typedefs"]
    assert [one["type"] for one in details] == ["test_msgs/Cloud", "std_msgs/Header", "time"]
    assert details[0]["fieldnames"] == ["width", "data", "ranges", "header"]
    assert details[0]["fieldarraylen"] == [-1, 0, 0, -1]
    request = ros.get_service_request_details("rospy_tutorials/AddTwoInts")["typedefs"]
    assert request[0]["fieldnames"] == ["a", "b"]
    assert abs(ros.get_time()["secs"] - time.time()) < PATIENCE_S
    assert ros.get_params() == []


def test_roslibpy_reconnects_after_a_restart(serve: Serve) -> None:
    gateway = serve(f"port={own_port()}")
    ros = roslibpy.Ros("127.0.0.1", gateway.port)
    inbox = Inbox()
    roslibpy.Topic(ros, "/chatter", "std_msgs/String").subscribe(inbox)
    ros.run(timeout=PATIENCE_S)
    gateway.until_open(1)
    gateway.program.popen.send_signal(signal.SIGKILL)
    gateway.program.popen.wait()
    again = serve(f"port={gateway.port}")
    again.until_open(1)
    with connected(again.address) as talker:
        talker.say(op="publish", msg={"data": "back"}, **CHATTER)
        assert inbox.wait(1)[0]["data"] == "back"
    ros.close()


def test_json_arrives_in_the_binary_pieces_of_ros_sharp(gateway: Gateway) -> None:
    # As .NET's WebSocket sends it: pieces of 1,024 bytes, op and id last, quotes as \u0022.
    with connected(gateway.address) as client:
        subscribe = (
            b'{"topic":"/chatter","type":"std_msgs/String","throttle_rate":0,"queue_length":1,'
            b'"fragment_size":2147483647,"compression":"none","id":"/chatter","op":"subscribe"}'
        )
        client.socket.send(subscribe)
        advertise = (
            b'{"topic":"/chatter","type":"std_msgs/String","queue_size":0,"latch":false,'
            b'"id":"/chatter","op":"advertise"}'
        )
        client.socket.send(advertise)
        text = rb"say \u0022hi\u0022 " * 1000
        message = b'{"topic":"/chatter","msg":{"data":"' + text + b'"},"id":"x","op":"publish"}'
        client.socket.send(message[at : at + 1024] for at in range(0, len(message), 1024))
        heard = client.hear()
        assert heard == {
            "op": "publish",
            "topic": "/chatter",
            "msg": {"data": 'say "hi" ' * 1000},
        }


@pytest.mark.cell("worlds", "rosbridge CBOR", "topic")
def test_cbor_works_in_both_directions_with_a_cbor_library(gateway: Gateway) -> None:
    with connected(gateway.address) as talker, connected(gateway.address) as raw:
        raw.say(op="subscribe", topic="/cloud", type="test_msgs/Cloud", compression="cbor-raw")
        gateway.until_open(1)
        data = bytes(range(256)) * 10
        ranges = cbor2.CBORTag(85, b"\x00\x00\xc0\x3f\x00\x00\x00\xc0")
        message = {"width": 7, "data": data, "ranges": ranges, "half": -0.5}
        operation = {"op": "publish", "topic": "/cloud", "type": "test_msgs/Cloud", "msg": message}
        talker.socket.send(cbor2.dumps(operation))
        heard = cbor2.loads(raw.hear())
        assert heard["op"] == "publish"
        assert heard["topic"] == "/cloud"
        assert abs(heard["msg"]["secs"] - time.time()) < PATIENCE_S
        assert 0 <= heard["msg"]["nsecs"] < 1_000_000_000
        assert heard["msg"]["bytes"] == (
            b'{"width":7,"data":"' + base64.b64encode(data) + b'","ranges":[1.5,-2],"half":-0.5}'
        )


def test_errors_reach_the_client_with_its_id(gateway: Gateway) -> None:
    with connected(gateway.address) as client:
        client.say(op="subscribe", topic="/x", type="no_msgs/Such", id="s1")
        told = client.hear()
        assert (told["op"], told["level"], told["id"]) == ("status", "error", "s1")
        assert "no_msgs/Such" in told["msg"]
        client.socket.send("{this is no JSON")
        assert client.hear()["level"] == "error"
        client.say(op="dance", id=7)
        assert client.hear()["id"] == 7


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of this machine, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    words += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(words, check=True, capture_output=True)
    return certificate, key


def test_wss_requires_the_token(serve: Serve, certificate: tuple[Path, Path]) -> None:
    gateway = serve(f"cert={certificate[0]}", f"key={certificate[1]}", "token=secret")
    assert gateway.address.startswith("wss://")
    context = ssl.create_default_context(cafile=certificate[0])
    with connected(gateway.address + "/?token=secret", context) as client:
        client.say(op="subscribe", **CHATTER)
        for size in (1, 20_000, 3_000_000):
            client.say(op="publish", msg={"data": "x" * size}, **CHATTER)
            assert client.hear()["msg"]["data"] == "x" * size
    gateway.until_open(0)
    stranger = ssl.create_default_context()
    with pytest.raises(ssl.SSLError), connected(gateway.address, stranger):
        pass
    with connected(gateway.address, context) as client:
        client.say(op="auth", token="secret")
        client.say(op="subscribe", **CHATTER)
        gateway.until_open(1)


def text_frame(operation: dict[str, Any]) -> bytes:
    """A text frame with a mask of zeros, which masks nothing."""
    payload = json.dumps(operation).encode()
    return b"\x81\xff" + struct.pack(">Q", len(payload)) + bytes(4) + payload


def test_clients_that_vanish_from_wss_leave_nothing(
    serve: Serve, certificate: tuple[Path, Path]
) -> None:
    gateway = serve(f"cert={certificate[0]}", f"key={certificate[1]}")
    context = ssl.create_default_context(cafile=certificate[0])
    for _ in range(30):
        # Not a WebSocket library, because such libraries read in a thread. Closing a socket under
        # that thread is not allowed.
        plain = socket.create_connection(("127.0.0.1", gateway.port))
        client = context.wrap_socket(plain, server_hostname="127.0.0.1")
        client.sendall(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        client.sendall(text_frame({"op": "subscribe", **CHATTER}))
        for size in (1_000_000, 1_000_000):
            message = {"op": "publish", "msg": {"data": "x" * size}, **CHATTER}
            client.sendall(text_frame(message))
        assert client.recv(12) == b"HTTP/1.1 101"
        received = 0
        while received < 500_000:
            received += len(client.recv(65536))
        # Close without a closing handshake, while more data is in flight to the client.
        client.shutdown(socket.SHUT_WR)
        client.close()
    gateway.until_open(0)


def test_a_stopped_client_slows_no_other(serve: Serve) -> None:
    gateway = serve("queue_bytes=2000000")
    with (
        connected(gateway.address) as quick,
        connected(gateway.address) as talker,
        connected(gateway.address) as slow,
    ):
        slow.say(op="subscribe", **CHATTER)
        quick.say(op="subscribe", **CHATTER)
        gateway.until_open(2)
        # The library reads ahead a little. It stops while the test takes no messages.
        for number in range(100):
            talker.say(op="publish", msg={"data": f"{number} " + "y" * 400_000}, **CHATTER)
            assert quick.hear()["msg"]["data"].startswith(f"{number} ")
        wait_until(lambda: gateway.counted("slow_client") > 0, "drops to be counted")
