"""The ros_tcp gateway, by a client that knows the protocol alone."""

from __future__ import annotations

import random
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import ros_tcp_client
from helpers import Program, Start, wait_until
from ros_tcp_client import RosTcpClient, connected, string_message, string_message_cdr

PROBE = Path(__file__).parents[2] / "build/release/tests/gateway/ros_tcp/ros_tcp_probe"
needs_gateways = pytest.mark.skipif(not PROBE.exists(), reason="the gateways are not built")
pytestmark = needs_gateways


class Gateway:
    """A gateway on a graph in memory, in a process of its own."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.port = int(program.line())

    def ask(self, *words: str) -> str:
        self.program.type(" ".join(words) + "\n")
        return self.program.line().strip()

    @property
    def open(self) -> int:
        """Publishers, subscriptions and servers; one is the probe's own."""
        return int(self.ask("open")) - 1


@pytest.fixture
def gateway(start: Start) -> Gateway:
    return Gateway(start(str(PROBE), keys=True))


@pytest.fixture
def client(gateway: Gateway) -> Iterator[RosTcpClient]:
    with connected(gateway.port) as opened:
        yield opened


def test_the_greeting_tells_version_and_flavour(start: Start, client: RosTcpClient) -> None:
    assert client.greeting == {"version": "v0.7.0", "metadata": '{"protocol":"ROS1"}'}
    with connected(Gateway(start(str(PROBE), "2", keys=True)).port) as other:
        assert other.greeting["metadata"] == '{"protocol":"ROS2"}'


def test_two_clients_both_get_all_that_one_publishes(gateway: Gateway) -> None:
    with (
        connected(gateway.port) as first,
        connected(gateway.port) as second,
        connected(gateway.port) as talker,
    ):
        for listener in (first, second):
            listener.subscribe("/chat", "std_msgs/String")
            listener.sync()
        talker.publish("/chat", "std_msgs/String")
        for i in range(50):
            talker.send("/chat", string_message(f"message {i}"))
            for listener in (first, second):
                assert listener.read() == ("/chat", string_message(f"message {i}"))


def test_a_ros_2_message_keeps_its_bytes(start: Start) -> None:
    gateway = Gateway(start(str(PROBE), "2", keys=True))
    with connected(gateway.port) as client:
        client.subscribe("/chat", "std_msgs/String")
        client.publish("/chat", "std_msgs/String")
        client.send("/chat", string_message_cdr("hi"))
        assert client.read_named("/chat") == string_message_cdr("hi")
        assert client.topics() == {"/chat": "std_msgs/String"}


def test_services_go_both_ways(gateway: Gateway, client: RosTcpClient) -> None:
    client.command("__ros_service", topic="/echo", message_name="std_srvs/SetBool")
    assert client.call("/echo", b"\1") == b"\1"
    client.command("__unity_service", topic="/mine", message_name="std_srvs/SetBool")
    client.sync()
    served = threading.Thread(target=client.answer, args=("/mine", b"\1\0\0\0\0"))
    served.start()
    assert gateway.ask("call", "/mine", "01") == "0100000000"
    served.join()


def test_a_service_without_server_ends_the_call(client: RosTcpClient) -> None:
    client.command("__ros_service", topic="/nobody", message_name="std_srvs/SetBool")
    assert client.call("/nobody", b"\1") == b""


def test_errors_are_told_and_the_connection_goes_on(client: RosTcpClient) -> None:
    client.send("__publish", b"{broken")
    assert "no JSON object" in client.read_note("__error")
    client.command("__publish", topic="/x", message_name="no/Such")
    assert "no/Such" in client.read_note("__error")
    client.command("__remove_publisher", topic="/x")
    assert "/x" in client.read_note("__warn")
    client.sync()


@pytest.mark.parametrize("head", [b"\xf0\xff\xff\xff", struct.pack("<I4sI", 4, b"/big", 1 << 31)])
def test_impossible_lengths_end_the_connection_after_an_error(
    gateway: Gateway, head: bytes
) -> None:
    with connected(gateway.port) as client:
        client.socket.sendall(head)
        assert "at most" in client.read_note("__error")
        assert client.socket.recv(1) == b""
    with connected(gateway.port) as good:
        good.sync()


def test_clients_that_are_killed_leave_nothing(gateway: Gateway, start: Start) -> None:
    chance = random.Random(5)
    with connected(gateway.port) as witness:
        witness.subscribe("/witness", "std_msgs/String")
        witness.publish("/witness", "std_msgs/String")
        for i in range(50):
            program = start(sys.executable, ros_tcp_client.__file__, str(gateway.port))
            assert program.line() == "ready"
            time.sleep(chance.random() / 100)  # anywhere in its work
            program.popen.send_signal(signal.SIGKILL)
            program.popen.wait()
            witness.send("/witness", string_message(str(i)))
            assert witness.read_named("/witness") == string_message(str(i))
        wait_until(lambda: gateway.open == 2, "the end of all that the killed had open")


def test_a_client_that_does_not_read_stops_nobody(gateway: Gateway) -> None:
    with (
        connected(gateway.port) as stopped,
        connected(gateway.port) as quick,
        connected(gateway.port) as talker,
    ):
        for listener in (stopped, quick):
            listener.subscribe("/cloud", "sensor_msgs/PointCloud2")
            listener.sync()
        talker.publish("/cloud", "sensor_msgs/PointCloud2")
        for i in range(30):
            points = bytes([i]) * 1_000_000
            talker.send("/cloud", points)
            assert quick.read_named("/cloud") == points
        assert int(gateway.ask("counted", "slow_client")) > 0


def test_the_gateway_comes_back_at_the_same_port_at_once(start: Start) -> None:
    gateway = Gateway(start(str(PROBE), keys=True))
    with connected(gateway.port) as client:
        client.sync()
        gateway.program.popen.kill()
        gateway.program.popen.wait()
        with pytest.raises((ConnectionError, socket.timeout)):
            client.read()
    again = Gateway(start(str(PROBE), "1", str(gateway.port), keys=True))
    assert again.port == gateway.port
    with connected(again.port) as client:
        client.sync()
