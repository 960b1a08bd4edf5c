"""The rule of latched channels, for every order of opening and closing endpoints.

Each subscription gets the last message of each living publisher once. This includes the second
subscription of a process, to which the transport has delivered the message before.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import hyphos
import pytest
from claims import own_port
from helpers import Inbox, Start, wait_until
from hyphos.msgs import String, TfMessage
from ros_tcp_client import RosTcpClient, connected, string_message
from rosbridge_probe import RawClient, needs_gateway
from rosbridge_probe import connected as rosbridge_connected

LATCHED = hyphos.Policy(latched=True, depth=1)
# P: the publisher opens and publishes. S: a subscription opens. C: the oldest one closes.
ORDERS = sorted({"".join(steps) for steps in itertools.permutations("PSSCS")})
PUBLISHER = """
import sys, hyphos
from hyphos.msgs import String
node = hyphos.Node.open("from", ["from", *sys.argv[1:]])
publishers = {}
print("ready", flush=True)
for line in sys.stdin:
    channel, text = line.split()
    if channel not in publishers:
        latched = hyphos.Policy(latched=True, depth=1)
        publishers[channel] = node.publisher(channel, String, policy=latched)
    publishers[channel].publish(String(data=text))
"""
PLAN = """
hyphos: 1
domain: "{domain}"
hosts: {{ugv: {{address: 127.0.0.1}}, base: {{address: 127.0.0.2}}}}
processes:
  ugv: {{host: ugv, nodes: [from], endpoint: "tcp://127.0.0.1:{port}"}}
  base: {{host: base, nodes: [to]}}
