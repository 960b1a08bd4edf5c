"""Faults between a publisher and its subscribers: lost, changed and repeated messages.

A node cannot be changed from outside, but the plan can rename its channels. So the publishers of an
intercepted channel publish on another channel, and the test forwards each message, or not.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Policy
from hyphos.node import Node
from hyphos.publisher import Publisher
from hyphos.testing.inbox import Kept, Offer, Types
from hyphos.types import Raw

_ENDING = "undamaged"  # "scan" → "scan/undamaged"
_KEPT_KEYS = (
    "type",
    "reliability",
    "depth",
    "overflow",
    "latched",
    "latched_depth",
    "lifespan_ms",
    "priority",
    "block_timeout_ms",
)

_NO_DEPTH = ("latched_depth", 1)  # refused on a channel that is not latched

Fault = Callable[[Any], Any]


def key_of(channel: str, to: str | None) -> str:
    """The name of a channel, or of its link to one subscriber, as in `intercept`."""
    return channel if to is None else f"{channel}:{to}"


def names_of(plan: dict[str, Any], intercept: Sequence[str]) -> list[str]:
    """The channels and links to intercept. "*" means each planned channel with publishers."""
    if "*" not in intercept:
        return list(dict.fromkeys(intercept))
    all_of_plan = [one["name"] for one in plan["channels"] if one["publishers"]]
    implied = {one["name"] for one in plan["channels"] if one["implied"]}
    links = [name for name in intercept if name != "*"]
    return list(dict.fromkeys([*(n for n in all_of_plan if n not in implied), *links]))


def settings_of(plan: dict[str, Any], channels: Sequence[str], file: str) -> list[str]:
    """The `--set` arguments that put the test between the publishers and the channels."""
    found: list[str] = []
    planned = {one["name"]: one for one in plan["channels"]}
    nodes = {one["name"]: one for one in plan["nodes"]}
    links: dict[str, list[str]] = {}
    for name in channels:
        entry = planned.get(name)
        channel, _, subscriber = name.rpartition(":")
        if entry is None and channel:
            links.setdefault(channel, []).append(subscriber)
            continue
        if entry is None or not entry["publishers"]:
            raise Error(
                "invalid_config",
                f"cannot intercept '{name}': the plan does not name its publishers",
                file,
                f"add {name}: {{publishers: [NODE]}} under channels:",
            )
        source = f"{name}/{_ENDING}"
        publishers = entry["publishers"]
        found += _policy_of(entry, source)
        found.append(f"channels.{source}.publishers=[{', '.join(publishers)}]")
        found.append(f"channels.{source}.subscribers=[]")
        found.append(f"channels.{name}.publishers=[]")
        for node in publishers:
            renamed = [old for old, new in nodes[node]["remap"].items() if new == name]
            found += [f"nodes.{node}.remap.{old}={source}" for old in renamed or [name]]
    for channel, subscribers in links.items():
        found += _settings_of_links(planned.get(channel), nodes, channel, subscribers, file)
    return found


def _policy_of(entry: dict[str, Any], channel: str) -> list[str]:
    """The settings that give another channel the policy of `entry`."""
    return [
        f"channels.{channel}.{key}={_word(value)}"
        for key in _KEPT_KEYS
        if (value := entry.get(key)) not in (None, "", 0, False) and (key, value) != _NO_DEPTH
    ]


def _settings_of_links(
    entry: dict[str, Any] | None,
    nodes: dict[str, Any],
    channel: str,
    subscribers: Sequence[str],
    file: str,
) -> list[str]:
    """The `--set` arguments that put the test between a channel and some of its subscribers."""
    known = (entry or {}).get("subscribers") or []
    found = []
    for node in subscribers:
        if entry is None or node not in known:
            raise Error(
                "invalid_config",
                f"cannot intercept '{channel}:{node}': the plan does not name '{node}' as a "
                f"subscriber of '{channel}'",
                file,
                f"add {channel}: {{subscribers: [{node}]}} under channels:",
            )
        if node in (entry["publishers"] or []):
            text = f"cannot intercept '{channel}:{node}': '{node}' also publishes the channel"
            raise Error("unsupported", text, file, f"intercept=['{channel}']")
        target = _link(channel, node)
        found += _policy_of(entry, target)
        found.append(f"channels.{target}.publishers=[]")
        found.append(f"channels.{target}.subscribers=[{node}]")
        renamed = [old for old, new in nodes[node]["remap"].items() if new == channel]
        found += [f"nodes.{node}.remap.{old}={target}" for old in renamed or [channel]]
    others = [node for node in known if node not in subscribers]
    found.append(f"channels.{channel}.subscribers=[{', '.join(others)}]")
    return found


def _link(channel: str, subscriber: str) -> str:
    return f"{channel}/to/{subscriber}"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Faults:
    """The present faults of the intercepted channels and links. Thread-safe."""

    def __init__(self, names: Sequence[str], planned: Container[str], types: Types) -> None:
        self._names = list(names)
        self._sources: dict[str, str] = {}  # source → channel
        self._links: dict[str, list[str]] = {}  # channel → subscribers
        for name in names:
            channel, _, subscriber = name.rpartition(":")
            if name in planned or not channel:
                self._sources[f"{name}/{_ENDING}"] = name
            else:
                self._links.setdefault(channel, []).append(subscriber)
        self._opening = threading.Lock()
        self._open: dict[str, list[Publisher[Any]]] = {}  # connected links, by channel
        self._types = types
        self._faults: dict[str, Fault] = {}
        self.lost: Counter[str] = Counter()  # messages that a fault has lost, by name

    def is_source(self, channel: str) -> bool:
        return channel in self._sources

    @property
    def names(self) -> list[str]:
        return self._names

    def set(self, name: str, fault: Fault | None) -> None:
        """Applies a fault to all further messages. None ends it."""
        if name not in self._names:
            known = ", ".join(self._names) or "none"
            raise Error(
                "invalid_config",
                f"'{name}' is not intercepted, only {known}",
                name,
                f"Robot(..., intercept=['{name}'])",
            )
        if fault is None:
            self._faults.pop(name, None)
        else:
            self._faults[name] = fault

    def connect(self, node: Node, offer: Offer, policy: Policy) -> str:
        """Forwards the messages of a source from now on. Returns the channel."""
        name = self._sources[offer.channel]
        self._forward(node, offer, policy, name, name)
        return name

    def connect_links(self, node: Node, offer: Offer, policy: Policy) -> None:
        """Forwards the messages of a channel to its intercepted links from now on. Idempotent."""
        with self._opening:  # the test and the thread that finds channels
            if offer.channel in self._open or offer.channel not in self._links:
                return
            self._open[offer.channel] = [
                self._forward(
                    node, offer, policy, _link(offer.channel, one), key_of(offer.channel, one)
                )
                for one in self._links[offer.channel]
            ]

    def links_of(self, channel: str) -> Sequence[Publisher[Any]]:
        """The publishers of the intercepted links of a channel."""
        return self._open.get(channel, ())

    def targets_of(self, channel: str) -> list[str]:
        """The channels of the intercepted links of a channel."""
        return [_link(channel, one) for one in self._links.get(channel, [])]

    def close(self) -> None:
        """Drops the publishers."""
        self._open.clear()

    def _forward(
        self, node: Node, offer: Offer, policy: Policy, target: str, name: str
    ) -> Publisher[Any]:
        publisher = node.publisher(target, Raw(offer.type), policy=offer.policy)
        channel = self._sources.get(offer.channel, offer.channel)

        def forward(value: tuple[Any, Sequence[Any]]) -> None:
            fault = self._faults.get(name)
            if fault is None:
                publisher.publish(value)
                return
            payload, buffers = value
            kept = Kept(0, 0, bytes(payload), tuple(bytes(buffer) for buffer in buffers))
            changed = fault(self._types.value(channel, offer.type, kept))
            if changed is None:
                self.lost[name] += 1
                return
            codec = self._types.codec(channel, offer.type)
            for one in changed if isinstance(changed, list) else [changed]:
                publisher.publish(codec.encode(one))

        node.subscribe(offer.channel, Raw(offer.type), forward, "inline", policy=policy)
        return publisher


def lose_all(_message: object) -> None:
    """The fault of a lost channel."""


def lose_share(share: float, seed: int) -> Fault:
    """A fault that loses a random share, the same for the same seed and messages."""
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share:g}: give 0 to 1")
    chance = random.Random(seed)
    return lambda message: None if chance.random() < share else message
