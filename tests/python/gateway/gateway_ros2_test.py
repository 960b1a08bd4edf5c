"""`hyphos gateway ros2` with Cyclone DDS as ROS 2, an implementation other than the gateway's."""

from __future__ import annotations

import gc
import re
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
import ros2_gateway
from claims import own_dds_domain
from helpers import PATIENCE_S, Cli, Inbox, Program, Start, repeating, wait_until
from hyphos import _hyphos
from hyphos.msgs import ClockCommand, LaserScan, String
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.typebook import TypeBook
from ros2_gateway import (
    needs_ros2,
    start_gateway,
    std_srvs,
    tank_msgs,
)

pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
import ros2_program as ros
from ros2_node import ENTITIES_HASH
from ros2_program import RosProgram, on_loopback, take

pytestmark = needs_ros2


@pytest.fixture(scope="module", params=["loopback", "LOCALHOST"])
def program(request: pytest.FixtureRequest) -> Iterator[RosProgram]:
    """On the loopback interface by the user's settings, or by the discovery range of ROS 2."""
    with on_loopback(
        own_dds_domain(), None if request.param == "loopback" else request.param
    ) as program:
        yield program
    del program
    gc.collect()  # the settings end with the last participant


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return std_srvs(tmp_path_factory.mktemp("share"))


@pytest.fixture
def gateway(hyphos_start: Start, domain: str, package: Path) -> Program:
    return start_gateway(hyphos_start, domain, package)


@pytest.fixture(scope="module")
def set_bool(package: Path) -> tuple[Any, Any]:
    return ros2_gateway.set_bool(package)


def scan(ranges: list[float]) -> Any:
    return ros.LaserScan(
        ros.Header(ros.Time(12, 345), "laser"), -1.0, 1.0, 0.5, 0.0, 0.1, 0.05, 30.0, ranges, []
    )


@pytest.mark.usefixtures("gateway")
@pytest.mark.cell("worlds", "Cyclone DDS", "topic")
def test_a_ros_2_scan_is_a_laser_scan_of_the_robot(
    node: hyphos.Node, inbox: Inbox, program: RosProgram
) -> None:
    node.subscribe("scan", LaserScan, inbox)
    writer = program.writer("rt/scan", ros.LaserScan)
    wait_until(lambda: writer.write(scan([1.0, 2.5])) or bool(inbox.items), "a scan")
    heard = inbox.items[0]
    assert heard.header.frame_id == "laser"
    assert heard.header.stamp_ns == 12_000_000_345
    assert np.asarray(heard.ranges).tolist() == [1.0, 2.5]
    assert heard.range_max == 30.0


@pytest.mark.usefixtures("gateway")
@pytest.mark.cell("worlds", "Cyclone DDS", "topic")
def test_a_scan_of_the_robot_is_a_ros_2_scan(node: hyphos.Node, program: RosProgram) -> None:
    publisher = node.publisher("front_scan", LaserScan)
    message = LaserScan(range_max=8.0, ranges=[0.5, 1.5, 2.5])
    message.header.frame_id = "front"
    reader = program.reader("rt/front_scan", ros.LaserScan)
    heard = take(reader, lambda: publisher.publish(message))
    assert heard.header.frame_id == "front"
    assert heard.range_max == 8.0
    assert list(heard.ranges) == [0.5, 1.5, 2.5]


