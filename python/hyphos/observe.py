"""Rates, latencies and drops of a running robot, from two snapshots of shared memory.

Observing costs the observed processes nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, ProcessInfo

Key = tuple[int, int]  # participant, endpoint: an endpoint that is opened later has another number


_MOST_DOMAINS = 8  # in an error
INTERNAL = "hyphos/"  # channels of services and actions: hyphos.tools.services shows them


@dataclass
class Look:
    """A snapshot of all processes at one time."""

    time_s: float
    processes: list[ProcessInfo]

    def ends(self, channel: str | None = None) -> Iterator[tuple[ProcessInfo, EndpointInfo]]:
        """The endpoints of one channel, or of all channels except those of services and actions."""
        for process in self.processes:
            for end in process.endpoints:
                if end.channel == channel or (
                    channel is None and not end.channel.startswith(INTERNAL)
                ):
                    yield process, end

    def by_key(self) -> dict[Key, EndpointInfo]:
        """The endpoints by key, to find them again in another snapshot."""
        return {key_of(process, end): end for process, end in self.ends()}

    def internal_ends(self) -> Iterator[tuple[ProcessInfo, EndpointInfo]]:
        """The endpoints of the channels that implement services and actions."""
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
    """A channel over all processes, between two snapshots."""

    name: str
    type_name: str = ""
    encoding: str = ""
    publishers: int = 0
    subscribers: int = 0
    transports: str = ""
    sent: int = 0  # in total
    received: int = 0
    dropped: int = 0
    rate_hz: float = 0.0  # between the snapshots
    published_mb_s: float = 0.0  # encoded bytes that left the publishers' processes
    taken_mb_s: float = 0.0  # of the busiest subscription
    encoded: bool = False  # an endpoint handles bytes, not only pointers
    delays: Delays = field(default_factory=Delays)

    @property
    def megabytes_per_s(self) -> float:
        """Subscribers' bytes count if publishers count none, as only pointers leave them."""
        return max(self.published_mb_s, self.taken_mb_s)

    @property
    def megabytes_text(self) -> str:
        """For tables: a dash if nothing is encoded, since there are no bytes to count."""
        counted = self.encoded or self.megabytes_per_s > 0
        return f"{self.megabytes_per_s:.2f}" if counted else "–"


def drops_of(end: EndpointInfo) -> int:
    return sum(count for name, count in end.counters if name.startswith("drop."))


def key_of(process: ProcessInfo, end: EndpointInfo) -> Key:
    return process.participant, end.id


def growth(end: EndpointInfo, earlier: EndpointInfo | None, counter: str) -> int:
    """The growth of an endpoint's counter since an earlier snapshot, or since 0 if it is new."""
    return end.counter(counter) - (earlier.counter(counter) if earlier is not None else 0)


def encodes(end: EndpointInfo) -> bool:
    """True if this endpoint handles messages as bytes, for another process."""
    return any(way not in ("", "pointer") for way in end.transports.split("+"))


def join_transports(words: Iterable[str]) -> str:
    """ "pointer+shm", ordered from the fastest transport to the slowest."""
    order = {"pointer": 0, "shm": 1, "zmq": 2}
    return "+".join(sorted({w for w in words if w}, key=lambda w: (order.get(w, 9), w)))


def is_hidden(channel: str) -> bool:
    """True for channels of Hyphos itself: a word begins with '_', as in "mapper/_params"."""
    return any(word.startswith("_") for word in channel.split("/"))


def matches(channel: str, patterns: Sequence[str], exclude: Sequence[str] = ()) -> bool:
    """True if a pattern names the channel and none excludes it. A channel of Hyphos itself needs a
    pattern of its own: "*/_params"."""
    asked = [p for p in patterns if is_hidden(p) or not is_hidden(channel)]
    named = any(fnmatchcase(channel, pattern) for pattern in asked)
    return named and not any(fnmatchcase(channel, pattern) for pattern in exclude)


def states(
    now: Look, before: Look | None = None, *, hidden: bool = False
) -> dict[str, ChannelState]:
    """All channels by name. Without `before`, rates are 0 and delays count from the start."""
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


def running_domains() -> dict[str, int]:
    """The domains of this machine, with the number of their processes. Empty if shared memory
    cannot be read."""
    try:
        listing = _hyphos.shm_list("")
    except RuntimeError:
        return {}
    return dict(sorted(Counter(one.domain for one in listing.participants if one.alive).items()))


def domains_text(but: str) -> str:
    """ "Processes run in domain '7' (1), 'rover' (2)", without the domain `but`. Or ""."""
    found = [(name, count) for name, count in running_domains().items() if name != but]
    if not found:
        return ""
    names = ", ".join(f"'{name}' ({count})" for name, count in found[:_MOST_DOMAINS])
    more = f" and {len(found) - _MOST_DOMAINS} more" if len(found) > _MOST_DOMAINS else ""
    return f"Processes run in domain {names}{more}"


def nobody(domain: str, advice: str = "start one, or give its --domain") -> Error:
    others = domains_text(domain)
    text = f"no Hyphos process runs in domain '{domain}' on this machine"
    if others:
        advice = "give --domain, or set HYPHOS_DOMAIN"
    return Error("not_found", f"{text}. {others}" if others else text, advice=advice)


def call_name(channel: str, kind: str) -> str | None:
    """The name of the service or action (`kind`) that this internal channel belongs to.

    None for other channels, and for the services with which Hyphos sets parameters.
    """
    prefix = f"{INTERNAL}{kind}/"
    name = channel.removeprefix(prefix).rpartition("/")[0]
    return name if channel.startswith(prefix) and not is_hidden(name) else None


def require_channel(now: Look, name: str, domain: str) -> None:
    """Raises an error that lists the channels, unless `name` has an endpoint."""
    if any(now.ends(name)):
        return
    names = sorted({end.channel for _, end in now.ends() if not is_hidden(end.channel)})
    if not now.processes:
        raise nobody(domain)
    there = f"Channels: {', '.join(names)}" if names else "Its processes have no channel"
    raise Error(
        "not_found",
        f"no channel '{name}' in domain '{domain}'. {there}",
        advice="hyphos channel list",
    )


def duration(ns: float) -> str:
    """42 ns, 13.4 µs, 1.25 ms, 3.1 s: three digits."""
    for limit, unit in ((1e3, "ns"), (1e6, "µs"), (1e9, "ms")):
        if ns < limit:
            return f"{ns / (limit / 1e3):.3g} {unit}"
    return f"{ns / 1e9:.3g} s"
