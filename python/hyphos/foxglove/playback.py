"""Plays a recording to the clients: play, pause, seek and speed, by Foxglove's protocol.

The messages need no robot. They go from the file through the conversions of offers.py.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import foxglove
from foxglove.websocket import PlaybackCommand, PlaybackControlRequest, PlaybackState
from foxglove.websocket import PlaybackStatus as Status

from hyphos.foxglove import assets, convert
from hyphos.foxglove.offers import Counts, Encode, Note, Shown, Tell, encoder
from hyphos.recording.mcap_file import tally_of
from hyphos.recording.schemas import NOT_CONVERTIBLE, SchemaBook
from hyphos.recording.source import Item, Source, Track, playable

_TICK_S = 0.05  # longest time between two times for the clients
_SLOWEST, _FASTEST = 0.01, 1000.0
_NEAR_NS = (2_000_000_000, 20_000_000_000)  # parts before a seek that are searched for values
_MOST_BEFORE = 500  # messages of one channel that build on each other
# A message of these types is only a part of the value.
_IN_PARTS = ("hyphos.msgs.TfMessage", "hyphos.msgs.Marker", "hyphos.msgs.MarkerArray")


@dataclass
class RecordedChannel(Shown):
    """One channel of a recording."""

    track: Track = field(kw_only=True)
    encode: Encode | None = None


class RecordedOffers:
    """Offers the channels of a recording. chosen() and left() are thread-safe, the rest is for one
    thread."""

    def __init__(
        self, source: Source, context: foxglove.Context, schemas: SchemaBook, *, raw: bool = False
    ) -> None:
        self._lock = threading.Lock()
        self._clients: dict[int, set[int]] = {}
        self._fresh: set[int] = set()
        self._changed = False
        self.by_name: dict[str, RecordedChannel] = {}
        for track in source.tracks:
            name, number = track.channel, 2
            while name in self.by_name:
                name, number = f"{track.channel} ({number})", number + 1
            self.by_name[name] = self._offer(name, track, context, schemas, raw)
        self.counts = {name: offer.counts for name, offer in self.by_name.items()}

    def _offer(
        self, name: str, track: Track, context: foxglove.Context, schemas: SchemaBook, raw: bool
    ) -> RecordedChannel:
        def refused(reason: str) -> RecordedChannel:
            return RecordedChannel(Counts(), "", reason, track=track)

        if track.problem:
            return refused(track.problem)
        if track.encoding not in ("protobuf", "attached"):
            return refused(f"Foxglove cannot read {track.encoding}")
        known = None if raw else convert.WELL_KNOWN.get((track.type_name, track.encoding))
        if known is not None:
            schema = known.schema
        else:
            data = track.descriptors or self._described(track, schemas)
            if not data:
                return refused("the recording has no definition of its type")
            schema = foxglove.Schema(name=track.type_name, encoding="protobuf", data=data)
        channel = foxglove.Channel(
            name, message_encoding="protobuf", schema=schema, context=context
        )
        encode = encoder(track.type_name, track.encoding, known)
        return RecordedChannel(
            Counts(), schema.name, known=known, channel=channel, track=track, encode=encode
        )

    @staticmethod
    def _described(track: Track, schemas: SchemaBook) -> bytes:
        spec = schemas.spec(
            track.channel, track.type_name, track.encoding, track.type_hash or 0, track.policy
        )
        return spec.schema_data

    def chosen(self, client: int, channel: int) -> None:
        with self._lock:
            self._clients.setdefault(channel, set()).add(client)
            self._fresh.add(channel)
            self._changed = True

    def left(self, client: int, channel: int) -> None:
        with self._lock:
            self._clients.setdefault(channel, set()).discard(client)
            self._changed = True

    def news(self) -> tuple[list[RecordedChannel], list[RecordedChannel]] | None:
        """The channels that clients display, and those among them with a new client. None if
        nothing has changed since the last call."""
        with self._lock:
            if not self._changed:
                return None
            counts = {number: len(clients) for number, clients in self._clients.items()}
            fresh, self._fresh, self._changed = self._fresh, set(), False
        wanted, renewed = [], []
        for offer in self.by_name.values():
            number = offer.channel.id() if offer.channel is not None else -1
            offer.clients = counts.get(number, 0)
            if offer.clients:
                wanted.append(offer)
                if number in fresh:
                    renewed.append(offer)
        return wanted, renewed


Say = Callable[[PlaybackState], None]


class Player:
    """Plays the wanted channels of a recording in a thread of its own, from construction to
    close(). It is paused at first. Thread-safe.

    `say` gets each new state before the messages that follow it. `tick` gets the present time of
    the recording while it plays, and `tell` a message that cannot be shown, in that thread.
    """

    def __init__(
        self,
        source: Source,
        say: Say,
        tick: Callable[[int], None],
        tell: Tell,
        *,
        at_ns: int | None = None,
        note: Note | None = None,
    ) -> None:
        self._note = note
        self._source = source
        self._say = say
        self._tick = tick
        self._tell = tell
        self._lock = threading.Condition()
        # Guarded by _lock.
        self._status = Status.Paused
        self._position_ns = source.start_ns if at_ns is None else at_ns
        self._speed = 1.0
        self._wanted: list[RecordedChannel] = []
        self._renewed: list[RecordedChannel] = []
        self._generation = 0  # of these values, for the thread
        self._closed = False
        self._next_tick_s = 0.0  # only for the thread
        self.sent = 0
        self._thread = threading.Thread(target=self._run, name="playback", daemon=True)
        self._thread.start()

    def want(self, wanted: list[RecordedChannel], renewed: list[RecordedChannel]) -> None:
        """Sets the channels to play. Those that are new get their values at the present time."""
        with self._lock:
            self._wanted = wanted
            self._renewed += renewed
            self._change()

    def play(self) -> None:
        with self._lock:
            self._status = Status.Playing
            self._say(self._state())
            self._change()

    def request(self, wish: PlaybackControlRequest) -> PlaybackState:
        """Carries out a request of a client. Returns the reply to it.

        All clients get the new state first, and the thread continues only then. A client that
        forgets everything at a jump would otherwise forget the values that follow.
        """
        with self._lock:
            if _SLOWEST <= wish.playback_speed <= _FASTEST:
                self._speed = wish.playback_speed
            seek = wish.seek_time
            playing = wish.playback_command == PlaybackCommand.Play
            if seek is None and playing and self._status == Status.Ended:
                seek = self._source.start_ns
            if seek is not None:
                last = max(self._source.start_ns, self._source.end_ns - 1)
                self._position_ns = min(max(seek, self._source.start_ns), last)
                self._renewed = list(self._wanted)
            self._status = Status.Playing if playing else Status.Paused
            self._say(self._state(did_seek=seek is not None, request_id=wish.request_id))
            self._change()
            return self._state(request_id=wish.request_id)

    def state(self) -> PlaybackState:
        with self._lock:
            return self._state()

    def _state(self, *, did_seek: bool = False, request_id: str | None = None) -> PlaybackState:
        return PlaybackState(self._status, self._position_ns, self._speed, did_seek, request_id)

    def _change(self) -> None:
        self._generation += 1
        self._lock.notify_all()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._change()
        self._thread.join()

    # --- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        done = -1  # the last generation that this thread has followed
        while (work := self._next(done)) is not None:
            done, renewed, at_ns = work
            for offer, item in before(self._source, renewed, at_ns):
                self._send(offer, item, at_ns)
            if renewed:
                self._tick(at_ns)
            if self._is_playing and self._play(done, at_ns):
                self._end(done)

    def _next(self, done: int) -> tuple[int, list[RecordedChannel], int] | None:
        """Waits for a change. None at the end."""
        with self._lock:
            self._lock.wait_for(lambda: self._generation != done)
            if self._closed:
                return None
            renewed, self._renewed = self._renewed, []
            return self._generation, renewed, self._position_ns

    @property
    def _is_playing(self) -> bool:
        with self._lock:
            return self._status == Status.Playing

    def _end(self, generation: int) -> None:
        with self._lock:
            if self._generation != generation:
                return
            self._status = Status.Ended
            state = self._state()
        self._say(state)

    def _play(self, generation: int, start_ns: int) -> bool:
        """Plays until the end, and returns True, or until something changes."""
        with self._lock:
            speed = self._speed
            offers = {id(offer.track): offer for offer in self._wanted}
        begin_s = time.monotonic()
        items = self._source.items(lambda track: id(track) in offers, start_ns, self._source.end_ns)
        for item in playable(self._source, items):
            due_s = begin_s + (item.time_ns - start_ns) / 1e9 / speed
            if not self._wait(generation, due_s, item.time_ns, speed):
                return False
            self._send(offers[id(item.track)], item, item.time_ns)
        due_s = begin_s + (self._source.end_ns - start_ns) / 1e9 / speed
        return self._wait(generation, due_s, self._source.end_ns, speed)

    def _wait(self, generation: int, due_s: float, time_ns: int, speed: float) -> bool:
        """Waits for the time of a message, and lets the position advance. False after a change."""
        while True:
            left_s = due_s - time.monotonic()
            with self._lock:
                if self._generation != generation:
                    return False
                self._position_ns = time_ns - max(0, int(left_s * speed * 1e9))
                position_ns = self._position_ns
                if left_s > 0:
                    self._lock.wait_for(
                        lambda: self._generation != generation, min(left_s, _TICK_S)
                    )
            self._tell_time(position_ns)
            if left_s <= 0:
                return True

    def _tell_time(self, time_ns: int) -> None:
        """Bounded in rate, as there may be thousands of messages in a second."""
        now_s = time.monotonic()
        if now_s >= self._next_tick_s:
            self._next_tick_s = now_s + _TICK_S / 2
            self._tick(time_ns)

    def _send(self, offer: RecordedChannel, item: Item, time_ns: int) -> None:
        assert offer.channel is not None
        assert offer.encode is not None
        offer.counts.received += 1
        try:
            data = offer.encode(item.payload, item.buffers, item.time_ns)
        except NOT_CONVERTIBLE as problem:
            offer.counts.unshown += 1
            self._tell(offer.track.channel, f"cannot be shown: {problem}")
            return
        if self._note is not None and offer.schema in assets.SCHEMAS:
            self._note(offer.track.channel, offer.schema, data)
        offer.channel.log(data, log_time=max(0, time_ns))
        self.sent += 1


def before(
    source: Source, offers: Sequence[RecordedChannel], at_ns: int
) -> Iterator[tuple[RecordedChannel, Item]]:
    """The values of channels at a time, in order of time: the newest message of each, and the
    messages of the last seconds where a message is only a part. Latched channels are searched up
    to the start of the recording, others for 20 s."""
    found: list[tuple[RecordedChannel, Item]] = []
    missing = {id(offer.track): offer for offer in offers}
    for near_ns in (*_NEAR_NS, None):
        searched = {
            key: offer
            for key, offer in missing.items()
            if near_ns is not None or offer.track.policy.get("latched")
        }
        if not searched:
            continue
        start_ns = source.start_ns if near_ns is None else max(source.start_ns, at_ns - near_ns)
        items = source.items(lambda track: id(track) in searched, start_ns, at_ns + 1)  # noqa: B023
        for key, last in _last(playable(source, items)).items():
            found += [(searched[key], item) for item in last]
            del missing[key]
    yield from sorted(found, key=lambda one: one[1].time_ns)


def _last(items: Iterable[Item]) -> dict[int, Sequence[Item]]:
    """The last message of each track, or its last messages if each is a part."""
    found: dict[int, deque[Item]] = {}
    for item in items:
        parts = item.track.type_name in _IN_PARTS
        kept = found.setdefault(id(item.track), deque(maxlen=_MOST_BEFORE if parts else 1))
        kept.append(item)
    return {key: list(last) for key, last in found.items()}


_LOSSES = ("missing", "drop_queue", "drop_disk", "drop_convert")  # of the recorder


def recorded_rows(source: Source, offers: RecordedOffers) -> dict[str, dict[str, Any]]:
    """The rows of the table of channels: means over the recording, and the losses that its recorder
    has counted."""
    seconds = max(1e-9, (source.end_ns - source.start_ns) / 1e9)
    summary: dict[str, str] = getattr(source, "summary", {})
    rows = {}
    for name, offer in offers.by_name.items():
        counted = tally_of(summary.get(offer.track.channel, "")).items()
        counters = {name: count for name, count in counted if count >= 0}
        rows[name] = {
            "type": offer.track.type_name or offer.track.encoding,
            "sent": offer.track.count,
            "rate_hz": round(offer.track.count / seconds, 3),
            "bytes_s": round(counters.get("bytes", 0) / seconds),
            "drops": {key: counters[key] for key in _LOSSES if counters.get(key)},
        }
    return rows