@pytest.mark.usefixtures("gateway")
def test_text_in_both_directions_of_a_topic_arrives_once(
    node: hyphos.Node, inbox: Inbox, program: RosProgram
) -> None:
    publisher = node.publisher("chatter", String)
    node.subscribe("chatter", String, inbox)
    writer = program.writer("rt/chatter", ros.String)
    reader = program.reader("rt/chatter", ros.String)
    heard: list[str] = []

    def both() -> set[str]:
        """The texts that have reached both sides."""
        heard.extend(message.data for message in reader.take(N=100))
        return set(heard) & {item.data for item in inbox.items}

    def found() -> bool:
        writer.write(ros.String("ping"))
        publisher.publish(String(data="pong"))
        return both() >= {"ping", "pong"}

    wait_until(found, "both ways")
    for i in range(20):
        writer.write(ros.String(f"ros {i}"))
        publisher.publish(String(data=f"robot {i}"))
        # One message at a time, so no queue drops any.
        wait_until(partial(lambda *wanted: both().issuperset(wanted), f"ros {i}", f"robot {i}"))
    for texts in (heard, [item.data for item in inbox.items]):
        for i in range(20):
            assert texts.count(f"ros {i}") == 1
            assert texts.count(f"robot {i}") == 1


@pytest.mark.usefixtures("gateway")
@pytest.mark.cell("worlds", "Cyclone DDS", "latched")
def test_latched_messages_reach_late_subscribers(
    node: hyphos.Node, inbox: Inbox, program: RosProgram, domain: str
) -> None:
    writer = program.writer("rt/map_name", ros.String, latched=True)
    writer.write(ros.String("hall"))
    wait_until(lambda: _has_publisher(domain, "map_name"), "the channel")
    node.subscribe("map_name", String, inbox, policy=hyphos.Policy(latched=True))
    assert inbox.wait(1)[0].data == "hall"
    second = Inbox()
    node.subscribe("map_name", String, second)
    assert second.wait(1)[0].data == "hall", "so does the second subscription of a process"
    publisher = node.publisher("place", String, policy=hyphos.Policy(latched=True))
    publisher.publish(String(data="kitchen"))
    assert take(program.reader("rt/place", ros.String, latched=True)).data == "kitchen"


@pytest.mark.usefixtures("gateway")
def test_ros_2_qos_is_the_policy_of_the_channel(program: RosProgram, domain: str) -> None:
    strict = program.writer("rt/strict", ros.String, deadline_ms=1500)
    loose = program.writer("rt/loose", ros.String, reliable=False)
    wait_until(lambda: _has_publisher(domain, "strict"), "the channel strict")
    wait_until(lambda: _has_publisher(domain, "loose"), "the channel loose")
    policy = _policy(domain, "strict")
    assert (policy.reliability, policy.overflow) == ("reliable", "drop_oldest")
    assert (policy.depth, policy.deadline_ms) == (10, 1500)
    assert (_policy(domain, "loose").reliability, _policy(domain, "loose").deadline_ms) == (
        "best_effort",
        0,
    )
    assert strict.topic.name != loose.topic.name  # both still exist


@pytest.mark.usefixtures("gateway")
def test_readers_of_either_reliability_receive_a_channel(
    node: hyphos.Node, program: RosProgram
) -> None:
    policy = hyphos.Policy(reliability="best_effort", deadline_ms=2000)
    publisher = node.publisher("either", String, policy=policy)
    readers = [
        program.reader("rt/either", ros.String),
        program.reader("rt/either", ros.String, reliable=False),
        program.reader("rt/either", ros.String, deadline_ms=2000),
    ]
    for reader in readers:
        assert take(reader, lambda: publisher.publish(String(data="all hear"))).data == "all hear"


def test_an_unsatisfied_reader_is_reported_with_the_remedy(
    gateway: Program, node: hyphos.Node, program: RosProgram
) -> None:
    publisher = node.publisher("plain", String, policy=hyphos.Policy(deadline_ms=3000))
    latched = program.reader("rt/plain", ros.String, latched=True, deadline_ms=1000)
    take(program.reader("rt/plain", ros.String), lambda: publisher.publish(String(data="now")))
    assert not latched.take(N=1)
    # DDS delivers without the thread that examines readers. A later channel shows that it has run.
    later = node.publisher("later", String)
    take(program.reader("rt/later", ros.String), lambda: later.publish(String(data="now")))
    _, _, errors = gateway.stop()
    assert "ros2 /plain: incompatible_qos" in errors
    assert "Make the channel latched" in errors
    assert "a deadline of 1000 ms, but 3000 ms is offered" in errors


