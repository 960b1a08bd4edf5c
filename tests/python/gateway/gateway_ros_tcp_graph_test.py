"""`hyphos gateway ros_tcp`: messages and services of a robot, for clients of Unity's connector."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import hyphos
import pytest
from claims import own_port
from helpers import Inbox, Program, Start, wait_until
from hyphos import _hyphos
from hyphos.msgs import LaserScan, String
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.typebook import TypeBook
from ros_corpus import write_package
from ros_tcp_client import RosTcpClient, connected
from ros_tcp_probe import needs_gateways

pytestmark = needs_gateways


def serve(hyphos_start: Start, domain: str, *words: str, port: int = 0) -> tuple[Program, int]:
    program = hyphos_start("gateway", "ros_tcp", "--port", str(port), "-d", domain, *words)
    address = program.line().strip()
    assert address.startswith("tcp://127.0.0.1:")
    return program, int(address.rpartition(":")[2])


@pytest.fixture(params=[False, True], ids=["ros1", "ros2"])
def ros2(request: pytest.FixtureRequest) -> bool:
    """True if the Unity project uses ROS 2."""
    return bool(request.param)


def flavour(ros2: bool) -> tuple[str, str]:
    return "--ros-version", "2" if ros2 else "1"


@pytest.fixture
def port(hyphos_start: Start, domain: str, ros2: bool) -> int:
    return serve(hyphos_start, domain, *flavour(ros2))[1]


@pytest.fixture
def lamp_port(hyphos_start: Start, domain: str, tmp_path: Path, ros2: bool) -> int:
    """The port of a gateway that has a package of the user."""
    services = tmp_path / "lamp_msgs" / "srv"
    services.mkdir(parents=True)
    (services / "Switch.srv").write_text("bool on\n---\nbool success\nstring message\n")
    return serve(hyphos_start, domain, "--ros", str(services.parent), *flavour(ros2))[1]


@pytest.fixture
def client(port: int, ros2: bool) -> Iterator[RosTcpClient]:
    with connected(port, ros2=ros2) as opened:
        yield opened


def say_until_heard(client: RosTcpClient, topic: str, message: bytes, inbox: Inbox) -> None:
    """Sends until the message arrives. The first messages may come before the endpoints are
    connected.
    """

    def heard() -> bool:
        client.send(topic, message)
        client.sync()
        return bool(inbox.items)

    wait_until(heard, f"what is published on {topic}")


@pytest.mark.cell("worlds", "ros_tcp for ROS 1", "topic")
@pytest.mark.cell("worlds", "ros_tcp for ROS 2", "topic")
def test_a_node_receives_from_a_client(
    node: hyphos.Node, client: RosTcpClient, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    client.publish("/chat", "std_msgs/String")
    say_until_heard(client, "/chat", client.string("grüß dich"), inbox)
    assert inbox.items[0].data == "grüß dich"


@pytest.mark.cell("worlds", "ros_tcp for ROS 1", "topic")
@pytest.mark.cell("worlds", "ros_tcp for ROS 2", "topic")
def test_clients_receive_from_a_node(node: hyphos.Node, port: int, ros2: bool) -> None:
    publisher = node.publisher("scan", LaserScan)

    def step() -> None:
        scan = LaserScan(angle_min=-1, ranges=[1.5, 2.5])
        scan.header.frame_id, scan.header.stamp_ns = "laser", 5_000_000_007
        publisher.publish(scan)

    node.every(step, rate_hz=50)
    numbers = (-1, 0, 0, 0, 0, 0, 0, 2, 1.5, 2.5, 0)
    with connected(port, ros2=ros2) as first, connected(port, ros2=ros2) as second:
        # ROS 1 numbers its headers.
        kinds, head = ("iIs", (5, 7, "laser")) if ros2 else ("IIIs", (0, 5, 7, "laser"))
        expected = first.message(kinds + "fffffffIffI", *head, *numbers)
        for listener in (first, second):
            listener.subscribe("/scan", "sensor_msgs/LaserScan")
        for listener in (first, second):
            assert listener.read_named("/scan") == expected
        assert first.topics()["/scan"] == "sensor_msgs/LaserScan"


def test_two_clients_communicate_with_each_other_and_a_node(
    node: hyphos.Node, port: int, ros2: bool, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    with connected(port, ros2=ros2) as client, connected(port, ros2=ros2) as other:
        assert client.greeting["metadata"] == f'{{"protocol":"ROS{2 if ros2 else 1}"}}'
        other.subscribe("/chat", "std_msgs/String")
        other.sync()
        client.publish("/chat", "std_msgs/String")
        say_until_heard(client, "/chat", client.string("hi"), inbox)
        assert inbox.items[0].data == "hi"
        assert other.read_named("/chat") == client.string("hi")


def test_a_message_with_a_wrong_encoding_is_refused(
    node: hyphos.Node, client: RosTcpClient, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    client.publish("/chat", "std_msgs/String")
    client.send("/chat", client.string("hi")[:-1])
    assert "a message on /chat was lost" in client.read_note("__error")
    say_until_heard(client, "/chat", client.string("fine"), inbox)
    assert inbox.items[0].data == "fine"


def test_a_type_other_than_that_of_the_channel_is_refused(
    node: hyphos.Node, client: RosTcpClient, inbox: Inbox
) -> None:
    node.subscribe("chat", String, inbox)
    client.publish("/chat", "sensor_msgs/LaserScan")
    assert "cannot publish /chat" in client.read_note("__error")
    client.sync()  # the gateway reports it twice, because the connector registers twice
    client.command("__publish", topic="/x", message_name="no_msgs/Such")
    assert "no ROS message type is called 'no_msgs/" in client.read_note("__error")


def test_a_client_may_change_the_type_of_its_own_topic(
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
    say_until_heard(client, "/chat", client.string("as a text"), inbox)
    assert inbox.items[0].data == "as a text"
    publisher = node.publisher("said", String)
    node.every(lambda: publisher.publish(String(data="and back")), rate_hz=50)
    assert client.read_named("/said") == client.string("and back")


@pytest.mark.cell("worlds", "ros_tcp for ROS 1", "latched")
@pytest.mark.cell("worlds", "ros_tcp for ROS 2", "latched")
def test_a_late_node_gets_the_latched_message_of_a_client(
    node: hyphos.Node, client: RosTcpClient, inbox: Inbox
) -> None:
    client.publish("/kept", "std_msgs/String", latch=True)
    client.send("/kept", client.string("kept"))
    client.sync()
    node.subscribe("kept", String, inbox)
    assert inbox.wait(1)[0].data == "kept"


@pytest.mark.cell("worlds", "ros_tcp for ROS 1", "unknown type")
@pytest.mark.cell("worlds", "ros_tcp for ROS 2", "unknown type")
def test_a_client_receives_a_type_that_only_a_node_has(
    node: hyphos.Node, client: RosTcpClient, domain: str, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "tank_msgs", {"Level": "float64 litres\n"})
    import_types([package], tmp_path / "protos", Flavour.ROS2)
    level = TypeBook([tmp_path / "protos"]).get("ros2.tank_msgs.msg.Level")
    publisher = node.publisher("tank", level)
    node.every(lambda: publisher.publish(level(litres=12.5)), rate_hz=50)
    wait_until(lambda: bool(_hyphos.announced_types(domain)), "the type")
    client.subscribe("/tank", "tank_msgs/Level")
    assert client.read_named("/tank") == client.message("d", 12.5)


@pytest.mark.cell("worlds", "ros_tcp for ROS 1", "service")
@pytest.mark.cell("worlds", "ros_tcp for ROS 2", "service")
def test_one_client_calls_a_service_of_another(lamp_port: int, ros2: bool) -> None:
    with connected(lamp_port, ros2=ros2) as server, connected(lamp_port, ros2=ros2) as caller:
        server.command("__unity_service", topic="/lamp", message_name="lamp_msgs/Switch")
        server.sync()
        reply = server.message("?s", True, "on")
        answers = threading.Thread(target=server.answer, args=("/lamp", reply))
        answers.start()
        caller.command("__ros_service", topic="/lamp", message_name="lamp_msgs/Switch")
        assert caller.call("/lamp", caller.message("?", True)) == reply
        answers.join()


def test_a_call_without_a_server_ends_with_a_blank_reply(lamp_port: int, ros2: bool) -> None:
    with connected(lamp_port, ros2=ros2) as client:
        client.command("__ros_service", topic="/lamp", message_name="lamp_msgs/Switch")
        body = client.call("/lamp", client.message("?", True))
        assert body == client.message("?s", False, "")
        assert client.deserialize(body, "?s") == [False, ""]
        client.sync()


# The number types of ROS, and their sizes in bytes.
SCALARS = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float32": 4, "float64": 8,
}  # fmt: skip


class Blank:
    """Writes fields without values as the ROS documents describe it."""

    def __init__(self, ros2: bool) -> None:
        self.ros2 = ros2
        self.body = b""

    def zeros(self, width: int, count: int = 1) -> None:
        if self.ros2 and count:
            self.body += bytes(-len(self.body) % width)
        self.body += bytes(width * count)

    def field(self, kind: str) -> None:
        base, _, size = kind.rstrip("]").partition("[")
        if "[" in kind and not size:
            self.zeros(4)  # the length of an array
            return
        for _ in range(int(size) if size and base not in SCALARS else 1):
            if base == "string":
                self.zeros(4)
                if self.ros2:
                    self.body = self.body[:-4] + b"\1\0\0\0\0"
            elif base == "Inner":
                for inner in INNER:
                    self.field(inner)
            else:
                self.zeros(SCALARS[base], int(size) if size else 1)

    def bytes_of(self, kinds: list[str]) -> bytes:
        for kind in kinds:
            self.field(kind)
        if self.ros2 and not kinds:
            self.body = b"\0"  # an IDL structure has at least one member
        return (b"\0\1\0\0" if self.ros2 else b"") + self.body


INNER = ["uint8", "string", "float64", "int16[]", "uint16[2]"]


def any_reply(chance: random.Random) -> list[str]:
    kinds = [*SCALARS, "string", "Inner"]
    return [
        chance.choice(kinds) + chance.choice(["", "", "", "[]", "[1]", "[3]"])
        for _ in range(chance.randrange(9))
    ]


def test_a_failed_call_of_any_type_returns_a_blank_reply(
    hyphos_start: Start, domain: str, tmp_path: Path, ros2: bool
) -> None:
    chance = random.Random(19)
    package = tmp_path / "any_msgs"
    for folder in ("srv", "msg"):
        (package / folder).mkdir(parents=True)
    kind = "rosidl_default_generators" if ros2 else "catkin"
    (package / "package.xml").write_text(
        f"<package format='3'><name>any_msgs</name><buildtool_depend>{kind}</buildtool_depend>"
        f"<build_depend>{kind}</build_depend></package>"
    )

    def definition(kinds: list[str]) -> str:
        return "".join(f"{kind} f{number}\n" for number, kind in enumerate(kinds))

    (package / "msg" / "Inner.msg").write_text(definition(INNER))
    replies = {f"Ask{number}": any_reply(chance) for number in range(40)}
    for name, kinds in replies.items():
        (package / "srv" / f"{name}.srv").write_text(f"---\n{definition(kinds)}")
    words = ("--ros", str(package), "--set", "service_timeout_ms=50", *flavour(ros2))
    with connected(serve(hyphos_start, domain, *words)[1], ros2=ros2) as client:
        for name, kinds in replies.items():
            client.command("__ros_service", topic=f"/{name}", message_name=f"any_msgs/{name}")
            assert client.call(f"/{name}", client.message("")) == Blank(ros2).bytes_of(kinds), kinds
        client.sync()


def test_a_killed_gateway_restarts_at_its_port(
    hyphos_start: Start, domain: str, node: hyphos.Node, inbox: Inbox, ros2: bool
) -> None:
    node.subscribe("chat", String, inbox)
    program, port = serve(hyphos_start, domain, *flavour(ros2), port=own_port())
    with connected(port, ros2=ros2) as client:
        client.publish("/chat", "std_msgs/String")
        say_until_heard(client, "/chat", client.string("before"), inbox)
        program.popen.kill()
        program.popen.wait()
        with pytest.raises(ConnectionError):
            client.read()
    assert serve(hyphos_start, domain, *flavour(ros2), port=port)[1] == port
    late = Inbox()  # not the first one, which may still get messages of the first gateway
    node.subscribe("chat", String, late)
    with connected(port, ros2=ros2) as client:
        client.publish("/chat", "std_msgs/String")
        say_until_heard(client, "/chat", client.string("after"), late)
        assert late.items[0].data == "after"
