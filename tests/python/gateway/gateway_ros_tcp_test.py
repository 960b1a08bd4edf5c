"""The ros_tcp gateway, tested by a client that uses only the protocol."""

from __future__ import annotations

import random
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
import ros_tcp_client
from claims import own_port
from helpers import Program, Start, wait_until
from ros_tcp_client import RosTcpClient, connected
from ros_tcp_probe import PROBE, needs_gateways

pytestmark = needs_gateways


class Gateway:
    """A gateway with an in-memory graph, in a separate process."""

    def __init__(self, program: Program, *, ros2: bool = False) -> None:
        self.program = program
        self.ros2 = ros2
        self.port = int(program.line())

    def connected(self) -> AbstractContextManager[RosTcpClient]:
        """A client of the gateway's ROS version."""
        return connected(self.port, ros2=self.ros2)

    def ask(self, *words: str) -> str:
        self.program.type(" ".join(words) + "\n")
        return self.program.line().strip()

    @property
    def open(self) -> int:
        """The number of publishers, subscriptions and servers, without the one of the probe."""
        return int(self.ask("open")) - 1


@pytest.fixture(params=["1", "2"], ids=["ros1", "ros2"])
def gateway(start: Start, request: pytest.FixtureRequest) -> Gateway:
    return Gateway(start(str(PROBE), request.param, keys=True), ros2=request.param == "2")


@pytest.fixture
def client(gateway: Gateway) -> Iterator[RosTcpClient]:
    with gateway.connected() as opened:
        yield opened


def test_the_greeting_has_version_and_protocol(client: RosTcpClient) -> None:
    flavour = "ROS2" if client.ros2 else "ROS1"
    assert client.greeting == {"version": "v0.7.0", "metadata": f'{{"protocol":"{flavour}"}}'}


def test_two_clients_both_receive_all_messages_of_a_third(gateway: Gateway) -> None:
    with (
        gateway.connected() as first,
        gateway.connected() as second,
        gateway.connected() as talker,
    ):
        for listener in (first, second):
            listener.subscribe("/chat", "std_msgs/String")
            listener.sync()
        talker.publish("/chat", "std_msgs/String")
        for i in range(50):
            talker.send("/chat", talker.string(f"message {i}"))
            for listener in (first, second):
                assert listener.read() == ("/chat", talker.string(f"message {i}"))


def test_a_message_keeps_its_bytes(client: RosTcpClient) -> None:
    client.subscribe("/chat", "std_msgs/String")
    client.publish("/chat", "std_msgs/String")
    client.send("/chat", client.string("hi"))
    assert client.read_named("/chat") == client.string("hi")
    assert client.topics() == {"/chat": "std_msgs/String"}


def test_a_command_may_end_with_nuls_in_either_flavour(client: RosTcpClient) -> None:
    for topic, end in (("/none", b""), ("/one", b"\0"), ("/two", b"\0\0")):
        text = f'{{"topic":"{topic}","message_name":"std_msgs/String"}}'
        client.send("__subscribe", text.encode() + end)
    client.sync()
    assert set(client.topics()) == {"/none", "/one", "/two"}


def test_the_connector_keeps_its_connection_alive(gateway: Gateway) -> None:
    with gateway.connected() as client:
        client.subscribe("/chat", "std_msgs/String")
        client.sync()
        client.socket.settimeout(2.5 * ros_tcp_client.KEEP_ALIVE_S)
        with pytest.raises(TimeoutError):  # the gateway does not reply to keep-alives
            client.read()
        client.socket.settimeout(60)
        client.sync()


def test_services_work_in_both_directions(gateway: Gateway, client: RosTcpClient) -> None:
    client.command("__ros_service", topic="/echo", message_name="std_srvs/SetBool")
    assert client.call("/echo", b"\1") == b"\1"
    client.command("__unity_service", topic="/mine", message_name="std_srvs/SetBool")
    client.sync()
    served = threading.Thread(target=client.answer, args=("/mine", b"\1\0\0\0\0"))
    served.start()
    assert gateway.ask("call", "/mine", "01") == "0100000000"
    served.join()


def test_a_service_without_a_server_ends_the_call(client: RosTcpClient) -> None:
    client.command("__ros_service", topic="/nobody", message_name="std_srvs/SetBool")
    assert client.call("/nobody", b"\1") == b"\0"  # the probe's value for a missing reply


def test_a_service_of_an_unknown_type_ends_the_call(client: RosTcpClient) -> None:
    assert not any(client.call("/never_registered", b"\1")[4:])
    client.command("__ros_service", topic="/odd", message_name="no_srvs/Such")
    body = client.call("/odd", b"\1")
    assert client.deserialize(body, "?dqB") == [False, 0, 0, 0]
    if not client.ros2:
        assert client.deserialize(body, "?ssI") == [False, "", "", 0]


def test_a_client_is_notified_of_a_slow_subscriber(gateway: Gateway, client: RosTcpClient) -> None:
    client.publish("/burst", "std_msgs/String")
    client.sync()
    assert gateway.ask("overrun", "/burst") == "ok"
    client.send("/burst", client.string("one"))
    assert "/burst is too slow" in client.read_note("__warn")


def test_errors_are_reported_and_the_connection_continues(client: RosTcpClient) -> None:
    client.send("__publish", b"{broken")
    assert "not followed by a JSON object" in client.read_note("__error")
    client.command("__publish", topic="/x", message_name="no/Such")
    assert "unknown type 'no/" in client.read_note("__error")
    client.command("__remove_publisher", topic="/x")
    assert "/x" in client.read_note("__warn")
    client.sync()


@pytest.mark.parametrize("head", [b"\xf0\xff\xff\xff", struct.pack("<I4sI", 4, b"/big", 1 << 31)])
def test_impossible_lengths_end_the_connection_after_an_error(
    gateway: Gateway, head: bytes
) -> None:
    with gateway.connected() as client:
        client.socket.sendall(head)
        assert "more than the limit" in client.read_note("__error")
        assert client.socket.recv(1) == b""
    with gateway.connected() as good:
        good.sync()


def test_killed_clients_leave_nothing(gateway: Gateway, start: Start) -> None:
    chance = random.Random(5)
    with gateway.connected() as witness:
        witness.subscribe("/witness", "std_msgs/String")
        witness.publish("/witness", "std_msgs/String")
        for i in range(50):
            program = start(sys.executable, ros_tcp_client.__file__, str(gateway.port))
            assert program.line() == "ready"
            time.sleep(chance.random() / 100)  # at a random point of its work
            program.popen.send_signal(signal.SIGKILL)
            program.popen.wait()
            witness.send("/witness", witness.string(str(i)))
            assert witness.read_named("/witness") == witness.string(str(i))
        wait_until(lambda: gateway.open == 2, "the end of all that the killed had open")


def test_a_client_that_does_not_read_blocks_no_other(gateway: Gateway) -> None:
    with (
        gateway.connected() as stopped,
        gateway.connected() as quick,
        gateway.connected() as talker,
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


def test_the_gateway_restarts_at_the_same_port_at_once(start: Start) -> None:
    gateway = Gateway(start(str(PROBE), "1", str(own_port()), keys=True))
    with gateway.connected() as client:
        client.sync()
        gateway.program.popen.kill()
        gateway.program.popen.wait()
        with pytest.raises((ConnectionError, socket.timeout)):
            client.read()
    again = Gateway(start(str(PROBE), "1", str(gateway.port), keys=True))
    assert again.port == gateway.port
    with again.connected() as client:
        client.sync()