@pytest.mark.usefixtures("gateway")
@pytest.mark.cell("worlds", "Cyclone DDS", "service")
@pytest.mark.cell("worlds", "Hyphos Python", "service")
def test_ros_2_calls_a_service_of_the_robot(
    node: hyphos.Node, program: RosProgram, set_bool: tuple[Any, Any]
) -> None:
    request, response = set_bool
    node.service(
        "switch", request, response, lambda ask: response(success=ask.data, message="done")
    )
    replies = program.reader("rr/switchReply", ros.SetBoolResponse)
    requests = program.writer("rq/switchRequest", ros.SetBoolRequest)
    answer = take(replies, lambda: requests.write(ros.SetBoolRequest(77, 5, True)))
    assert answer == ros.SetBoolResponse(77, 5, True, "done")


@pytest.mark.usefixtures("gateway")
@pytest.mark.cell("worlds", "Cyclone DDS", "service")
@pytest.mark.cell("worlds", "Hyphos Python", "service")
def test_the_robot_calls_a_service_of_ros_2(
    node: hyphos.Node, program: RosProgram, set_bool: tuple[Any, Any]
) -> None:
    with program.serving("lamp", "lit"):
        client = node.client("lamp", *set_bool)
        for wanted in (True, False):
            answer = client.call(set_bool[0](data=wanted), timeout_ms=PATIENCE_S * 1000)
            assert (answer.success, answer.message) == (not wanted, "lit")


def test_a_new_server_is_received_from_its_first_reply_on(
    hyphos_start: Start,
    domain: str,
    package: Path,
    node: hyphos.Node,
    set_bool: tuple[Any, Any],
) -> None:
    # A separate domain: Cyclone DDS finds participants at once where it already runs.
    start_gateway(hyphos_start, domain, package, domain_id=own_dds_domain(1))
    for service in ("first", "second", "third"):
        with on_loopback(own_dds_domain(1)) as program, program.serving(service, "here"):
            client = node.client(service, *set_bool)
            answer = client.call(set_bool[0](data=True), timeout_ms=PATIENCE_S * 1000)
            assert answer.message == "here"
        del program
        gc.collect()  # the server ends with its last participant


@pytest.mark.usefixtures("gateway", "node")
def test_a_ros_2_server_learns_which_reader_matches_a_writer(
    program: RosProgram,
) -> None:
    replies = program.writer("rr/toldReply", ros.SetBoolResponse)
    requests = program.reader("rq/toldRequest", ros.SetBoolRequest)
    wait_until(requests.get_matched_publications, "the gateway's writer")
    wait_until(replies.get_matched_subscriptions, "the gateway's reader")
    assert re.fullmatch(
        rb"clientid=[0-9.]+;typehash=RIHS01_[0-9a-f]{64};", ros.told_by_reader(replies)
    )
    assert ros.told_by_reader(replies) == ros.told_by_writer(requests)


@pytest.mark.usefixtures("gateway")
def test_a_reply_waits_for_the_reader_of_its_client(
    node: hyphos.Node, program: RosProgram, set_bool: tuple[Any, Any]
) -> None:
    request, response = set_bool
    asked: list[bool] = []

    def answer(ask: Any) -> Any:
        asked.append(ask.data)
        return response(success=True, message="late")

    node.service("patient", request, response, answer)
    program.reader("rr/patientReply", ros.SetBoolResponse, user_data=b"clientid=other;")
    requests = program.writer(
        "rq/patientRequest", ros.SetBoolRequest, user_data=b"x=y;clientid=me;"
    )
    wait_until(
        lambda: bool(asked or requests.write(ros.SetBoolRequest(1, 2, True))),
        "the gateway's reader",
    )
    replies = program.reader("rr/patientReply", ros.SetBoolResponse, user_data=b"clientid=me;")
    assert take(replies) == ros.SetBoolResponse(1, 2, True, "late")


