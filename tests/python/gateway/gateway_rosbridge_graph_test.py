"""`hyphos gateway rosbridge`: clients receive the messages of a robot."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import PATIENCE_S, Inbox, Program, Start, wait_until
from hyphos import Attached
from hyphos.msgs import Image, LaserScan, String
from rosbridge_probe import RawClient, connected, needs_probe

cbor2 = pytest.importorskip("cbor2")
roslibpy = pytest.importorskip("roslibpy")
pytestmark = needs_probe

SCAN = {"topic": "/scan", "type": "sensor_msgs/LaserScan"}


@pytest.fixture
def address(hyphos_start: Start, domain: str) -> str:
    program: Program = hyphos_start("gateway", "rosbridge", "--port", "0", "-d", domain)
    address = program.line().strip()
    assert address.startswith("ws://127.0.0.1:")
    return address


@pytest.fixture
def client(address: str) -> Iterator[RawClient]:
    with connected(address) as opened:
        yield opened


def scanning(node: hyphos.Node) -> None:
    publisher = node.publisher("scan", LaserScan)

    def step() -> None:
        scan = LaserScan(angle_min=-1, ranges=[1.5, math.nan, 2.5])
        scan.header.frame_id, scan.header.stamp_ns = "laser", 5_000_000_007
        publisher.publish(scan)

    node.every(step, rate_hz=50)


@pytest.mark.cell("worlds", "rosbridge JSON", "topic")
def test_a_scan_arrives_in_json(node: hyphos.Node, client: RawClient) -> None:
    scanning(node)
    client.say(op="subscribe", **SCAN)
    heard = client.hear()
    assert heard["topic"] == "/scan"
    assert heard["msg"]["header"] == {
        "seq": 0,
        "stamp": {"secs": 5, "nsecs": 7},
        "frame_id": "laser",
    }
    assert heard["msg"]["ranges"] == [1.5, None, 2.5]


@pytest.mark.cell("worlds", "rosbridge CBOR", "topic")
def test_a_scan_in_cbor_has_typed_arrays(node: hyphos.Node, client: RawClient) -> None:
    scanning(node)
    client.say(op="subscribe", compression="cbor", **SCAN)
    heard = cbor2.loads(client.hear())
    assert heard["op"] == "publish"
    ranges = heard["msg"]["ranges"]
    assert ranges.tag == 85
    np.testing.assert_array_equal(
        np.frombuffer(ranges.value, "<f4"), np.array([1.5, math.nan, 2.5], "<f4")
    )


def test_a_scan_in_cbor_raw_has_the_bytes_of_ros_1(node: hyphos.Node, client: RawClient) -> None:
    scanning(node)
    client.say(op="subscribe", compression="cbor-raw", **SCAN)
    body = cbor2.loads(client.hear())["msg"]["bytes"]
    assert body[:21] == struct.pack("<IIII", 0, 5, 7, 5) + b"laser"
    assert body[-20:-4] == struct.pack("<I", 3) + struct.pack("<3f", 1.5, math.nan, 2.5)


@pytest.mark.parametrize("compression", ["cbor", "cbor-raw"])
@pytest.mark.parametrize("slower", [{}, {"throttle_rate": 30, "queue_length": 1}])
def test_large_arrays_are_sent_unchanged_to_any_client(
    node: hyphos.Node, client: RawClient, address: str, compression: str, slower: dict[str, int]
) -> None:
    """To a single client, beside a client that reads nothing, and from a queue until it is due."""
    pixels = np.arange(640 * 480, dtype=np.uint32).astype(np.uint8)
    publisher = node.publisher("image", Attached[Image])
    sent = 0

    def step() -> None:
        nonlocal sent
        image = Image(width=640, height=480, step=640, encoding="mono8")
        image.header.stamp_ns = sent
        publisher.publish(image, np.roll(pixels, sent))
        sent += 1

    node.every(step, rate_hz=100)
    wish = {"topic": "/image", "type": "sensor_msgs/Image", "compression": compression}

    def check(count: int) -> None:
        for _ in range(count):
            message = cbor2.loads(client.hear())["msg"]
            if compression == "cbor":
                number, data = message["header"]["stamp"]["nsecs"], message["data"]
            else:
                number = struct.unpack_from("<I", message["bytes"], 8)[0]
                data = message["bytes"][-pixels.size :]
            assert data == np.roll(pixels, number).tobytes()

    client.say(op="subscribe", **wish, **slower)
    check(20)
    with connected(address) as deaf:
        deaf.say(op="subscribe", **wish)
        check(60)


@pytest.mark.cell("worlds", "rosbridge JSON", "topic")
def test_messages_of_clients_reach_nodes(node: hyphos.Node, client: RawClient) -> None:
    texts, scans = Inbox(), Inbox()
    node.subscribe("chatter", String, texts)
    node.subscribe("scan", LaserScan, scans)
    chatter = {"topic": "/chatter", "type": "std_msgs/String"}

    def until_heard(inbox: Inbox, text: str) -> Any:
        """Repeats the message, because a new publisher may not have found its subscribers."""

        def again() -> bool:
            client.socket.send(text)
            return len(inbox.items) > 0

        wait_until(again, "a message of the client")
        return inbox.items[0]

    text = json.dumps({"op": "publish", "msg": {"data": "grün"}, **chatter})
    assert until_heard(texts, text).data == "grün"
    scan = until_heard(
        scans,
        '{"op":"publish","topic":"/scan","type":"sensor_msgs/LaserScan",'
        '"msg":{"header":{},"ranges":[1,NaN,-Infinity]}}',
    )
    assert scan.ranges[0] == 1
    assert math.isnan(scan.ranges[1])
    assert scan.ranges[2] == -math.inf
    assert scan.header.stamp_ns > 0, "a stamp that is missing is filled in"

    client.say(op="publish", id="p", msg={"data": 7}, **chatter)
    told = client.hear()
    while told["level"] == "warning":  # the node was slow, and did not need every repetition
        told = client.hear()
    assert (told["op"], told["level"], told["id"]) == ("status", "error", "p")
    assert "data" in told["msg"]


def test_types_and_topics_have_ros_names(node: hyphos.Node, client: RawClient) -> None:
    scanning(node)

    def ask(service: str, **args: Any) -> Any:
        client.say(op="call_service", service=f"/rosapi/{service}", args=args)
        answer = client.hear()
        assert answer["result"] is True, answer
        return answer["values"]

    wait_until(lambda: "/scan" in ask("topics")["topics"], "the scan to be seen")
    assert ask("topic_type", topic="/scan") == {"type": "sensor_msgs/LaserScan"}
    details = ask("message_details", type="sensor_msgs/LaserScan")["typedefs"]
    assert [one["type"] for one in details] == ["sensor_msgs/LaserScan", "std_msgs/Header", "time"]
    assert "/scan" in ask("node_details", node="/tester")["publishing"]


@pytest.mark.cell("worlds", "rosbridge JSON", "parameters")
def test_node_parameters_are_ros_parameters(node: hyphos.Node, address: str) -> None:
    roslibpy.set_rosapi_timeout(PATIENCE_S)
    params = node.params()
    speed = params.declare("walk.speed", 0.5, range=(0, 2), unit="m/s")
    params.declare("walk.feet", ["left", "right"])
    ros = roslibpy.Ros("127.0.0.1", int(address.rpartition(":")[2].strip("/")))
    ros.run(timeout=PATIENCE_S)
    try:
        names = ["/tester/walk/feet", "/tester/walk/speed"]
        wait_until(lambda: ros.get_params() == names, "the parameters to be seen")
        assert ros.get_param("/tester/walk/speed") == 0.5
        assert ros.get_param("/tester/walk") == {"feet": ["left", "right"], "speed": 0.5}
        param = roslibpy.Param(ros, "/tester/walk/speed")
        param.set(1, timeout=PATIENCE_S)
        assert speed.value == 1.0
        wait_until(lambda: param.get(timeout=PATIENCE_S) == 1.0, "the new value")
        refused = Inbox()
        param.set(3, callback=print, errback=refused)
        assert "walk.speed" in refused.wait(1)[0]
        param.delete(callback=print, errback=refused)
        assert "while a node declares it" in refused.wait(2)[1]
        assert speed.value == 1.0
    finally:
        ros.close()


def test_twenty_viewers_receive_the_same_messages(node: hyphos.Node, address: str) -> None:
    with ExitStack() as stack:
        viewers = [stack.enter_context(connected(address)) for _ in range(20)]
        for viewer in viewers:
            viewer.say(op="subscribe", topic="/chatter", type="std_msgs/String")
        publisher = node.publisher("chatter", String)
        # All viewers are connected when each of them has received one message.
        node.every(lambda: publisher.publish(String(data="again")), rate_hz=50)
        first = [viewer.socket.recv(timeout=60) for viewer in viewers]
        assert {json.loads(text)["msg"]["data"] for text in first} == {"again"}
