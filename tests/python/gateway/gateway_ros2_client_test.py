"""`hyphos gateway ros2` with programs of the crate ros2-client as ROS 2. Both its DDS and its ROS
layer differ from those of the gateway.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import hyphos
import pytest
import ros2_gateway
from claims import own_dds_domain
from helpers import PATIENCE_S, Inbox, Program, Start, repeating
from hyphos.msgs import String
from ros2_gateway import start_gateway, std_srvs

REPOSITORY = Path(__file__).parents[3]
PROGRAM = REPOSITORY / "build/cargo/debug/ros2_program"
BUILD = "cargo build --manifest-path tests/gateway/ros2/program/Cargo.toml --target-dir build/cargo"

DEEP = 200  # messages, so that a process that stalls for seconds loses none
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=BUILD)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return std_srvs(tmp_path_factory.mktemp("share"))


@pytest.fixture(scope="module")
def set_bool(package: Path) -> tuple[Any, Any]:
    return ros2_gateway.set_bool(package)


@pytest.fixture(autouse=True)
def gateway(hyphos_start: Start, domain: str, package: Path) -> Program:
    return start_gateway(hyphos_start, domain, package, "--queue", str(DEEP))


def ros(start: Start, role: str, name: str) -> Program:
    program = start(str(PROGRAM), str(own_dds_domain()), role, name)
    assert program.line() == "ready"
    return program


def test_the_robot_receives_each_message_of_a_talker_once(
    start: Start, node: hyphos.Node, inbox: Inbox
) -> None:
    node.subscribe("numbers", String, inbox, policy=hyphos.Policy(depth=DEEP))
    ros(start, "talker", "numbers")
    heard = [int(message.data) for message in inbox.wait(50)]
    assert heard == list(range(heard[0], heard[0] + len(heard)))


def test_a_listener_receives_each_message_of_the_robot_once(
    start: Start, node: hyphos.Node
) -> None:
    publisher = node.publisher("words", String, policy=hyphos.Policy(depth=DEEP))
    listener = ros(start, "listener", "words")
    count = itertools.count()
    with repeating(lambda: publisher.publish(String(data=str(next(count))))):
        heard = [int(listener.line()) for _ in range(50)]
    assert heard == list(range(heard[0], heard[0] + 50))


def test_a_client_calls_a_service_of_the_robot(
    start: Start, node: hyphos.Node, set_bool: tuple[Any, Any]
) -> None:
    request, response = set_bool
    node.service("door", request, response, lambda ask: response(success=ask.data, message="open"))
    assert ros(start, "client", "door").line() == "true open"


def test_the_robot_calls_a_service_of_the_crate(
    start: Start, node: hyphos.Node, set_bool: tuple[Any, Any]
) -> None:
    server = ros(start, "server", "bell")
    client = node.client("bell", *set_bool)
    for wanted in (True, False):
        answer = client.call(set_bool[0](data=wanted), timeout_ms=PATIENCE_S * 1000)
        assert (answer.success, answer.message) == (not wanted, "from ros2-client")
    assert [server.line(), server.line()] == ["true", "false"]