@pytest.mark.usefixtures("gateway")
def test_ros_2_sees_a_node_with_its_topics(node: hyphos.Node, program: RosProgram) -> None:
    publisher = node.publisher("seen", String)
    reader = program.reader("ros_discovery_info", ros.Entities, latched=True)
    told = take(reader)
    while not (told.nodes and told.nodes[0].writers):
        told = take(reader)
    assert (told.nodes[0].node_namespace, told.nodes[0].node_name) == ("/", "hyphos")
    assert publisher.channel == "seen"  # it still exists


@pytest.mark.usefixtures("gateway")
def test_the_robot_is_received_again_after_a_gateway_kill(
    gateway: Program, hyphos_start: Start, node: hyphos.Node, program: RosProgram, domain: str
) -> None:
    publisher = node.publisher("again", String)
    reader = program.reader("rt/again", ros.String)
    take(reader, lambda: publisher.publish(String(data="first life")))
    gateway.signal(signal.SIGKILL)
    gateway.end()
    hyphos_start(
        "gateway", "ros2", "--set", f"domain_id={own_dds_domain()}", "--domain", domain
    ).line()
    while take(reader, lambda: publisher.publish(String(data="second"))).data != "second":
        pass


@pytest.mark.usefixtures("gateway")
def test_graph_endpoints_have_the_hash_of_their_type(program: RosProgram) -> None:
    wanted = f"typehash={ENTITIES_HASH};".encode()
    reader = program.reader("ros_discovery_info", ros.Entities, latched=True)
    writer = program.writer("ros_discovery_info", ros.Entities, latched=True)
    wait_until(lambda: wanted in ros.all_told_by_writers(reader), "the gateway's writer")
    wait_until(lambda: wanted in ros.all_told_by_readers(writer), "the gateway's reader")


@pytest.mark.usefixtures("gateway")
def test_every_endpoint_of_the_gateway_has_a_type_hash(
    node: hyphos.Node, program: RosProgram, set_bool: tuple[Any, Any]
) -> None:
    request, response = set_bool
    node.service("hashed", request, response, lambda ask: response(success=ask.data))
    publisher = node.publisher("hashed_out", String)
    readers = [
        program.reader("rt/hashed_out", ros.String),
        program.reader("rr/hashedReply", ros.SetBoolResponse),
        program.reader("rr/hyphos/list_parametersReply", ros.ListParametersResponse),
    ]
    for reader in readers:
        wait_until(partial(_has_writer, reader), "its writer")
        assert all(b"typehash=RIHS01_" in told for told in ros.all_told_by_writers(reader))
    assert publisher.channel == "hashed_out"  # it still exists


@pytest.mark.usefixtures("gateway")
@pytest.mark.cell("worlds", "Cyclone DDS", "parameters")
def test_ros_2_lists_the_parameters_of_the_robot(node: hyphos.Node, program: RosProgram) -> None:
    params = node.params()
    rate = params.declare("rate_hz", 40)
    params.done()
    replies = program.reader("rr/hyphos/list_parametersReply", ros.ListParametersResponse)
    requests = program.writer("rq/hyphos/list_parametersRequest", ros.ListParametersRequest)
    ask = ros.ListParametersRequest(1, 2, [], 0)
    while "tester.rate_hz" not in take(replies, lambda: requests.write(ask)).result.names:
        pass
    assert rate.value == 40  # it still exists


def test_a_channel_without_counterpart_is_reported(
    gateway: Program, node: hyphos.Node, program: RosProgram
) -> None:
    publishers = [node.publisher(name, ClockCommand) for name in ("robot_time", "sim_time")]
    plain = node.publisher("with_counterpart", String)
    # By then the gateway has processed these channels, too.
    take(program.reader("rt/with_counterpart", ros.String), lambda: plain.publish(String()))
    _, out, errors = gateway.stop()
    for publisher in publishers:
        (line,) = [one for one in errors.splitlines() if f"ros2 /{publisher.channel}:" in one]
        assert "no_counterpart" in line
        assert "the channel of /tester carries hyphos.msgs.ClockCommand" in line
    assert "drop.gateway.no_counterpart 2" in out
    assert "with_counterpart" not in errors


