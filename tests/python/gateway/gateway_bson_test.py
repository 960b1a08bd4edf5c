"""`hyphos gateway rosbridge`: clients that use BSON over TCP instead of a WebSocket."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from pathlib import Path

import hyphos
import numpy as np
import pytest
from bson_client import BsonClient, connected_bson, encode
from helpers import Inbox, Start, repeating, wait_until
from hyphos import Attached
from hyphos.msgs import Image, LaserScan, String
from rosbridge_probe import connected, needs_gateway

pytestmark = needs_gateway


@pytest.fixture
def port(hyphos_start: Start, domain: str, tmp_path: Path) -> int:
    services = tmp_path / "echo_msgs/srv"
    services.mkdir(parents=True)
    (services / "Echo.srv").write_text("int64 a\n---\nint64 b\n")
    (services / "Blob.srv").write_text("uint8[] a\n---\nuint8[] b\nfloat32[] c\n")
    actions = services.parent / "action"
    actions.mkdir()
    (actions / "Blob.action").write_text("uint8[] a\n---\nuint8[] b\n---\nuint8[] c\n")
    words = ("--port", "0", "-d", domain, "--ros", str(services.parent))
    program = hyphos_start("gateway", "rosbridge", *words, "--max-message", "1000000")
    return int(program.line().strip().rpartition(":")[2])


@pytest.fixture
def client(port: int) -> Iterator[BsonClient]:
    with connected_bson(port) as opened:
        yield opened


def test_a_node_receives_from_a_client(node: hyphos.Node, inbox: Inbox, client: BsonClient) -> None:
    node.subscribe("chatter", String, inbox)
    client.say(op="advertise", topic="/chatter", type="std_msgs/String")

    def say() -> None:
        client.say(op="publish", topic="/chatter", msg={"data": "grüß dich"})

    with repeating(say):
        wait_until(lambda: bool(inbox.items), "the text")
    assert inbox.items[0].data == "grüß dich"


def test_bytes_of_a_client_arrive_unchanged(
    node: hyphos.Node, inbox: Inbox, client: BsonClient
) -> None:
    pixels = np.arange(64 * 48, dtype=np.uint32).astype(np.uint8)
    node.subscribe("image", Attached[Image], inbox)
    client.say(op="advertise", topic="/image", type="sensor_msgs/Image")
    image = {
        "header": {"seq": 1, "stamp": {"secs": 12, "nsecs": 5}, "frame_id": "camera"},
        "height": 48,
        "width": 64,
        "encoding": "mono8",
        "is_bigendian": 0,
        "step": 64,
        "data": pixels.tobytes(),
    }
    with repeating(lambda: client.say(op="publish", topic="/image", msg=image)):
        wait_until(lambda: bool(inbox.items), "the image")
    heard = inbox.items[0]
    assert (heard.head.width, heard.head.header.stamp_ns) == (64, 12_000_000_005)
    np.testing.assert_array_equal(np.frombuffer(heard.buffers[0], np.uint8), pixels)


def test_a_client_receives_bytes_numbers_and_times(node: hyphos.Node, client: BsonClient) -> None:
    pixels = np.arange(64 * 48, dtype=np.uint32).astype(np.uint8)
    images = node.publisher("image", Attached[Image])
    scans = node.publisher("scan", LaserScan)
    image = Image(width=64, height=48, step=64, encoding="mono8")
    image.header.stamp_ns = 12_000_000_005
    scan = LaserScan(angle_min=-1, ranges=[1.5, float("nan"), 2.5])

    def publish() -> None:
        images.publish(image, pixels)
        scans.publish(scan)

    with repeating(publish):
        client.say(op="subscribe", topic="/image", type="sensor_msgs/Image")
        heard = client.hear()
        assert (heard["op"], heard["topic"]) == ("publish", "/image")
        assert heard["msg"]["header"]["stamp"] == {"secs": 12, "nsecs": 5}
        assert heard["msg"]["data"] == pixels.tobytes()
        client.say(op="unsubscribe", topic="/image")
        client.say(op="subscribe", topic="/scan", type="sensor_msgs/LaserScan")
        while (heard := client.hear())["topic"] != "/scan":
            pass
    ranges = heard["msg"]["ranges"]
    assert [ranges[0], ranges[2]] == [1.5, 2.5]
    assert np.isnan(ranges[1])


def test_services_work_in_both_directions(port: int, client: BsonClient) -> None:
    client.say(op="advertise_service", service="/echo", type="echo_msgs/Echo")
    with connected(f"ws://127.0.0.1:{port}") as browser:
        # The client has the service from here on.
        client.say(op="call_service", id="time", service="/rosapi/get_time")
        assert client.hear()["id"] == "time"
        browser.say(op="call_service", id="c", service="/echo", args={"a": 2**40})
        asked = client.hear()
        assert (asked["op"], asked["args"]) == ("call_service", {"a": 2**40})
        client.say(
            op="service_response",
            id=asked["id"],
            service="/echo",
            values={"b": asked["args"]["a"] + 1},
            result=True,
        )
        assert browser.hear()["values"] == {"b": 2**40 + 1}
        browser.say(op="advertise_service", service="/other", type="echo_msgs/Echo")
        browser.say(op="call_service", id="time", service="/rosapi/get_time")
        assert browser.hear()["id"] == "time"
        client.say(op="call_service", id="d", service="/other", args={"a": 5})
        browser.say(
            op="service_response",
            id=browser.hear()["id"],
            service="/other",
            values={"b": 7},
            result=True,
        )
        assert client.hear() == {
            "op": "service_response",
            "service": "/other",
            "values": {"b": 7},
            "result": True,
            "id": "d",
        }


@pytest.fixture
def server(port: int) -> Iterator[BsonClient]:
    """A second client."""
    with connected_bson(port) as opened:
        yield opened


def serving(server: BsonClient, **what: str) -> None:
    """Returns when the gateway has the service or action of the client."""
    server.say(**what)
    server.say(op="call_service", id="time", service="/rosapi/get_time")
    assert server.hear()["id"] == "time"


BLOB = bytes(range(256))


def test_bytes_of_requests_and_replies_are_binary(client: BsonClient, server: BsonClient) -> None:
    serving(server, op="advertise_service", service="/blob", type="echo_msgs/Blob")
    for more in ({}, {"fragment_size": 1_000_000}):
        client.say(op="call_service", id="d", service="/blob", args={"a": BLOB}, **more)
        asked = server.hear()
        assert (asked["op"], asked["args"]) == ("call_service", {"a": BLOB})
        values = {"b": BLOB[::-1], "c": [1.5, float("nan")]}
        server.say(
            op="service_response", id=asked["id"], service="/blob", values=values, result=True
        )
        told = client.hear()
        assert (told["op"], told["result"], told["id"]) == ("service_response", True, "d")
        if more:  # a reply that may come in pieces is text
            assert told["values"] == {"b": base64.b64encode(BLOB[::-1]).decode(), "c": [1.5, None]}
        else:
            assert told["values"]["b"] == BLOB[::-1]
            assert told["values"]["c"][0] == 1.5
            assert np.isnan(told["values"]["c"][1])


def test_bytes_of_goals_and_their_results_are_binary(
    client: BsonClient, server: BsonClient
) -> None:
    kind = "echo_msgs/Blob"
    serving(server, op="advertise_action", action="/blob", type=kind)
    goal = {"action": "/blob", "action_type": kind, "feedback": True}
    client.say(op="send_action_goal", id="g", args={"a": BLOB}, **goal)
    asked = server.hear()
    assert (asked["op"], asked["args"]) == ("send_action_goal", {"a": BLOB})
    server.say(op="action_feedback", action="/blob", id=asked["id"], values={"c": BLOB[:3]})
    told = client.hear()
    assert (told["op"], told["values"]) == ("action_feedback", {"c": BLOB[:3]})
    server.say(
        op="action_result",
        action="/blob",
        id=asked["id"],
        values={"b": BLOB[::-1]},
        status=4,
        result=True,
    )
    told = client.hear()
    assert (told["op"], told["values"], told["status"]) == ("action_result", {"b": BLOB[::-1]}, 4)


def test_an_invalid_document_is_an_error_and_the_next_one_works(client: BsonClient) -> None:
    client.socket.sendall(struct.pack("<i", 8) + b"\x09a\0\0")
    told = client.hear()
    assert (told["op"], told["level"]) == ("status", "error")
    assert "type 9 do not exist in ROS" in told["msg"]
    client.say(op="nonsense")
    assert "unknown operation" in client.hear()["msg"]
    client.say(op="call_service", id="c", service="/rosapi/get_ros_version")
    assert client.hear()["result"] is True


@pytest.mark.parametrize(
    ("size", "why"), [(1_000_001, "--max-message"), (4, "a length of 4 bytes")]
)
def test_a_document_of_an_impossible_size_closes_the_connection(
    client: BsonClient, size: int, why: str
) -> None:
    client.socket.sendall(struct.pack("<i", size))
    told = client.hear()
    assert why in told["msg"]
    assert client.is_closed()


def test_a_document_may_arrive_in_single_bytes_and_many_at_once(client: BsonClient) -> None:
    ask = encode({"op": "call_service", "id": "c", "service": "/rosapi/get_ros_version"})
    for byte in ask:
        client.socket.sendall(bytes([byte]))
    assert client.hear()["id"] == "c"
    client.socket.sendall(ask * 50)
    for _ in range(50):
        assert client.hear()["id"] == "c"
