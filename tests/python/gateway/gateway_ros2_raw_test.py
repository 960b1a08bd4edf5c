"""`hyphos gateway ros2` with raw channels, which carry the CDR of DDS. ROS 2 is Cyclone DDS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hyphos
import numpy as np
import pytest
from claims import own_dds_domain
from helpers import Inbox, Start, wait_until
from hyphos.msgs import LaserScan, String
from hyphos.types import Raw
from ros2_gateway import needs_ros2, start_gateway, std_srvs

pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
import ros2_program as ros
from ros2_program import RosProgram, on_loopback, take

pytestmark = needs_ros2

SCAN = Raw(hyphos.TypeId("cdr:sensor_msgs/msg/LaserScan", "bytes"))
FRONT = ros.LaserScan(
    ros.Header(ros.Time(12, 345), "front_laser"),
    *(-1.0, 1.0, 0.5, 0.0, 0.125, 0.0625, 30.0),
    [i / 8 for i in range(20_000)],
    [],
)


@pytest.fixture(scope="module")
def program() -> Iterator[RosProgram]:
    with on_loopback(own_dds_domain()) as program:
        yield program


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return std_srvs(tmp_path_factory.mktemp("share"))


@pytest.fixture(autouse=True)
def gateway(hyphos_start: Start, domain: str, package: Path) -> None:
    start_gateway(hyphos_start, domain, package, "--set", "raw=scan,raw/*")


def cdr(message: ros.LaserScan) -> bytes:
    return bytes(message.serialize(use_version_2=False))


def test_a_node_receives_the_bytes_of_dds(
    node: hyphos.Node, inbox: Inbox, program: RosProgram
) -> None:
    node.subscribe("scan", SCAN, inbox)
    writer = program.writer("rt/scan", ros.LaserScan)
    wait_until(lambda: writer.write(FRONT) or bool(inbox.items), "a scan")
    payload, buffers = inbox.items[0]
    assert bytes(np.asarray(payload)) == cdr(FRONT)
    assert not buffers


def test_cdr_messages_of_a_node_reach_ros_2(node: hyphos.Node, program: RosProgram) -> None:
    publisher = node.publisher("rear_scan", SCAN)
    reader = program.reader("rt/rear_scan", ros.LaserScan)
    assert take(reader, lambda: publisher.publish((cdr(FRONT), []))) == FRONT


def test_two_domains_carry_equal_bytes(
    hyphos_start: Start,
    domain: str,
    package: Path,
    node: hyphos.Node,
    inbox: Inbox,
    program: RosProgram,
) -> None:
    node.subscribe("scan", SCAN, inbox)
    start_gateway(hyphos_start, domain, package, domain_id=own_dds_domain(1))
    with on_loopback(own_dds_domain(1)) as other:
        reader = other.reader("rt/scan", ros.LaserScan)
        writer = program.writer("rt/scan", ros.LaserScan)
        assert cdr(take(reader, lambda: writer.write(FRONT))) == cdr(FRONT)
    assert bytes(np.asarray(inbox.wait(1)[0][0])) == cdr(FRONT)


def test_a_subscriber_of_the_protobuf_type_is_refused_by_name(
    node: hyphos.Node, inbox: Inbox, program: RosProgram
) -> None:
    subscription = node.subscribe("raw/words", Raw(hyphos.TypeId(WORDS, "bytes")), inbox)
    writer = program.writer("rt/raw/words", ros.String)
    wait_until(lambda: writer.write(ros.String("as it is")) or bool(inbox.items), "words")
    with pytest.raises(hyphos.Error, match=r"cdr:std_msgs/msg/String.*hyphos\.msgs\.String"):
        node.subscribe("raw/words", String, inbox)
    subscription.close()


def test_the_first_endpoint_decides_the_encoding_of_a_channel(
    node: hyphos.Node, inbox: Inbox, program: RosProgram
) -> None:
    node.subscribe("raw/scan", LaserScan, inbox)
    writer = program.writer("rt/raw/scan", ros.LaserScan)
    wait_until(lambda: writer.write(FRONT) or bool(inbox.items), "a scan")
    assert inbox.items[0].header.frame_id == "front_laser"


WORDS = "cdr:std_msgs/msg/String"
