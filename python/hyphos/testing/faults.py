"""Faults between a publisher and its subscribers: lost, changed and repeated messages.

A node cannot be changed from outside, but the plan can rename its channels. So the publishers of an
intercepted channel publish on another channel, and the test forwards each message, or not.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Policy
from hyphos.node import Node
from hyphos.testing.inbox import Kept, Offer, Types
from hyphos.types import Raw

_ENDING = "undamaged"  # "scan" → "scan/undamaged"
_KEPT_KEYS = ("type", "reliability", "depth", "overflow", "latched", "priority", "block_timeout_ms")

Fault = Callable[[Any], Any]


def names_of(plan: dict[str, Any], intercept: Sequence[str]) -> list[str]:
    """The channels to intercept. "*" means each planned channel with publishers."""
    if "*" not in intercept:
        return list(intercept)
    return [one["name"] for one in plan["channels"] if one["publishers"] and not one["implied"]]


def settings_of(plan: dict[str, Any], channels: Sequence[str], file: str) -> list[str]:
    """The `--set` arguments that put the test between the publishers and the channels."""
    found: list[str] = []
    planned = {one["name"]: one for one in plan["channels"]}
    nodes = {one["name"]: one for one in plan["nodes"]}
    for name in channels:
        entry = planned.get(name)
        if entry is None or not entry["publishers"]:
            raise Error(
                "invalid_config",
                f"cannot intercept '{name}': the plan does not name its publishers",
                file,
                f"add {name}: {{publishers: [NODE]}} under channels:",
            )
        source = f"{name}/{_ENDING}"
        publishers = entry["publishers"]
        for key in _KEPT_KEYS:
            value = entry.get(key)
            if value not in (None, "", 0, False):
                found.append(f"channels.{source}.{key}={_word(value)}")
        found.append(f"channels.{source}.publishers=[{', '.join(publishers)}]")
        found.append(f"channels.{source}.subscribers=[]")
        found.append(f"channels.{name}.publishers=[]")
        for node in publishers:
            renamed = [old for old, new in nodes[node]["remap"].items() if new == name]
            found += [f"nodes.{node}.remap.{old}={source}" for old in renamed or [name]]
    return found


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Faults:
    """The present faults of the intercepted channels. Thread-safe."""

    def __init__(self, channels: Sequence[str], types: Types) -> None:
        self._channels = {f"{name}/{_ENDING}": name for name in channels}
        self._types = types
        self._faults: dict[str, Fault] = {}
        self.lost: Counter[str] = Counter()  # messages that a fault has lost, by channel

    def is_source(self, channel: str) -> bool:
        return channel in self._channels

    @property
    def channels(self) -> list[str]:
        return list(self._channels.values())

    def set(self, channel: str, fault: Fault | None) -> None:
        """Applies a fault to all further messages. None ends it."""
        if channel not in self._channels.values():
            known = ", ".join(self._channels.values()) or "none"
            raise Error(
                "invalid_config",
                f"channel '{channel}' is not intercepted, only {known}",
                channel,
                f"Robot(..., intercept=['{channel}'])",
            )
        if fault is None:
            self._faults.pop(channel, None)
        else:
            self._faults[channel] = fault

    def connect(self, node: Node, offer: Offer, policy: Policy) -> str:
        """Forwards the messages of a source from now on. Returns the channel."""
        name = self._channels[offer.channel]
        publisher = node.publisher(name, Raw(offer.type), policy=offer.policy)

        def forward(value: tuple[Any, Sequence[Any]]) -> None:
            fault = self._faults.get(name)
            if fault is None:
                publisher.publish(value)
                return
            payload, buffers = value
            kept = Kept(0, 0, bytes(payload), tuple(bytes(buffer) for buffer in buffers))
            changed = fault(self._types.value(name, offer.type, kept))
            if changed is None:
                self.lost[name] += 1
                return
            codec = self._types.codec(name, offer.type)
            for one in changed if isinstance(changed, list) else [changed]:
                publisher.publish(codec.encode(one))

        node.subscribe(offer.channel, Raw(offer.type), forward, "inline", policy=policy)
        return name


def lose_all(_message: object) -> None:
    """The fault of a lost channel."""


def lose_share(share: float, seed: int) -> Fault:
    """A fault that loses a random share, the same for the same seed and messages."""
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share:g}: give 0 to 1")
    chance = random.Random(seed)
    return lambda message: None if chance.random() < share else message
