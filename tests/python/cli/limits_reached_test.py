"""Limits that programs reach: at the limit everything works. Beyond it, an error has the remedy."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator

import hyphos
import pytest
from helpers import wait_until
from hyphos import _hyphos


@pytest.fixture
def other(domain: str) -> Iterator[hyphos.Node]:
    """A node that acts as a second process of the domain in shared memory."""
    with hyphos.Node.open("other", domain=domain) as opened:
        yield opened


def counter(domain: str, channel: str, name: str) -> int:
    found = 0
    for process in _hyphos.inspect(domain):
        for end in process.endpoints:
            if end.channel == channel:
                found += dict(end.counters).get(name, 0)
    return found


@pytest.mark.parametrize("size", [(1 << 31) + 1, 3 << 30])
@pytest.mark.parametrize("overflow", ["drop_oldest", "block"])
def test_a_message_that_never_fits_is_refused_without_a_copy(
    node: hyphos.Node, other: hyphos.Node, domain: str, size: int, overflow: str
) -> None:
    policy = hyphos.Policy(overflow=overflow, block_timeout_ms=600_000)
    publisher = node.publisher("large", bytes, policy=policy)
    got = threading.Event()
    other.subscribe("large", bytes, lambda _: got.set(), policy=policy)
    wait_until(lambda: publisher.listeners == 1, "the subscriber")
    with mmap.mmap(-1, size) as nothing:  # pages that would use memory only for a copy
        published = publisher.publish(nothing)
    assert not published
    assert published.failure == "too_large"
    assert published.dropped == 1
    assert "too_large" in repr(published)
    assert counter(domain, "large", "drop.shm.too_large") == 1
    assert counter(domain, "large", "drop.shm.no_memory") == 0
    assert publisher.publish(b"small")
    assert got.wait(30)


def test_a_local_subscriber_accepts_messages_of_any_size(node: hyphos.Node) -> None:
    got = threading.Event()
    node.subscribe("large", bytes, lambda _: got.set())
    publisher = node.publisher("large", bytes)
    assert publisher.publish(bytes(70 << 20))
    assert got.wait(30)


def test_many_channels_have_both_endpoints_in_one_process(
    node: hyphos.Node, other: hyphos.Node, domain: str
) -> None:
    count = 1200
    inbox: list[bytes] = []
    full = threading.Event()

    def hear(message: bytes) -> None:
        inbox.append(bytes(message))
        if len(inbox) == count:
            full.set()

    publishers = []
    for number in range(count):
        node.subscribe(f"c{number}", bytes, hear)
        publishers.append(node.publisher(f"c{number}", bytes))
    assert all(
        publisher.publish(str(number).encode()) for number, publisher in enumerate(publishers)
    )
    assert full.wait(60)
    assert sorted(inbox, key=int) == [str(number).encode() for number in range(count)]

    # Tools see every channel, with its times, and other processes can subscribe to the last one.
    def ends() -> list[_hyphos.EndpointInfo]:
        return [
            end
            for process in _hyphos.inspect(domain)
            for end in process.endpoints
            if end.channel.startswith("c")
        ]

    assert len(ends()) == 2 * count

    def timed() -> bool:  # a callback is timed after its end
        return all(end.latency.count == 1 for end in ends() if not end.is_publisher)

    wait_until(timed, "the times of each message")
    last = threading.Event()
    other.subscribe(f"c{count - 1}", bytes, lambda _: last.set())
    wait_until(lambda: publishers[-1].listeners == 2, "the other process")
    publishers[-1].publish(b"again")
    assert last.wait(30)
