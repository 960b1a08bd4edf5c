"""The robot's channels for Foxglove: the offered channels, and subscriptions to those that clients
display."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import foxglove

from hyphos._errors import Error
from hyphos._hyphos import Buffer, EndpointInfo, MessageInfo, Policy
from hyphos.foxglove import assets, convert
from hyphos.foxglove.times import RobotTime
from hyphos.node import Node
from hyphos.observe import Look, matches
from hyphos.recording.attached import join
from hyphos.recording.schemas import NOT_CONVERTIBLE, SchemaBook
from hyphos.tools.join import raw_type
from hyphos.tools.log import Gaps

# Bytes that may wait in shared memory while an earlier message is converted. Python converts 10,000
# small messages per second, so bursts fit, and waiting messages are never old.
_LANE_BYTES = 8 << 20
_LEAST_DEPTH, _MOST_DEPTH = 2, 1024
_DEPTH_OF = {"attached": 4}  # while the size of messages is unknown
_USUAL_DEPTH = 128
_LOOKS = 2  # a channel missing in this many snapshots is gone

Tell = Callable[[str, str], None]  # channel, text
Note = Callable[[str, str, bytes], None]  # channel, schema, message for the clients


def _depth(end: EndpointInfo) -> int:
    sent, size = end.counter("sent"), end.counter("bytes")
    if not sent or not size:
        return _DEPTH_OF.get(end.encoding, _USUAL_DEPTH)
    return min(_MOST_DEPTH, max(_LEAST_DEPTH, _LANE_BYTES // max(1, size // sent)))


Key = tuple[str, str, int]  # type, encoding, its hash


def _key(end: EndpointInfo) -> Key:
    return end.type_name, end.encoding, end.type_hash


@dataclass
class Counts:
    """Counters of a channel's messages. May be read from any thread."""

    received: int = 0
    unshown: int = 0  # received, but not convertible for Foxglove
    lost_before: int = 0  # losses of subscriptions that have ended
    gaps: Gaps = field(default_factory=Gaps)

    @property
    def lost(self) -> int:
        """Numbered messages that did not arrive during a subscription."""
        return self.lost_before + self.gaps.lost


@dataclass
class Shown:
    """One channel of a robot or a recording, offered or not."""

    counts: Counts
    schema: str  # name of the schema, "" if the channel cannot be shown
    why_not: str = ""
    known: convert.WellKnown | None = None
    channel: foxglove.Channel | None = None
    clients: int = 0  # number of clients that display it


@dataclass
class Offer(Shown):
    """One channel of the robot."""

    end: EndpointInfo = field(kw_only=True)
    # Each subscription has its own node. A node's former subscriptions stay on the robot's lists as
    # long as the node. This node is closed with the last client.
    listener: Node | None = None
    absent: int = 0  # snapshots in which the channel was missing


Encode = Callable[[Any, Sequence[Any], int], bytes]


def encoder(type_name: str, encoding: str, known: convert.WellKnown | None) -> Encode:
    """A function from (payload, attached buffers, time in ns) to the bytes for clients."""
    if known is not None:
        return convert.encoder(type_name, known)
    if encoding == "attached":
        return lambda payload, buffers, _: join(bytes(payload), buffers)
    return lambda payload, _buffers, _stamp: bytes(payload)


