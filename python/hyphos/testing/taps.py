"""Subscribes the node of the test to the channels of the robot, as they appear."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from hyphos._hyphos import MessageInfo, Policy
from hyphos.node import Node
from hyphos.observe import is_hidden, matches
from hyphos.testing.faults import Faults
from hyphos.testing.inbox import Inbox, Kept, Limits, Offer, Types
from hyphos.types import Raw


class Taps:
    """The inboxes of all channels. `policy_of` returns the policy of a subscription of the test."""

    def __init__(
        self,
        node: Node,
        patterns: Sequence[str],
        types: Types,
        limits: Limits,
        faults: Faults,
        changed: threading.Condition,
        policy_of: Callable[[Offer], Policy],
    ) -> None:
        self._node = node
        self._patterns = patterns
        self._types = types
        self._limits = limits
        self._faults = faults
        self._changed = changed
        self._policy_of = policy_of
        self._open: set[str] = set()
        self.inboxes: dict[str, Inbox] = {}

    def inbox(self, channel: str) -> Inbox:
        """The inbox of a channel, which may still have no publisher."""
        with self._changed:
            if channel not in self.inboxes:
                self.inboxes[channel] = Inbox(channel, self._changed, self._limits)
            return self.inboxes[channel]

    def subscribe_given(self) -> None:
        """Subscribes to the channels whose types the test gives, before their publishers exist."""
        for channel in self._types.given_channels:
            codec = self._types.given(channel)
            if codec is not None:
                self._add(Offer(channel, codec.id, Policy()))

    def discover(self, offers: Sequence[Offer]) -> None:
        for offer in offers:
            if offer.channel in self._open or is_hidden(offer.channel):
                continue
            self.connect_links(offer)
            if self._faults.is_source(offer.channel):
                self._open.add(offer.channel)
                channel = self._faults.connect(self._node, offer, self._policy_of(offer))
                forwarded = Offer(channel, offer.type, offer.policy)
                self._add(forwarded)
                self.connect_links(forwarded)
            elif offer.channel in self.inboxes or matches(offer.channel, self._patterns):
                self._add(offer)

    def connect_links(self, offer: Offer) -> None:
        """Forwards the channel to its intercepted links from now on."""
        self._faults.connect_links(self._node, offer, self._policy_of(offer))

    def close(self) -> None:
        """Drops the node. The messages stay."""
        self._faults.close()
        del self._node, self._policy_of

    def is_open(self, channel: str) -> bool:
        return channel in self._open

    def _add(self, offer: Offer) -> None:
        self._open.add(offer.channel)
        inbox = self.inbox(offer.channel)
        inbox.type, inbox.policy = offer.type, offer.policy
        clock = self._node.clock

        def keep(value: tuple[Any, Sequence[Any]], info: MessageInfo) -> None:
            payload, buffers = value
            copies = tuple(bytes(buffer) for buffer in buffers)
            inbox.add(Kept(clock.now_ns(), info.sequence, bytes(payload), copies))

        policy = self._policy_of(offer)
        self._node.subscribe(offer.channel, Raw(offer.type), keep, "inline", policy=policy)
