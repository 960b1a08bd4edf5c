"""Gateways and the processes of a robot exchange their types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hyphos
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from helpers import Cli, Start, repeating, wait_until
from hyphos import _hyphos
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.typebook import TypeBook
from ros_corpus import write_package
from rosbridge_probe import connected, needs_gateway

pytestmark = needs_gateway


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return write_package(tmp_path / "tank_msgs", {"Level": "float64 litres\n"})


@pytest.fixture
def level(package: Path, tmp_path: Path) -> Any:
    """The class of tank_msgs/Level, as a node of the robot has it."""
    import_types([package], tmp_path / "protos", Flavour.ROS2)
    return TypeBook([tmp_path / "protos"]).get("ros2.tank_msgs.msg.Level")


@pytest.mark.cell("worlds", "rosbridge JSON", "unknown type")
@pytest.mark.cell("worlds", "Hyphos Python", "unknown type")
def test_a_gateway_learns_the_types_of_nodes_that_start_later(
    hyphos_start: Start, domain: str, level: Any
) -> None:
    gateway = hyphos_start("gateway", "rosbridge", "--port", "0", "-d", domain)
    kind = {"topic": "/tank", "type": "tank_msgs/Level"}
    with connected(gateway.line().strip()) as client:
        client.say(op="subscribe", **kind)
        assert "no ROS message type is called 'tank_msgs/Level'" in client.hear()["msg"]
        with hyphos.Node.open("tank", domain=domain) as node:
            publisher = node.publisher("tank", level)
            client.say(op="subscribe", **kind)
            with repeating(lambda: publisher.publish(level(litres=12.5))):
                assert client.hear()["msg"] == {"litres": 12.5}


def test_a_gateway_announces_the_types_of_its_clients(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, package: Path
) -> None:
    words = ("--ros", str(package), "-d", domain)
    gateway = hyphos_start("gateway", "rosbridge", "--port", "0", *words)
    with connected(gateway.line().strip()) as client:
        kind = {"topic": "/tank", "type": "tank_msgs/Level"}
        client.say(op="advertise", **kind)
        wait_until(lambda: bool(_hyphos.announced_types(domain)), "the types")
        [types] = _hyphos.announced_types(domain)
        files = FileDescriptorSet.FromString(types.descriptors).file
        assert len(files) == 1, "the type of the topic alone"
        assert [one.name for one in files[0].message_type] == ["Level"]
        with repeating(lambda: client.say(op="publish", msg={"litres": 2.5}, **kind)):
            limits = ("-n", "1", "--timeout", "60", "-d", domain)
            code, out, err = hyphos_cli("channel", "echo", "tank", *limits)
    assert (code, "litres: 2.5" in out) == (0, True), out + err