class Offers:
    """Offers the robot's channels to Foxglove, and subscribes to a channel only while a client has
    chosen it.

    discover() and settle() are for one thread. The server calls chosen() and left() in its threads.
    """

    def __init__(
        self,
        node: Node,
        context: foxglove.Context,
        schemas: SchemaBook,
        time: RobotTime,
        tell: Tell,
        *,
        patterns: Sequence[str] = ("*",),
        exclude: Sequence[str] = (),
        raw: bool = False,
        note: Note | None = None,
    ) -> None:
        self._note = note
        self._node = node
        self._context = context
        self._schemas = schemas
        self._time = time
        self._tell = tell
        self._patterns = patterns
        self._exclude = exclude
        self._raw = raw
        self._lock = threading.Lock()
        self._by_id: dict[int, Offer] = {}
        self._numbers = itertools.count(1)
        # Guarded by _lock: clients by channel, and the channels whose clients have changed. A
        # client may choose a channel before the offer is registered here.
        self._clients: dict[int, set[int]] = {}
        self._news: set[int] = set()
        self.by_name: dict[str, Offer] = {}
        self.counts: dict[str, Counts] = {}  # by channel, including channels that are gone

    def discover(self, now: Look) -> None:
        """Offers channels that have appeared, and withdraws those that are gone."""
        ends: dict[str, EndpointInfo] = {}
        for _, end in now.ends():
            if end.is_publisher and matches(end.channel, self._patterns, self._exclude):
                ends.setdefault(end.channel, end)
        for name, offer in list(self.by_name.items()):
            there = name in ends and _key(ends[name]) == _key(offer.end)
            offer.absent = 0 if there else offer.absent + 1
            if offer.absent >= _LOOKS or (not there and name in ends):
                self._withdraw(name)
        for name in sorted(ends.keys() - self.by_name.keys()):
            self._offer(ends[name])

    def _offer(self, end: EndpointInfo) -> None:
        offer = self._describe(end)
        self.by_name[end.channel] = offer
        if offer.channel is not None:
            self._by_id[offer.channel.id()] = offer

    def _describe(self, end: EndpointInfo) -> Offer:
        counts = self.counts.setdefault(end.channel, Counts())
        if end.encoding not in ("protobuf", "attached"):
            return Offer(counts, "", f"Foxglove cannot read {end.encoding}", end=end)
        known = None if self._raw else convert.WELL_KNOWN.get((end.type_name, end.encoding))
        metadata = {"hyphos.type": end.type_name, "hyphos.encoding": end.encoding}
        if known is not None:
            schema = known.schema
        else:
            policy: dict[str, object] = {"latched": end.policy.latched}
            spec = self._schemas.spec(
                end.channel, end.type_name, end.encoding, end.type_hash, policy
            )
            if not spec.schema_data:
                why_not = "no process announces its type: give --proto-path or --descriptor"
                return Offer(counts, "", why_not, end=end)
            schema = foxglove.Schema(
                name=end.type_name, encoding=spec.schema_encoding, data=spec.schema_data
            )
        metadata["hyphos.policy"] = json.dumps({"latched": end.policy.latched})
        channel = foxglove.Channel(
            end.channel,
            message_encoding="protobuf",
            schema=schema,
            context=self._context,
            metadata=metadata,
        )
        return Offer(counts, schema.name, known=known, channel=channel, end=end)

    def _withdraw(self, name: str) -> None:
        offer = self.by_name.pop(name)
        self._listen(offer, False)
        if offer.channel is not None:
            self._by_id.pop(offer.channel.id(), None)
            offer.channel.close()

    def chosen(self, client: int, channel: int) -> None:
        """Registers a client of a channel. Returns at once: settle() subscribes."""
        self._change(channel, lambda clients: clients.add(client))

    def left(self, client: int, channel: int) -> None:
        """Removes a client of a channel."""
        self._change(channel, lambda clients: clients.discard(client))

    def _change(self, channel: int, change: Callable[[set[int]], None]) -> None:
        with self._lock:
            change(self._clients.setdefault(channel, set()))
            self._news.add(channel)

    def settle(self) -> None:
        """Starts and ends subscriptions as the clients requested."""
        with self._lock:
            news = {channel: len(self._clients[channel]) for channel in self._news}
            self._news = {
                channel for channel in news if news[channel] and channel not in self._by_id
            }
            for channel, clients in news.items():
                if not clients:
                    del self._clients[channel]
        for channel, clients in news.items():
            offer = self._by_id.get(channel)
            if offer is None:
                continue
            offer.clients, wanted = clients, clients > 0
            if wanted and offer.listener is not None and offer.end.policy.latched:
                self._listen(offer, False)  # so that the new client also gets the last values
            self._listen(offer, wanted)

    def _listen(self, offer: Offer, wanted: bool) -> None:
        if wanted == (offer.listener is not None):
            return
        if offer.listener is not None:
            offer.listener.close()
            offer.listener = None
            offer.counts.lost_before += offer.counts.gaps.lost
            offer.counts.gaps = Gaps()
            return
        end = offer.end
        # Always best effort: a viewer must not block the robot.
        policy = Policy(latched=end.policy.latched, depth=_depth(end))
        listener = self._node.runtime.node(f"{self._node.name}-{next(self._numbers)}")
        try:
            listener.subscribe(end.channel, raw_type(end), self._forwarder(offer), policy=policy)
            offer.listener = listener
        except Error as problem:
            listener.close()
            self._tell(end.channel, f"cannot subscribe: {problem}")

    def _forwarder(self, offer: Offer) -> Callable[..., None]:
        channel, counts, name = offer.channel, offer.counts, offer.end.channel
        encode = encoder(offer.end.type_name, offer.end.encoding, offer.known)
        note = self._note if offer.schema in assets.SCHEMAS else None
        schema = offer.schema
        assert channel is not None

        def forward(value: tuple[Buffer, list[Buffer]], info: MessageInfo) -> None:
            counts.received += 1
            counts.gaps.add(info)
            stamp_ns = self._time.of(info)
            try:
                data = encode(value[0], value[1], stamp_ns)
            except NOT_CONVERTIBLE as problem:
                counts.unshown += 1
                self._tell(name, f"cannot be shown: {problem}")
                return
            if note is not None:
                note(name, schema, data)
            channel.log(data, log_time=stamp_ns)

        return forward

    def close(self) -> None:
        """Ends all subscriptions and withdraws all channels."""
        for name in list(self.by_name):
            self._withdraw(name)