nodes: {{from: {{}}, to: {{}}}}
channels:
{channels}
"""


class World(Protocol):
    """The place of the publishers. The first `say` on a channel opens its publisher."""

    node: hyphos.Node

    def say(self, channel: str, text: str) -> None: ...


class SameProcess:
    def __init__(self, node: hyphos.Node) -> None:
        self.node = node
        self._publishers: dict[str, hyphos.Publisher[String]] = {}

    def say(self, channel: str, text: str) -> None:
        if channel not in self._publishers:
            self._publishers[channel] = self.node.publisher(channel, String, policy=LATCHED)
        self._publishers[channel].publish(String(data=text))


class OtherProcess:
    def __init__(self, node: hyphos.Node, *words: str) -> None:
        self.node = node
        self.popen = subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.popen.stdout is not None
        assert self.popen.stdout.readline().strip() == "ready"

    def say(self, channel: str, text: str) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(f"{channel} {text}\n")
        self.popen.stdin.flush()

    def end(self) -> None:
        self.popen.kill()
        self.popen.communicate()


class Rosbridge:
    def __init__(self, node: hyphos.Node, client: RawClient) -> None:
        self.node = node
        self._client = client
        self._topics: set[str] = set()

    def say(self, channel: str, text: str) -> None:
        if channel not in self._topics:
            self._topics.add(channel)
            self._client.say(
                op="advertise", topic=f"/{channel}", type="std_msgs/String", latch=True
            )
        self._client.say(op="publish", topic=f"/{channel}", msg={"data": text})


class RosTcp:
    def __init__(self, node: hyphos.Node, client: RosTcpClient) -> None:
        self.node = node
        self._client = client
        self._topics: set[str] = set()

    def say(self, channel: str, text: str) -> None:
        if channel not in self._topics:
            self._topics.add(channel)
            self._client.publish(f"/{channel}", "std_msgs/String", latch=True)
        self._client.send(f"/{channel}", string_message(text))


@contextmanager
def _other_machine(domain: str, folder: Path, channels: list[str]) -> Iterator[World]:
    listed = "\n".join(
        f"  {name}: {{publishers: [from], subscribers: [to], latched: true, depth: 1}}"
        for name in channels
    )
    plan = folder / "robot.yaml"
    plan.write_text(PLAN.format(domain=domain, port=own_port(), channels=listed))
    with hyphos.Node.open("to", plan=str(plan), process="base") as node:
        world = OtherProcess(node, "--hyphos-plan", str(plan), "--hyphos-process", "ugv")
        try:
            yield world
        finally:
            world.end()


@contextmanager
def _world(
    name: str, domain: str, folder: Path, start: Start, channels: list[str]
) -> Iterator[World]:
    if name == "other_machine":
        with _other_machine(domain, folder, channels) as world:
            yield world
        return
    with ExitStack() as stack:
        node = stack.enter_context(hyphos.Node.open("to", domain=domain))
        if name == "same_process":
            yield SameProcess(node)
        elif name == "other_process":
            other = OtherProcess(node, "--hyphos-domain", domain)
            stack.callback(other.end)
            yield other
        elif name == "rosbridge":
            address = _gateway(start, domain, "rosbridge")
            yield Rosbridge(node, stack.enter_context(rosbridge_connected(address)))
        else:
            port = int(_gateway(start, domain, "ros_tcp").rpartition(":")[2])
            yield RosTcp(node, stack.enter_context(connected(port)))


def _gateway(start: Start, domain: str, protocol: str) -> str:
    words = (sys.executable, "-m", "hyphos", "gateway", protocol, "--port", "0", "-d", domain)
    return start(*words).line().strip()


def _texts(inbox: Inbox) -> list[str]:
    return [item.data for item in inbox.items]


def _run(world: World, channel: str, order: str) -> None:
    heard: list[Inbox] = []
    open_ones: list[tuple[hyphos.Subscription, Inbox]] = []
    published = False

    def settle() -> None:
        for _, inbox in open_ones:
            if published:
                inbox.wait(1)

    for number, step in enumerate(order):
        if step == "P":
            world.say(channel, "map")
            published = True
        elif step == "S":
            inbox = Inbox()
            heard.append(inbox)
            # Every second subscription asks for the latched value explicitly.
            policy = LATCHED if number % 2 else None
            open_ones.append((world.node.subscribe(channel, String, inbox, policy=policy), inbox))
        elif open_ones:
            open_ones.pop(0)[0].close()
        settle()
    world.say(channel, "end")
    for _, inbox in open_ones:
        inbox.wait(2)
        assert _texts(inbox) == ["map", "end"], f"{order} on {channel}"
    for inbox in heard:
        assert _texts(inbox).count("map") <= 1, f"{order} on {channel}"
    for subscription, _ in open_ones:
        subscription.close()


@pytest.mark.parametrize(
    "name",
    [
        "same_process",
        "other_process",
        "other_machine",
        pytest.param("rosbridge", marks=needs_gateway),
        pytest.param("ros_tcp", marks=needs_gateway),
    ],
)
def test_each_subscription_gets_the_last_message_once(
    name: str, domain: str, tmp_path: Path, start: Start
) -> None:
    channels = [f"n{number}" for number in range(len(ORDERS))]
    with _world(name, domain, tmp_path, start, channels) as world:
        for channel, order in zip(channels, ORDERS, strict=True):
            _run(world, channel, order)


class BridgeClient:
    def __init__(self, address: str, topic: str, stack: ExitStack) -> None:
        self._client = stack.enter_context(rosbridge_connected(address))
        self._client.say(op="subscribe", topic=topic, type="std_msgs/String")

    def hear(self) -> str:
        text: str = self._client.hear()["msg"]["data"]
        return text


class TcpClient:
    def __init__(self, address: str, topic: str, stack: ExitStack) -> None:
        self._client = stack.enter_context(connected(int(address.rpartition(":")[2])))
        self._client.subscribe(topic, "std_msgs/String")
        self._topic = topic

    def hear(self) -> str:
        return self._client.read_named(self._topic)[4:].decode()


@needs_gateway
@pytest.mark.parametrize(
    ("protocol", "client"), [("rosbridge", BridgeClient), ("ros_tcp", TcpClient)]
)
def test_each_client_of_a_gateway_gets_the_last_message_once(
    protocol: str,
    client: Callable[[str, str, ExitStack], BridgeClient | TcpClient],
    node: hyphos.Node,
    domain: str,
    start: Start,
) -> None:
    address = _gateway(start, domain, protocol)
    for number, order in enumerate(ORDERS):
        publishers: list[hyphos.Publisher[String]] = []
        with ExitStack() as everything:
            clients: list[tuple[ExitStack, BridgeClient | TcpClient, list[str]]] = []
            for step in order:
                if step == "P":
                    publishers.append(node.publisher(f"c{number}", String, policy=LATCHED))
                    publishers[0].publish(String(data="map"))
                elif step == "S":
                    stack = everything.enter_context(ExitStack())
                    clients.append((stack, client(address, f"/c{number}", stack), []))
                elif clients:
                    clients.pop(0)[0].close()
                for _, one, heard in clients:
                    if publishers and not heard:
                        heard.append(one.hear())
            publishers[0].publish(String(data="end"))
            for _, one, heard in clients:
                heard.append(one.hear())
                assert heard == ["map", "end"], order


STATIC = """
import sys, time, hyphos
from hyphos.msgs import TfMessage
node = hyphos.Node.open(sys.argv[2], domain=sys.argv[1])
publisher = node.publisher("tf_static", TfMessage, policy=hyphos.Policy(latched=True))
message = TfMessage()
transform = message.transforms.add()
transform.header.frame_id, transform.child_frame_id = "base", sys.argv[2]
transform.transform.rotation.w = 1
publisher.publish(message)
print("ready", flush=True)
time.sleep(600)
"""


def test_static_transforms_reach_each_subscription_and_the_tree(
    node: hyphos.Node, domain: str, start: Start
) -> None:
    names = {f"camera{number}" for number in range(3)}
    for name in sorted(names):
        assert start(sys.executable, "-c", STATIC, domain, name).line() == "ready"
    for _ in range(3):
        inbox = Inbox()
        node.subscribe("tf_static", TfMessage, inbox)
        assert {item.transforms[0].child_frame_id for item in inbox.wait(3)} == names
    tree = node.transforms()
    wait_until(lambda: names <= {edge.child for edge in tree.edges()}, "the tree")
