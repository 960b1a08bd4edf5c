"""`hyphos gateway ros2` with a program on Fast DDS, as rmw_fastrtps_cpp sets it up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import hyphos
import pytest
from claims import own_dds_domain
from helpers import PATIENCE_S, Inbox, Program, Start, wait_until
from hyphos import _hyphos
from hyphos.msgs import String
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.typebook import TypeBook
from ros2_gateway import needs_ros2, set_bool, std_srvs, tank_msgs

BUILT = Path(__file__).parents[3] / "build/release/tests/gateway/ros2"
pytestmark = [
    needs_ros2,
    pytest.mark.skipif(
        not (BUILT / "ros2_fast_world").exists(),
        reason="no program of ROS on Fast DDS (scripts/setup core ros2, make build)",
    ),
]
Fast = Callable[..., Program]


@pytest.fixture
def fast(hyphos_start: Start, start: Start, domain: str) -> Fast:
    """Starts a program beside a gateway that is given no types."""
    own = ["--set", f"domain_id={own_dds_domain()}", "--domain", domain]
    assert hyphos_start("gateway", "ros2", *own).line().startswith("dds://")

    def begin(program: str, *words: str) -> Program:
        return start(str(BUILT / program), str(own_dds_domain()), *words, keys=True)

    return begin


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    return set_bool(std_srvs(tmp_path_factory.mktemp("share")))


def has_publisher(domain: str, channel: str) -> bool:
    return any(
        end.channel == channel and end.is_publisher
        for process in _hyphos.inspect(domain)
        for end in process.endpoints
    )


@pytest.mark.cell("worlds", "Fast DDS", "latched")
def test_latched_texts_reach_late_readers_and_nodes(
    fast: Fast, node: hyphos.Node, inbox: Inbox, domain: str
) -> None:
    publisher = node.publisher("place", String, policy=hyphos.Policy(latched=True))
    publisher.publish(String(data="kitchen"))
    reader = fast("ros2_fast_node", "LOCALHOST_ONLY", "listen", "place", "latched")
    assert reader.line() == "ready"
    assert reader.line() == "place 7 kitchen"
    writer = fast("ros2_fast_node", "LOCALHOST_ONLY", "talk", "map_name", "latched")
    assert writer.line() == "ready"
    writer.type("4 hall\n")
    wait_until(lambda: has_publisher(domain, "map_name"), "the channel")
    node.subscribe("map_name", String, inbox, policy=hyphos.Policy(latched=True))
    assert inbox.wait(1)[0].data == "hall"
    second = Inbox()
    node.subscribe("map_name", String, second)
    assert second.wait(1)[0].data == "hall"


@pytest.mark.cell("worlds", "Fast DDS", "service")
def test_both_sides_call_services(fast: Fast, node: hyphos.Node, switch: tuple[Any, Any]) -> None:
    request, response = switch
    node.service(
        "switch", request, response, lambda ask: response(success=ask.data, message="done")
    )
    client = fast("ros2_fast_world", "call", "switch")
    assert [client.line(), client.line()] == ["True done", "False done"]
    assert fast("ros2_fast_world", "serve", "lamp").line() == "ready"
    lamp = node.client("lamp", request, response)
    lamp.wait_for_server(timeout_ms=PATIENCE_S * 1000)
    for wanted in (True, False):
        answer = lamp.call(request(data=wanted), timeout_ms=PATIENCE_S * 1000)
        assert (answer.success, answer.message) == (not wanted, "lit")


@pytest.mark.cell("worlds", "Fast DDS", "parameters")
def test_a_program_lists_and_sets_parameters_of_the_robot(fast: Fast, node: hyphos.Node) -> None:
    params = node.params()
    speed = params.declare("speed", 0.5)
    params.done()
    program = fast("ros2_fast_world", "params", "hyphos")
    assert [program.line(), program.line()] == ["listed", "set"]
    wait_until(lambda: speed.value == 0.75, "the new value")


@pytest.mark.cell("worlds", "Fast DDS", "unknown type")
def test_a_type_of_one_node_passes_both_ways(
    fast: Fast, node: hyphos.Node, inbox: Inbox, tmp_path: Path
) -> None:
    import_types([tank_msgs(tmp_path)], tmp_path / "protos", Flavour.ROS2)
    level = TypeBook([tmp_path / "protos"]).get("ros2.tank_msgs.msg.Level")
    node.subscribe("tank", level, inbox)
    publisher = node.publisher("tank_back", level)
    node.every(lambda: publisher.publish(level(litres=2.5)), rate_hz=20)
    program = fast("ros2_fast_world", "level", "tank")
    assert program.line() == "ready"
    assert float(program.line()) == 2.5
    assert inbox.wait(1)[0].litres == 12.5