def test_the_command_line_has_the_types_of_the_gateway(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path, program: RosProgram
) -> None:
    start_gateway(hyphos_start, domain, tank_msgs(tmp_path))
    writer = program.writer("rt/tank", ros.Level)
    wait_until(lambda: _has_publisher(domain, "tank"), "the channel")
    with repeating(lambda: writer.write(ros.Level(12.5))):
        code, out, errors = hyphos_cli("channel", "echo", "tank", "-n", "1", "-d", domain)
    assert code == 0, errors
    assert "litres: 12.5" in out


def test_the_command_line_calls_a_service_of_ros_2(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, program: RosProgram
) -> None:
    # No package is needed: every machine knows common services.
    own = ["--set", f"domain_id={own_dds_domain()}", "--domain", domain]
    assert hyphos_start("gateway", "ros2", *own).line().startswith("dds://")
    with program.serving("command", "lit"):
        wait_until(
            lambda: "command" in hyphos_cli("service", "list", "-d", domain)[1], "the service"
        )
        code, out, _ = hyphos_cli("service", "call", "command", "{data: true}", "-d", domain)
    assert code == 0
    assert "message: lit" in out


@pytest.mark.usefixtures("gateway")
def test_an_idle_gateway_is_a_process_without_channels(hyphos_cli: Cli, domain: str) -> None:
    for what in ("channel", "node"):
        code, out, _ = hyphos_cli(what, "list", "-d", domain)
        assert code == 0
        assert "no Hyphos process runs" not in out


def test_ctrl_c_ends_the_gateway_with_code_0(
    hyphos_start: Start, domain: str, package: Path
) -> None:
    # Programs of earlier tests may still be visible in the first domain, and cause log lines.
    gateway = start_gateway(hyphos_start, domain, package, domain_id=own_dds_domain(2))
    code, _, errors = gateway.stop()
    assert (code, errors) == (0, "")


def test_a_wrong_option_is_named(hyphos_start: Start, domain: str) -> None:
    ended = hyphos_start("gateway", "ros2", "--set", "domain_id=x", "--domain", domain)
    code, _, errors = ended.end()
    assert code == 1
    assert "domain_id='x': must be a number from 0 to 232" in errors


def _has_writer(reader: Any) -> bool:
    return bool(reader.get_matched_publications())


def _policy(domain: str, channel: str) -> Any:
    return next(
        end.policy
        for process in _hyphos.inspect(domain)
        for end in process.endpoints
        if end.channel == channel and end.is_publisher
    )


def _has_publisher(domain: str, channel: str) -> bool:
    return any(
        end.channel == channel and end.is_publisher
        for process in _hyphos.inspect(domain)
        for end in process.endpoints
    )


@pytest.mark.cell("worlds", "Cyclone DDS", "unknown type")
def test_a_type_of_one_node_passes_both_ways(
    hyphos_start: Start, domain: str, tmp_path: Path, node: hyphos.Node, inbox: Inbox,
    program: RosProgram,
) -> None:  # fmt: skip
    own = ["--set", f"domain_id={own_dds_domain()}", "--domain", domain]
    assert hyphos_start("gateway", "ros2", *own).line().startswith("dds://")
    import_types([tank_msgs(tmp_path)], tmp_path / "protos", Flavour.ROS2)
    level = TypeBook([tmp_path / "protos"]).get("ros2.tank_msgs.msg.Level")
    node.subscribe("tank", level, inbox)
    publisher = node.publisher("level", level)
    writer = program.writer("rt/tank", ros.Level)
    reader = program.reader("rt/level", ros.Level)
    assert take(reader, lambda: publisher.publish(level(litres=2.5))).litres == 2.5
    with repeating(lambda: writer.write(ros.Level(12.5))):
        assert inbox.wait(1)[0].litres == 12.5
