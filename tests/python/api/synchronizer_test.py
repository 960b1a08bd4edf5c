"""Node.synchronize() and callback groups."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import hyphos
import pytest
from helpers import Inbox, wait_until
from hyphos.msgs import Header, Image, Int64, LaserScan

Tick = hyphos.Struct("test.Tick", [("seconds", "f8")])


@pytest.fixture
def node() -> Iterator[hyphos.Node]:
    with hyphos.Node.open("fusion", offline=True) as node:
        yield node


def scan(stamp: int) -> LaserScan:
    return LaserScan(header=Header(stamp_ns=stamp))


def image(stamp: int) -> Image:
    return Image(header=Header(stamp_ns=stamp))


def settled(node: hyphos.Node, work: Callable[[], object]) -> None:
    node.runtime.settle(work)


def test_exact_sets_arrive_in_the_order_of_the_channels(node: hyphos.Node) -> None:
    sets: list[tuple[int, int]] = []
    cameras = node.publisher("camera", hyphos.Attached[Image])
    lasers = node.publisher("scan", LaserScan)
    sync = node.synchronize(
        {"camera": hyphos.Attached[Image], "scan": LaserScan},
        lambda one, two: sets.append((one.head.header.stamp_ns, two.header.stamp_ns)),
        rule="exact",
    )

    def publish() -> None:
        lasers.publish(scan(1))
        cameras.publish(image(2))
        cameras.publish(image(1))
        lasers.publish(scan(3))
        lasers.publish(scan(2))

    settled(node, publish)
    assert sets == [(1, 1), (2, 2)]
    camera, laser = sync.counts()
    assert (camera.channel, camera.received, camera.matched) == ("camera", 2, 2)
    assert (laser.received, laser.matched, laser.waiting, laser.unmatched) == (3, 2, 1, 0)


def test_every_unmatched_message_is_counted_by_reason(node: hyphos.Node) -> None:
    one = node.publisher("one", LaserScan)
    two = node.publisher("two", LaserScan)
    sync = node.synchronize(
        [("one", LaserScan), ("two", LaserScan)], lambda *_: None, max_interval_ms=10, queue=3
    )

    def publish_ones() -> None:
        for ms in (0, 100, 200, 300, 400):
            one.publish(scan(ms * 1_000_000))

    settled(node, publish_ones)  # the channels take turns
    settled(node, lambda: two.publish(scan(1_000_000_000)))
    first, second = sync.counts()
    assert first.reasons["queue_full"] == 2
    assert first.reasons["too_far_apart"] == 3
    assert set(first.reasons) == {
        "queue_full", "too_far_apart", "superseded", "after_loss", "incomplete", "repeated",
        "clock_jump", "closed",
    }  # fmt: skip
    assert first.unmatched == sum(first.reasons.values()) == 5
    assert second.waiting == 1
    sync.close()
    assert sync.counts()[1].reasons["closed"] == 1


def test_a_function_may_return_the_stamp(node: hyphos.Node) -> None:
    sets: list[tuple[Any, Any]] = []
    left, right = (node.publisher(name, Tick) for name in ("left", "right"))
    node.synchronize(
        {"left": Tick, "right": Tick},
        lambda a, b: sets.append((float(a.seconds), float(b.seconds))),
        rule="exact",
        stamp=lambda tick: round(float(tick.seconds) * 1e9),
    )
    settled(node, lambda: (left.publish(Tick(seconds=0.5)), right.publish(Tick(seconds=0.5))))
    assert sets == [(0.5, 0.5)]


def test_a_message_without_a_stamp_is_an_error_with_a_remedy(
    node: hyphos.Node, capfd: pytest.CaptureFixture[str]
) -> None:
    numbers = node.publisher("left", Int64)
    node.synchronize({"left": Int64, "right": Int64}, print)
    settled(node, lambda: numbers.publish(Int64(data=1)))
    error = capfd.readouterr().err
    assert "Int64 has no stamp" in error
    assert "stamp=lambda message" in error


def test_an_exception_of_the_callback_is_counted(node: hyphos.Node) -> None:
    def fail(*_: object) -> None:
        raise ValueError("broken")

    left, right = (node.publisher(name, LaserScan) for name in ("left", "right"))
    sync = node.synchronize({"left": LaserScan, "right": LaserScan}, fail, rule="exact")

    def publish(stamp: int) -> None:
        left.publish(scan(stamp))
        right.publish(scan(stamp))

    for stamp in (1, 2):
        settled(node, partial(publish, stamp))
    assert [each.matched for each in sync.counts()] == [2, 2]
    ends = [end for end in node.runtime.endpoints() if end.channel in ("left", "right")]
    assert sum(end.counter("callback_error") for end in ends) == 2


@pytest.mark.parametrize(
    ("channels", "options", "text"),
    [
        ({"a": LaserScan}, {}, "it has 1 channels. Give 2 to 9"),
        ({"a": LaserScan, "b": LaserScan}, {"queue": 0}, "queue is 0"),
        ({"a": LaserScan, "b": LaserScan}, {"queue": 10**12}, "queue is 1001. Give 1 to 1000"),
        ({"a": LaserScan, "b": LaserScan}, {"min_spacing_ms": [1]}, "min_spacing has 1 values"),
        ({"a": LaserScan, "b": LaserScan}, {"rule": "exact", "max_interval_ms": 1}, "no effect"),
    ],
)
def test_options_out_of_range_are_refused(
    node: hyphos.Node, channels: dict[str, Any], options: dict[str, Any], text: str
) -> None:
    with pytest.raises(hyphos.Error, match=text):
        node.synchronize(channels, print, **options)


def test_an_unknown_rule_is_refused(node: hyphos.Node) -> None:
    with pytest.raises(ValueError, match="give 'exact' or 'approximate'"):
        node.synchronize({"a": LaserScan, "b": LaserScan}, print, rule="near")


def test_a_synchronizer_without_sets_warns_once(
    node: hyphos.Node, capfd: pytest.CaptureFixture[str]
) -> None:
    lasers = node.publisher("scan", LaserScan)
    node.synchronize({"camera": hyphos.Attached[Image], "scan": LaserScan}, print)

    def publish() -> None:
        for stamp in range(60):
            lasers.publish(scan(stamp))

    for _ in range(2):
        settled(node, publish)
    error = capfd.readouterr().err
    assert error.count("the synchronizer of 'camera', 'scan' has lost") == 1
    assert "Nothing arrives on 'camera': start its publisher" in error


def test_a_group_runs_one_callback_at_a_time() -> None:
    with hyphos.Node.open("grouped", offline=True, threads=4) as node:
        inside = threading.Semaphore(1)
        overlaps: list[str] = []
        done = Inbox()

        def busy(number: Int64) -> None:
            if not inside.acquire(blocking=False):
                overlaps.append("overlap")
                return
            done(number)
            inside.release()

        group = node.callback_group()
        policy = hyphos.Policy(reliability="reliable", depth=200)
        publishers = [node.publisher(name, Int64, policy=policy) for name in ("a", "b")]
        for name in ("a", "b"):
            node.subscribe(name, Int64, busy, group=group, policy=policy)
        for i in range(200):
            for publisher in publishers:
                publisher.publish(Int64(data=i))
        wait_until(lambda: len(done.items) + len(overlaps) == 400, "all callbacks")
        assert not overlaps


def test_a_group_needs_a_serial_subscription(node: hyphos.Node) -> None:
    with pytest.raises(hyphos.Error, match="requires the mode serial"):
        node.subscribe("a", Int64, print, "concurrent", group=node.callback_group())
