"""`hyphos replay --wait`: the subscribers that must have joined before the first message."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import hyphos
from hyphos.msgs import Int64
from hyphos.recording.player import _is_joined


def player_with(**listeners: int) -> Any:
    """A player whose publishers have so many listeners, by channel."""
    ends = [SimpleNamespace(channel=name, listeners=count) for name, count in listeners.items()]
    return SimpleNamespace(publishers=ends)


def test_each_process_that_subscribes_must_have_joined(domain: str, node: hyphos.Node) -> None:
    ends = [node.publisher(name, Int64) for name in ("count", "other")]
    assert not _is_joined(player_with(count=0, other=0), domain), "there is no subscriber"
    with (
        hyphos.Node.open("one", domain=domain) as one,
        hyphos.Node.open("two", domain=domain) as two,
    ):
        for subscriber in (one, one, two):
            subscriber.subscribe("count", Int64, lambda _: None)
        two.subscribe("other", Int64, lambda _: None)
        assert not _is_joined(player_with(count=1, other=1), domain), "one of two has joined"
        assert not _is_joined(player_with(count=2, other=0), domain), "one of two channels"
        assert _is_joined(player_with(count=2, other=1), domain)
        two.subscribe("else", Int64, lambda _: None)
        assert _is_joined(player_with(count=2, other=1), domain), "another channel"
    assert ends
