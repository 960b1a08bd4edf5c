"""`hyphos gateway ros2` on the network: its discovery, and its rate for large messages."""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Iterator
from functools import partial

import hyphos
import pytest
from helpers import PATIENCE_S, Inbox, Program, Start, repeating, wait_until
from hyphos.msgs import String
from ros2_gateway import needs_ros2
from ros2_machines import CYCLONES, RANGES, RELEASES, Machine, RosProcess, require, two_machines

pytestmark = needs_ros2

# The namespaces contain nothing else, so the number is free.
DOMAIN_ID = 7
# The user sets an hour between announcements, so only the announcements of others lead to
# discovery.
SILENT = "<Discovery><SPDPInterval>1hr</SPDPInterval></Discovery>"
HOSTS = ("127.0.0.1", "0.0.0.0", "192.0.2.2")


@pytest.fixture(scope="module")
def machines() -> Iterator[tuple[Machine, Machine]]:
    with two_machines() as made:
        yield made


@pytest.fixture
def here(machines: tuple[Machine, Machine]) -> Machine:
    return machines[0]


@pytest.fixture
def far(machines: tuple[Machine, Machine]) -> Machine:
    return machines[1]


def start_gateway(start: Start, machine: Machine, domain: str, *words: str) -> Program:
    gateway = machine.gateway(start, domain, DOMAIN_ID, *words)
    assert gateway.line().startswith("dds://")
    return gateway


def ros(start: Start, machine: Machine, release: str, *words: str, own: str = "") -> RosProcess:
    return machine.ros(start, release, *words, domain_id=DOMAIN_ID, own=own)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("discovery", RANGES)
@pytest.mark.parametrize("release", RELEASES)
def test_a_program_and_the_gateway_find_each_other(
    release: str, discovery: str, host: str, here: Machine, start: Start, node: hyphos.Node,
    inbox: Inbox, domain: str,
) -> None:  # fmt: skip
    require(release)
    start_gateway(start, here, domain, "--host", host)
    listener = ros(start, here, release, discovery, "listen", "out")
    talker = ros(start, here, release, discovery, "talk", "in")
    publisher = node.publisher("out", String)
    node.subscribe("in", String, inbox)
    with repeating(lambda: publisher.publish(String(data="outward"))):
        assert listener.heard("out") == (7, "outward")
    with repeating(lambda: talker.publish(6, "inward")):
        wait_until(lambda: bool(inbox.items), "a message of ROS")
    assert inbox.items[0].data == "inward"


@pytest.mark.cell("worlds", "Fast DDS", "topic")
def test_fast_dds_on_loopback_and_the_gateway_find_each_other(
    here: Machine, start: Start, node: hyphos.Node, inbox: Inbox, domain: str
) -> None:
    require("fastdds")
    start_gateway(start, here, domain)
    listener = ros(start, here, "fastdds", "LOCALHOST_ONLY", "listen", "out")
    talker = ros(start, here, "fastdds", "LOCALHOST_ONLY", "talk", "in")
    publisher = node.publisher("out", String)
    node.subscribe("in", String, inbox)
    with repeating(lambda: publisher.publish(String(data="outward"))):
        assert listener.heard("out") == (7, "outward")
    with repeating(lambda: talker.publish(6, "inward")):
        wait_until(lambda: bool(inbox.items), "a message of ROS")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("release", CYCLONES)
def test_a_restarted_gateway_is_found_by_its_own_announcement(
    release: str, host: str, here: Machine, start: Start, node: hyphos.Node, domain: str
) -> None:
    require(release)
    listener = ros(start, here, release, "LOCALHOST", "listen", "out", own=SILENT)
    publisher = node.publisher("out", String)
    for life in ("first", "second"):
        gateway = start_gateway(start, here, domain, "--host", host)
        with repeating(partial(publisher.publish, String(data=life))):
            while listener.heard("out")[1] != life:
                pass
        gateway.signal(signal.SIGKILL)
        gateway.end()


@pytest.mark.parametrize("first", ["programs", "gateway"])
@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
@pytest.mark.parametrize("discovery", RANGES)
@pytest.mark.parametrize("release", RELEASES)
def test_several_programs_at_once_do_not_end_the_gateway(
    release: str, discovery: str, host: str, first: str, here: Machine, start: Start,
    node: hyphos.Node, domain: str,
) -> None:  # fmt: skip
    require(release)

    def programs() -> list[RosProcess]:
        return [ros(start, here, release, discovery, "listen", "out") for _ in range(4)]

    listeners = programs() if first == "programs" else []
    gateway = start_gateway(start, here, domain, "--host", host)
    listeners = listeners or programs()
    publisher = node.publisher("out", String)
    with repeating(lambda: publisher.publish(String(data="all"))):
        for listener in listeners:
            assert listener.heard("out") == (3, "all")
    code, _, errors = gateway.stop()
    assert (code, errors) == (0, "")


