"""Publishing without waiting, waiting for subscribers, and plans given as text."""

from __future__ import annotations

import threading

import hyphos
import pytest
from helpers import Inbox, wait_until
from hyphos import Policy


def test_try_publish_sends_nothing_into_a_full_queue(node: hyphos.Node) -> None:
    policy = Policy(reliability="reliable", depth=1)
    running, go_on, got = threading.Event(), threading.Event(), []

    def callback(value: bytes) -> None:
        running.set()
        go_on.wait()
        got.append(bytes(value))

    node.subscribe("n", bytes, callback, policy=policy)
    publisher = node.publisher("n", bytes, policy=policy)
    assert publisher.try_publish(b"1")
    assert running.wait(60)
    assert publisher.try_publish(b"2")
    refused = publisher.try_publish(b"3")
    assert not refused
    assert (refused.failure, refused.accepted, refused.dropped) == ("overloaded", 0, 0)
    go_on.set()
    wait_until(lambda: bool(publisher.try_publish(b"4")))
    wait_until(lambda: len(got) == 3)
    assert got == [b"1", b"2", b"4"]


def test_a_burst_beyond_the_depth_shows_in_the_result(node: hyphos.Node) -> None:
    running, go_on, got = threading.Event(), threading.Event(), []

    def callback(value: bytes) -> None:
        running.set()
        go_on.wait()
        got.append(bytes(value))

    node.subscribe("n", bytes, callback)  # best effort, depth 10, drops the oldest
    publisher = node.publisher("n", bytes)
    publisher.publish(b"first")
    assert running.wait(60)
    burst = [publisher.publish(bytes([number])) for number in range(100)]
    assert all(burst)  # no guarantee was broken
    assert [one.dropped for one in burst] == [0] * 10 + [1] * 90
    assert str(burst[-1]) == "Published(sequence=101, accepted=1, dropped=1, failure=None)"
    go_on.set()
    wait_until(lambda: len(got) == 11)
    assert got == [b"first", *(bytes([number]) for number in range(90, 100))]


def test_wait_for_counts_the_subscribers_that_get_messages(domain: str, inbox: Inbox) -> None:
    sender = hyphos.Node.open("sender", domain=domain, process="a")
    publisher = sender.publisher("n", bytes)
    publisher.wait_for(0)
    with pytest.raises(hyphos.Error) as caught:
        publisher.wait_for(1, timeout_ms=1)
    assert caught.value.code == "timeout"
    assert "0 of 1 subscribers are there" in str(caught.value)
    receiver = hyphos.Node.open("receiver", domain=domain, process="b")
    receiver.subscribe("n", bytes, inbox)
    publisher.wait_for(timeout_ms=60_000)
    assert publisher.publish(b"x").accepted == 1
    assert [bytes(one) for one in inbox.wait(1)] == [b"x"]


def test_a_text_is_a_plan(domain: str) -> None:
    text = "hyphos: 1\nchannels: {n: {latched: true}}\n"
    runtime = hyphos.Runtime.open(plan_text=text, domain=domain, offline=True)
    runtime.node("any").publisher("n", bytes)
    assert [c.policy.latched for c in runtime.channels() if c.name == "n"] == [True]
    with pytest.raises(hyphos.Error, match=r"plan in code:1:\d+: channels\.n\.dept"):
        hyphos.Node.open("x", plan_text="{hyphos: 1, channels: {n: {dept: 1}}}", offline=True)
