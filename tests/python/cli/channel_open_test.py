"""hyphos channel open and close."""

from __future__ import annotations

from collections.abc import Iterator

import hyphos
import pytest
from claims import own_port
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
    words = ("channel", "close", "number", "-d", domain, "--timeout", "0.5")
    # The time is short for the process without a plan, which never answers.
    code, out, err = look_until(
        lambda told: "number is closed" in told[1], lambda: hyphos_cli(*words), "the answer of body"
    )
    assert code == 1
    assert "body (pid" in out
    assert "runs without a plan, so only its program can open and close channels" in err
    assert not robot.publisher.publish(b"4")
    assert outside == []


class Machine:
    """A robot on a machine of its own: it shares the network alone."""

    def __init__(self, domain: str, port: int, offers: str, takes: str, peers: list[int]) -> None:
        def at(one: int) -> str:
            return f"tcp://127.0.0.1:{one}"

        self.address = at(port)
        subscribers = ", ".join(f"{{ip: '{at(peer)}', channels: [{takes}]}}" for peer in peers)
        self.runtime = hyphos.Runtime.open(
            plan_text=f"hyphos: 1\ndomain: {domain}\nnetwork:\n"
            f"  publisher: {{ip: '{self.address}', channels: [{offers}]}}\n"
            f"  subscribers: [{subscribers}]\n"
        )
        self.node = self.runtime.node("robot")
        self.heard: list[bytes] = []
        self.node.subscribe(takes, bytes, lambda value: self.heard.append(bytes(value)))
        self.publisher = self.node.publisher(offers, bytes)


@pytest.mark.parametrize("by", ["command", "program"])
def test_a_channel_closes_towards_one_of_two_robots(domain: str, hyphos_cli: Cli, by: str) -> None:
    """Both robots have the name "main"."""
    port, *ports = (own_port() for _ in range(3))
    hub = Machine(domain, port, "there", "back", ports)
    robots = [Machine(f"{domain}-{one}", one, "back", "there", [port]) for one in ports]

    def change(word: str, robot: Machine) -> None:
        if by == "program":
            hub.runtime.set_channel_open("there", word == "open", peer=robot.address)
            return
        words = ("there", "-d", domain, "--peer", robot.address)
        code, _, err = hyphos_cli("channel", word, *words)
        assert code == 0, err

    def await_end(last: bytes, *those: Machine) -> None:
        wait_until(lambda: all(one.heard[-1:] == [last] for one in those), repr(last))

    try:
        hub.runtime.ready()
        hub.publisher.wait_for(2)
        for turn, (robot, other) in enumerate((robots, robots[::-1])):
            robot.publisher.wait_for(1)
            change("close", robot)
            wait_until(lambda: hub.publisher.listeners == 1)
            hub.publisher.publish(b"one %d" % turn)
            await_end(b"one %d" % turn, other)
            change("open", robot)
            hub.publisher.wait_for(2)
            hub.publisher.publish(b"both %d" % turn)
            await_end(b"both %d" % turn, *robots)
        assert robots[0].heard == [b"both 0", b"one 1", b"both 1"]
        assert robots[1].heard == [b"one 0", b"both 0", b"both 1"]
    finally:
        for one in (hub, *robots):
            one.runtime.close()


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