@pytest.mark.parametrize("release", RELEASES)
def test_a_gateway_on_all_addresses_reaches_another_machine(
    release: str, here: Machine, far: Machine, start: Start, node: hyphos.Node, domain: str
) -> None:
    require(release)
    start_gateway(start, here, domain, "--host", "0.0.0.0")
    places = (here, here, far, far)
    listeners = [ros(start, place, release, "SUBNET", "listen", "out") for place in places]
    publisher = node.publisher("out", String)
    with repeating(lambda: publisher.publish(String(data="far"))):
        for listener in listeners:
            assert listener.heard("out") == (3, "far")


@pytest.mark.parametrize("release", RELEASES)
def test_by_default_the_gateway_is_limited_to_its_machine(
    release: str, here: Machine, far: Machine, start: Start, node: hyphos.Node, inbox: Inbox,
    domain: str,
) -> None:  # fmt: skip
    require(release)
    start_gateway(start, here, domain)
    out = ("SUBNET", "listen", "out")
    near = ros(start, here, release, *out)
    beyond = ros(start, far, release, *out)
    # The programs have discovered each other, so messages between them had time to arrive.
    between = ros(start, far, release, "SUBNET", "listen", "in")
    talkers = [ros(start, place, release, "SUBNET", "talk", "in") for place in (here, far)]
    publisher = node.publisher("out", String)
    node.subscribe("in", String, inbox)

    def say() -> None:
        publisher.publish(String(data="near"))
        for talker, word in zip(talkers, ("here", "far"), strict=True):
            talker.publish(4, word)

    words: set[str] = set()
    with repeating(say):
        assert near.heard("out") == (4, "near")
        while words < {"here", "far"}:
            words.add(between.heard("in")[1])
        wait_until(lambda: len(inbox.items) >= 10, "ten messages of this machine")
    assert {item.data for item in inbox.items} == {"here"}
    assert not beyond.has_heard()


@pytest.mark.parametrize("depth", [1, 10])
@pytest.mark.parametrize("size", [100, 700_000, 1_000_000, 6_000_000])
@pytest.mark.parametrize("release", RELEASES)
def test_the_first_message_to_a_reliable_subscriber_arrives(
    release: str, size: int, depth: int, here: Machine, start: Start, node: hyphos.Node, domain: str
) -> None:
    require(release)
    start_gateway(start, here, domain)
    publisher = node.publisher("map", String, policy=hyphos.Policy(depth=depth))
    ready = node.publisher("ready", String)
    # Readers are discovered in this order: a listener that receives `ready` can receive `map`.
    listener = ros(start, here, release, "LOCALHOST", "listen", "map,ready")
    with repeating(lambda: ready.publish(String(data="go"))):
        listener.heard("ready")
    publisher.publish(String(data="once " + "x" * (size - 5)))
    assert listener.heard("map") == (size, "once")


@pytest.mark.parametrize("release", CYCLONES)
def test_lost_parts_of_the_first_message_are_sent_again(
    release: str, here: Machine, start: Start, node: hyphos.Node, domain: str
) -> None:
    require(release)
    start_gateway(start, here, domain)
    publisher = node.publisher("map", String, policy=hyphos.Policy(depth=1))
    ready = node.publisher("ready", String)
    listener = ros(start, here, release, "LOCALHOST", "listen", "map,ready")
    with repeating(lambda: ready.publish(String(data="go"))):
        listener.heard("ready")
    before = here.lost()
    listener.signal(signal.SIGSTOP)
    publisher.publish(String(data="once " + "x" * 12_000_000))
    wait_until(lambda: here.lost() > before, "a loss")
    listener.signal(signal.SIGCONT)
    assert listener.heard("map")[1] == "once"


@pytest.mark.parametrize("release", RELEASES)
def test_a_large_message_reaches_a_late_subscriber(
    release: str, here: Machine, start: Start, node: hyphos.Node, domain: str
) -> None:
    require(release)
    start_gateway(start, here, domain)
    publisher = node.publisher("map", String)
    for word in ("first", "second", "third"):
        listener = ros(start, here, release, "LOCALHOST", "listen", "map")
        # DDS matches each topic by itself, so only a message of this topic shows that it is ready.
        with repeating(lambda: publisher.publish(String(data="go"))):
            listener.heard("map")
        publisher.publish(String(data=word + " " * (2_000_000 - len(word))))
        size, heard = listener.heard("map")
        while heard == "go":
            size, heard = listener.heard("map")
        assert (size, heard) == (2_000_000, word)


@pytest.mark.parametrize("size", [1_000_000, 4_000_000, 6_000_000, 12_000_000])
@pytest.mark.parametrize("release", RELEASES)
def test_large_messages_reach_a_best_effort_subscriber(
    release: str, size: int, here: Machine, start: Start, node: hyphos.Node, domain: str
) -> None:
    require(release)
    start_gateway(start, here, domain)
    publisher = node.publisher("image", String)
    listener = ros(start, here, release, "LOCALHOST", "listen", "image", "best_effort")
    count = itertools.count()
    whole: list[int] = []
    ended = time.monotonic() + PATIENCE_S
    while len(whole) < 5 and time.monotonic() < ended:
        # At the rate of a camera. A loaded machine loses some messages.
        publisher.publish(String(data=f"{next(count)} " + "x" * size))
        if listener.has_heard(within_s=0.05):
            whole.append(listener.heard("image")[0])
    assert len(whole) == 5
    assert min(whole) > size
