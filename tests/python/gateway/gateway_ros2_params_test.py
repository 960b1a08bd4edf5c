"""Parameters of the robot in ROS 2 and back, with clients and servers of Cyclone DDS."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import pytest
from claims import own_dds_domain
from helpers import Cli, Program, Start, wait_until
from ros2_gateway import needs_ros2, start_gateway, std_srvs

pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
import ros2_params
from ros2_params import Event, ParamServer, ParamTool, to_plain
from ros2_program import RosProgram, on_loopback, take

pytestmark = needs_ros2


@pytest.fixture(scope="module")
def program() -> Iterator[RosProgram]:
    with on_loopback(own_dds_domain()) as program:
        yield program
    del program
    gc.collect()  # the settings end with the last participant


@pytest.fixture
def gateway(hyphos_start: Start, domain: str, tmp_path: Path) -> Program:
    return start_gateway(hyphos_start, domain, std_srvs(tmp_path))


@pytest.fixture
def laser(domain: str) -> Iterator[hyphos.Params]:
    """The node /left_arm of ROS."""
    with hyphos.Node.open("left-arm", domain=domain, process="arm") as node:
        params = node.params()
        params.declare("laser.rate_hz", 40, range=(1, 100), description="scans a second", unit="Hz")
        params.declare("speed", 0.5, range=(0, 2))
        params.declare("mode", "calm", choices=["calm", "brisk"])
        params.declare("angles", [-1.5, 1.5])
        params.declare("serial", "A7", read_only=True)
        params.done()
        yield params


@pytest.mark.usefixtures("gateway", "laser")
@pytest.mark.cell("worlds", "Cyclone DDS", "parameters")
def test_ros_2_lists_gets_describes_and_dumps_a_node(program: RosProgram) -> None:
    assert "/left_arm" in ros2_params.nodes(program, "/left_arm", "/hyphos")
    arm = ParamTool(program, "/left_arm")
    assert arm.names() == ["angles", "laser.rate_hz", "mode", "serial", "speed"]
    assert arm.get("speed", "mode", "none") == [0.5, "calm", None]
    assert arm.dump() == {
        "angles": [-1.5, 1.5],
        "laser.rate_hz": 40,
        "mode": "calm",
        "serial": "A7",
        "speed": 0.5,
    }
    rate = arm.describe("laser.rate_hz")
    assert rate.type == ros2_params.INTEGER
    assert rate.description == "scans a second [Hz]"
    assert (rate.integer_range[0].from_value, rate.integer_range[0].to_value) == (1, 100)
    assert arm.describe("speed").floating_point_range[0].to_value == 2.0
    assert arm.describe("mode").additional_constraints == "calm, brisk"
    assert arm.describe("serial").read_only
    assert arm.describe("none").type == ros2_params.NOT_SET


@pytest.mark.usefixtures("gateway")
@pytest.mark.cell("worlds", "Cyclone DDS", "parameters")
def test_ros_2_sets_values_by_the_checks_of_the_node(
    laser: hyphos.Params, program: RosProgram
) -> None:
    arm = ParamTool(program, "/left_arm")
    events = program.reader("rt/parameter_events", Event)
    good, low, unknown, fixed = arm.set(speed=1.5, mode="angry", no_such=1, serial="B")
    assert good.successful
    assert laser["speed"] == 1.5
    assert not low.successful
    assert "calm, brisk" in low.reason
    assert "no parameter 'no_such'" in unknown.reason
    assert not fixed.successful
    assert laser["serial"] == "A7"

    def changed() -> dict[str, Any]:
        event = take(events)
        own = event.node == "/left_arm"
        return {one.name: to_plain(one.value) for one in event.changed_parameters if own}

    wait_until(lambda: changed() == {"speed": 1.5}, "the event of the change")
    laser.set({"speed": 0.25})
    wait_until(lambda: changed() == {"speed": 0.25}, "the event of a change by the robot")


@pytest.mark.usefixtures("gateway")
def test_the_gateways_node_has_all_parameters_and_use_sim_time(
    laser: hyphos.Params, program: RosProgram
) -> None:
    gateway = ParamTool(program, "/hyphos")
    wait_until(lambda: "left-arm.speed" in gateway.names(), "the parameters of the node")
    assert gateway.get("left-arm.speed", "use_sim_time") == [0.5, False]
    (refused,) = gateway.set(use_sim_time=True)
    assert "clock: sim" in refused.reason
    assert laser["speed"] == 0.5


@pytest.mark.usefixtures("gateway")
def test_the_robot_reads_and_sets_parameters_of_a_ros_2_node(
    node: hyphos.Node, program: RosProgram, hyphos_cli: Cli, domain: str
) -> None:
    talker = ParamServer(program, "ns/talker", rate_hz=10, frame="base", gains=[0.5, 1.5])
    with talker.serving():
        remote = node.remote_params("ros2")
        names = {"ns.talker." + name for name in talker.values}
        wait_until(lambda: names <= set(remote.values()), "the parameters")
        found = remote.values()
        assert (found["ns.talker.rate_hz"], found["ns.talker.frame"]) == (10, "base")
        assert found["ns.talker.gains"] == [0.5, 1.5]
        about = found.find("ns.talker.frame")
        assert about is not None
        assert about.description == "Parameter of ROS 2: /ns/talker frame. about frame"
        code, out, _ = hyphos_cli("param", "get", "ros2", "ns.talker.rate_hz", "-d", domain)
        assert (code, out.strip()) == (0, "10")
        code, _, errors = hyphos_cli(
            "param", "set", "ros2", "ns.talker.rate_hz", "20", "-d", domain
        )
        assert code == 0, errors
        wait_until(lambda: talker.values["rate_hz"] == 20, "the value at the node of ROS")
        talker.change("rate_hz", 30)
        wait_until(lambda: remote["ns.talker.rate_hz"] == 30, "the value of the event")
        talker.change("late", True)
        wait_until(lambda: remote.find("ns.talker.late") is not None, "the new parameter")


def test_a_value_that_a_ros_2_node_refuses_returns(
    gateway: Program, node: hyphos.Node, program: RosProgram
) -> None:
    talker = ParamServer(program, "picky", rate_hz=10)
    with talker.serving():
        remote = node.remote_params("ros2")
        wait_until(lambda: remote.find("picky.rate_hz") is not None, "the parameter")
        remote.set({"picky.rate_hz": 200})
        wait_until(lambda: talker.refused == 1, "the refusal")
        wait_until(lambda: remote["picky.rate_hz"] == 10, "the old value")
        remote.set({"picky.rate_hz": 50})
        # The gateway sends it after it has processed the refusal.
        wait_until(lambda: talker.values["rate_hz"] == 50, "the second value")
    _, out, errors = gateway.stop()
    assert "is at most 100" in errors
    assert "drop.gateway.param 1" in out
