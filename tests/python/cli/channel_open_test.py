"""hyphos channel open and close."""

from __future__ import annotations

from collections.abc import Iterator

import hyphos
import pytest
from helpers import Cli, look_until, wait_until
from hyphos.observe import look

PLAN = """hyphos: 1
domain: "{domain}"
processes: {{body: {{}}}}
channels: {{number: {{reliability: reliable}}}}
nodes: {{source: {{process: body}}, sink: {{process: body}}}}
"""


class Robot:
    """A process with a publisher and a subscription of `number`."""

    def __init__(self, plan: str) -> None:
        self.runtime = hyphos.Runtime.open(plan_text=plan, process="body")
        self.inside: list[bytes] = []
        self.sink = self.runtime.node("sink")  # a dropped node closes
        self.source = self.runtime.node("source")
        self.sink.subscribe("number", bytes, lambda value: self.inside.append(bytes(value)))
        self.publisher = self.source.publisher("number", bytes)
        self.runtime.ready()


@pytest.fixture
def robot(domain: str) -> Iterator[Robot]:
    made = Robot(PLAN.format(domain=domain))
    yield made
    made.runtime.close()


@pytest.fixture
def outside(robot: Robot, domain: str) -> Iterator[list[bytes]]:
    found: list[bytes] = []
    with hyphos.Node.open("outside", domain=domain) as node:
        node.subscribe("number", bytes, lambda value: found.append(bytes(value)))
        robot.publisher.wait_for(2)
        yield found


def test_a_channel_closes_inside_and_opens_again(
    robot: Robot, outside: list[bytes], domain: str, hyphos_cli: Cli
) -> None:
    words = ("number", "-d", domain, "--process", "body")
    code, out, err = hyphos_cli("channel", "close", *words, "--where", "inside")
    assert code == 0, err
    assert "number is open towards other processes only" in out
    robot.publisher.publish(b"1")
    wait_until(lambda: outside == [b"1"])
    assert robot.inside == []
    code, out, _ = hyphos_cli("channel", "open", *words)
    assert (code, out.split(": ")[1]) == (0, "number is open\n")
    robot.publisher.publish(b"2")
    wait_until(lambda: outside == [b"1", b"2"] and robot.inside == [b"2"])


def test_only_moves_a_channel_in_one_step(
    robot: Robot, outside: list[bytes], domain: str, hyphos_cli: Cli
) -> None:
    words = ("number", "-d", domain, "--process", "body", "--only")
    assert hyphos_cli("channel", "open", *words, "--where", "outside")[0] == 0
    assert robot.runtime.channel_open("number") == "outside"
    assert hyphos_cli("channel", "open", *words, "--where", "inside")[0] == 0
    assert robot.runtime.channel_open("number") == "inside"
    robot.publisher.publish(b"3")
    wait_until(lambda: robot.inside == [b"3"])
    assert outside == []


def test_a_process_without_a_plan_is_named(
    robot: Robot, outside: list[bytes], domain: str, hyphos_cli: Cli
) -> None:
    code, out, err = hyphos_cli("channel", "close", "number", "-d", domain, "--timeout", "0.5")
    assert code == 1
    assert "body (pid" in out
    assert "number is closed" in out
    assert "runs without a plan, so only its program can open and close channels" in err
    assert not robot.publisher.publish(b"4")
    assert outside == []


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["close", "numbr"], "no process of domain"),
        (["close", "number", "--process", "bodi"], "process 'bodi' does not have channel"),
        (["open", "number", "--where", "here"], "unknown --where 'here'"),
        (["open", "number", "--peer", "x", "--only"], "a peer is always outside"),
        (["close", "number", "--peer", "nobody"], "no network peers"),
    ],
)
def test_mistakes_are_errors(
    robot: Robot, words: list[str], text: str, domain: str, hyphos_cli: Cli
) -> None:
    look_until(lambda now: bool(now.ends("number")), lambda: look(domain))
    code, _, err = hyphos_cli("channel", *words, "-d", domain)
    assert code == 1
    assert text in err
    assert robot.runtime.channel_open("number") == "both"
