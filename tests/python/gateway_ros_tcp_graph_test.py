"""hyphos gateway ros_tcp: a robot's own messages and services, for clients of Unity's connector."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import hyphos
import pytest
from gateway_ros_tcp_test import needs_gateways
from helpers import Inbox, Program, Start, wait_until
from hyphos.msgs import LaserScan, String
from ros_tcp_client import RosTcpClient, connected, string_message, string_message_cdr

pytestmark = needs_gateways


def serve(hyphos_start: Start, domain: str, *words: str) -> tuple[Program, int]:
    program = hyphos_start("gateway", "ros_tcp", "--port", "0", "-d", domain, *words)
    address = program.line().strip()
    assert address.startswith("tcp://127.0.0.1:")
    return program, int(address.rpartition(":")[2])


@pytest.fixture
def port(hyphos_start: Start, domain: str) -> int:
    return serve(hyphos_start, domain)[1]


@pytest.fixture
def lamp_port(hyphos_start: Start, domain: str, tmp_path: Path) -> int:
    """A gateway that knows a package of the user's."""
    services = tmp_path / "lamp_msgs" / "srv"
    services.mkdir(parents=True)
    (services / "Switch.srv").write_text("bool on\n---\nbool success\nstring message\n")
    return serve(hyphos_start, domain, "--ros", str(services.parent))[1]


@pytest.fixture
def client(port: int) -> Iterator[RosTcpClient]:
    with connected(port) as opened:
        yield opened


def say_until_heard(client: RosTcpClient, topic: str, message: bytes, inbox: Inbox) -> None:
    """The first messages may come before publisher and subscriber know each other."""

    def heard() -> bool:
        client.send(topic, message)
        client.sync()
        return bool(inbox.items)

    wait_until(heard, f"what is published on {topic}")


def test_a_node_hears_a_client(node: hyphos.Node, client: RosTcpClient, inbox: Inbox) -> None:
    node.subscribe("chat", String, inbox)
    client.publish("/chat", "std_msgs/String")
    say_until_heard(client, "/chat", string_message("grüß dich"), inbox)
    assert inbox.items[0].data == "grüß dich"


def test_clients_hear_a_node(node: hyphos.Node, port: int) -> None:
    publisher = node.publisher("scan", LaserScan)

    def step() -> None:
        scan = LaserScan(angle_min=-1, ranges=[1.5, 2.5])
        scan.header.frame_id, scan.header.stamp_ns = "laser", 5_000_000_007
        publisher.publish(scan)

    node.every(step, rate_hz=50)
    expected = struct.pack("<III", 0, 5, 7) + struct.pack("<I5s", 5, b"laser")
    expected += struct.pack("<7f", -1, 0, 0, 0, 0, 0, 0)
    expected += struct.pack("<I2f", 2, 1.5, 2.5) + struct.pack("<I", 0)
    with connected(port) as first, connected(port) as second:
        for listener in (first, second):
            listener.subscribe("/scan", "sensor_msgs/LaserScan")
        for listener in (first, second):
            assert listener.read_named("/scan") == expected
        assert first.topics()["/scan"] == "sensor_msgs/LaserScan"


def test_a_client_of_ros_2_speaks_cdr(
    node: hyphos.Node, hyphos_start: Start, domain: str, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    _, port = serve(hyphos_start, domain, "--ros-version", "2")
    with connected(port) as client, connected(port) as other:
        assert client.greeting["metadata"] == '{"protocol":"ROS2"}'
        other.subscribe("/chat", "std_msgs/String")
        other.sync()
        client.publish("/chat", "std_msgs/String")
        say_until_heard(client, "/chat", string_message_cdr("hi"), inbox)
        assert inbox.items[0].data == "hi"
        assert other.read_named("/chat") == string_message_cdr("hi")


def test_a_message_that_is_not_what_it_says_is_refused(
    node: hyphos.Node, client: RosTcpClient, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    client.publish("/chat", "std_msgs/String")
    client.send("/chat", struct.pack("<I", 9) + b"hi")
    assert "a message on /chat was lost" in client.read_note("__error")
    say_until_heard(client, "/chat", string_message("fine"), inbox)
    assert inbox.items[0].data == "fine"


def test_another_type_than_the_channel_carries_is_refused(
    node: hyphos.Node, client: RosTcpClient, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    client.publish("/chat", "sensor_msgs/LaserScan")
    assert "cannot publish /chat" in client.read_note("__error")
    client.sync()  # it says so twice, as the connector registers twice
    client.command("__publish", topic="/x", message_name="no_msgs/Such")
    assert "no_msgs/Such" in client.read_note("__error")


def test_a_client_gives_a_topic_of_its_own_another_type(
    node: hyphos.Node, client: RosTcpClient, inbox: Inbox
) -> None:
    client.publish("/chat", "sensor_msgs/LaserScan")
    client.subscribe("/said", "sensor_msgs/LaserScan")
    client.sync()
    client.publish("/chat", "std_msgs/String")
    client.subscribe("/said", "std_msgs/String")
    kinds = client.topics()
    assert kinds["/chat"] == kinds["/said"] == "std_msgs/String"
    node.subscribe("chat", String, inbox)
    say_until_heard(client, "/chat", string_message("as a text"), inbox)
    assert inbox.items[0].data == "as a text"
    publisher = node.publisher("said", String)
    node.every(lambda: publisher.publish(String(data="and back")), rate_hz=50)
    assert client.read_named("/said") == string_message("and back")


def test_one_client_calls_a_service_of_another(lamp_port: int) -> None:
    with connected(lamp_port) as server, connected(lamp_port) as caller:
        server.command("__unity_service", topic="/lamp", message_name="lamp_msgs/Switch")
        server.sync()
        answers = threading.Thread(target=server.answer, args=("/lamp", b"\1\2\0\0\0on"))
        answers.start()
        caller.command("__ros_service", topic="/lamp", message_name="lamp_msgs/Switch")
        assert caller.call("/lamp", b"\1") == b"\1\2\0\0\0on"
        answers.join()


def test_a_service_that_nobody_serves_ends_with_an_empty_answer(lamp_port: int) -> None:
    with connected(lamp_port) as client:
        client.command("__ros_service", topic="/lamp", message_name="lamp_msgs/Switch")
        assert client.call("/lamp", b"\1") == b""
        client.sync()


def test_a_gateway_that_is_killed_is_back_at_its_port(
    hyphos_start: Start, domain: str, node: hyphos.Node, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    program, port = serve(hyphos_start, domain)
    with connected(port) as client:
        client.publish("/chat", "std_msgs/String")
        say_until_heard(client, "/chat", string_message("before"), inbox)
        program.popen.kill()
        program.popen.wait()
        with pytest.raises(ConnectionError):
            client.read()
    again = hyphos_start("gateway", "ros_tcp", "--port", str(port), "-d", domain)
    assert again.line().strip().endswith(f":{port}")
    inbox.items.clear()
    with connected(port) as client:
        client.publish("/chat", "std_msgs/String")
        say_until_heard(client, "/chat", string_message("after"), inbox)
        assert inbox.items[0].data == "after"
