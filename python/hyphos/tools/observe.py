"""Figures about a running robot, from shared memory alone: rates, latencies and drops between two
looks. Observing costs the observed processes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, ProcessInfo

Key = tuple[int, int]  # participant, end: one that is opened later has another number


INTERNAL = "hyphos/"  # channels of services and actions; hyphos.tools.services shows them


@dataclass
class Look:
    """What was seen at one time."""

    time_s: float
    processes: list[ProcessInfo]

    def ends(self, channel: str | None = None) -> Iterator[tuple[ProcessInfo, EndpointInfo]]:
        """The ends of one channel, or of all that are no part of a service."""
        for process in self.processes:
            for end in process.endpoints:
                if end.channel == channel or (
                    channel is None and not end.channel.startswith(INTERNAL)
                ):
                    yield process, end

    def by_key(self) -> dict[Key, EndpointInfo]:
        """The same, to be found again in another look."""
        return {key_of(process, end): end for process, end in self.ends()}

    def internal_ends(self) -> Iterator[tuple[ProcessInfo, EndpointInfo]]:
        """The ends of the channels that services and actions are made of."""
        for process in self.processes:
            for end in process.endpoints:
                if end.channel.startswith(INTERNAL):
                    yield process, end


def look(domain: str) -> Look:
    return Look(time.monotonic(), _hyphos.inspect(domain))


@dataclass
class Delays:
    """A merged histogram of several subscriptions."""

    buckets: dict[int, int] = field(default_factory=dict)

    def add(self, histogram: _hyphos.Histogram) -> None:
        for edge, count in histogram.buckets:
            self.buckets[edge] = self.buckets.get(edge, 0) + count

    @property
    def count(self) -> int:
        return sum(self.buckets.values())

    def percentile_ns(self, fraction: float) -> int:
        wanted, seen = fraction * self.count, 0
        for edge in sorted(self.buckets):
            seen += self.buckets[edge]
            if seen >= wanted:
                return edge
        return 0

    def text(self, fraction: float) -> str:
        return duration(self.percentile_ns(fraction)) if self.count else "–"

    def as_dict(self) -> dict[str, int]:
        percentiles = {"p50": self.percentile_ns(0.5), "p99": self.percentile_ns(0.99)}
        return {"count": self.count, **percentiles}


@dataclass
class ChannelState:
    """A channel over all processes, between two looks."""

    name: str
    type_name: str = ""
    encoding: str = ""
    publishers: int = 0
    subscribers: int = 0
    transports: str = ""
    sent: int = 0  # in all
    received: int = 0
    dropped: int = 0
    rate_hz: float = 0.0  # between the looks
    published_mb_s: float = 0.0  # what left the publishers' processes, encoded
    taken_mb_s: float = 0.0  # what the busiest subscription got
    encoded: bool = False  # some end sends or takes bytes; else only pointers travel
    delays: Delays = field(default_factory=Delays)

    @property
    def megabytes_per_s(self) -> float:
        """Publishers count no bytes while only pointers travel; then those of subscribers count."""
        return max(self.published_mb_s, self.taken_mb_s)

    @property
    def megabytes_text(self) -> str:
        """For tables: a dash where nothing is encoded, since there are no bytes to count."""
        counted = self.encoded or self.megabytes_per_s > 0
        return f"{self.megabytes_per_s:.2f}" if counted else "–"


def drops_of(end: EndpointInfo) -> int:
    return sum(count for name, count in end.counters if name.startswith("drop."))


def key_of(process: ProcessInfo, end: EndpointInfo) -> Key:
    return process.participant, end.id


def growth(end: EndpointInfo, earlier: EndpointInfo | None, counter: str) -> int:
    """The growth of a counter of an endpoint since an earlier look. A new endpoint has counted from
    0."""
    return end.counter(counter) - (earlier.counter(counter) if earlier is not None else 0)


def encodes(end: EndpointInfo) -> bool:
    """Whether this end of a channel handles messages as bytes: some other process takes part."""
    return any(way not in ("", "pointer") for way in end.transports.split("+"))


def join_transports(words: Iterable[str]) -> str:
    """ "pointer+shm", in the order of the way."""
    order = {"pointer": 0, "shm": 1, "zmq": 2}
    return "+".join(sorted({w for w in words if w}, key=lambda w: (order.get(w, 9), w)))


def is_hidden(channel: str) -> bool:
    """Channels that Hyphos itself uses have a word that begins with '_': "mapper/_params"."""
    return any(word.startswith("_") for word in channel.split("/"))


def matches(channel: str, patterns: Sequence[str], exclude: Sequence[str] = ()) -> bool:
    """Whether a channel is meant: named by a pattern and not excluded. What Hyphos itself uses is
    meant only if it is asked for: "*/_params"."""
    asked = [p for p in patterns if is_hidden(p) or not is_hidden(channel)]
    named = any(fnmatchcase(channel, pattern) for pattern in asked)
    return named and not any(fnmatchcase(channel, pattern) for pattern in exclude)


def states(
    now: Look, before: Look | None = None, *, hidden: bool = False
) -> dict[str, ChannelState]:
    """Every channel by name. Without an earlier look, rates are 0 and delays since the start."""
    old = before.by_key() if before is not None else {}
    seconds = now.time_s - before.time_s if before is not None else 0.0
    found: dict[str, ChannelState] = {}
    transports: dict[str, list[str]] = {}
    for process, end in now.ends():
        if is_hidden(end.channel) and not hidden:
            continue
        state = found.setdefault(end.channel, ChannelState(end.channel))
        earlier = old.get(key_of(process, end))
        _add_end(state, end, earlier, seconds)
        transports.setdefault(end.channel, []).extend(end.transports.split("+"))
    for name, words in transports.items():
        found[name].transports = join_transports(words)
    return dict(sorted(found.items()))


def _add_end(
    state: ChannelState, end: EndpointInfo, earlier: EndpointInfo | None, seconds: float
) -> None:
    state.type_name = state.type_name or end.type_name
    state.encoding = state.encoding or end.encoding
    state.dropped += drops_of(end)
    state.encoded = state.encoded or encodes(end)
    if end.is_publisher:
        state.publishers += 1
        state.sent += end.counter("sent")
    else:
        state.subscribers += 1
        state.received += end.counter("received")
        state.delays.add(end.latency.since(earlier.latency) if earlier else end.latency)
    if seconds <= 0:
        return
    megabytes_per_s = growth(end, earlier, "bytes") / seconds / 1e6
    state.encoded = state.encoded or megabytes_per_s > 0
    if end.is_publisher:
        state.rate_hz += growth(end, earlier, "sent") / seconds
        state.published_mb_s += megabytes_per_s
    else:
        state.taken_mb_s = max(state.taken_mb_s, megabytes_per_s)


def nobody(domain: str, advice: str = "start one, or give its --domain") -> Error:
    return Error(
        "not_found", f"no Hyphos process runs in domain '{domain}' on this machine", advice=advice
    )


def call_name(channel: str, kind: str) -> str | None:
    """The service or action (`kind`) that this internal channel is a part of. None if it is none,
    or one with which Hyphos itself sets parameters."""
    prefix = f"{INTERNAL}{kind}/"
    name = channel.removeprefix(prefix).rpartition("/")[0]
    return name if channel.startswith(prefix) and not is_hidden(name) else None


def require_channel(now: Look, name: str, domain: str) -> None:
    """Error with what there is, if nobody publishes or subscribes `name`."""
    if any(now.ends(name)):
        return
    names = sorted({end.channel for _, end in now.ends() if not is_hidden(end.channel)})
    if not now.processes:
        raise nobody(domain)
    there = f"there are {', '.join(names)}" if names else "the processes there have none"
    raise Error(
        "not_found",
        f"there is no channel '{name}'; {there}",
        advice="hyphos channel list",
    )


def duration(ns: float) -> str:
    """42 ns, 13.4 µs, 1.25 ms, 3.1 s: three digits."""
    for limit, unit in ((1e3, "ns"), (1e6, "µs"), (1e9, "ms")):
        if ns < limit:
            return f"{ns / (limit / 1e3):.3g} {unit}"
    return f"{ns / 1e9:.3g} s"
