"""The traffic of the channels over a whole run, for the summary at its end.

Counters end with their processes, so each snapshot during the run is added. The last snapshot with
an endpoint has its final counters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hyphos._hyphos import EndpointInfo, Histogram
from hyphos.observe import (
    ChannelState,
    Delays,
    Key,
    Look,
    drops_of,
    is_hidden,
    join_transports,
    key_of,
)

_REASONS = {
    "closed": "subscription closed",
    "queue.overflow": "queue full",
    "queue.timeout": "no room in time",
    "encode.failed": "could not be encoded",
    "decode.failed": "could not be decoded",
}
_ON_THE_WAY = {
    "overflow": "queue to a receiver full",
    "timeout": "no room in time",
    "no_memory": "no shared memory left",
    "disconnected": "receiver gone",
    "gap": "lost in transit",
    "corrupt": "corrupted in transit",
    "type": "type mismatch",
    "injected": "injected loss",
}
_MOST_LINES = 12


@dataclass
class _Life:
    """One endpoint of a channel, from its first snapshot to its last."""

    process: str
    first_s: float
    first: EndpointInfo
    last_s: float
    last: EndpointInfo

    def added(self, counter: str) -> int:
        return self.last.counter(counter) - self.first.counter(counter)


@dataclass
class _Row:
    """A channel on another machine, as reported by its agent."""

    first_s: float
    first_sent: int
    last_s: float
    state: ChannelState
    delays: Delays = field(default_factory=Delays)
    megabytes: float = 0.0


class Totals:
    """Sums up the snapshots. `began_s` is the start of the run, on time.monotonic()."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self._lives: dict[Key, _Life] = {}
        self._rows: dict[str, _Row] = {}

    def add(self, seen: Look) -> None:
        for process, end in seen.ends():
            if is_hidden(end.channel):
                continue
            key = key_of(process, end)
            life = self._lives.get(key)
            if life is None:
                self._lives[key] = _Life(process.name, seen.time_s, end, seen.time_s, end)
            else:
                life.last_s, life.last = seen.time_s, end

    def add_row(self, now_s: float, state: ChannelState) -> None:
        """Adds a channel of another machine. Its rates and delays count from the previous row."""
        row = self._rows.get(state.name)
        if row is None:
            row = self._rows[state.name] = _Row(now_s, state.sent, now_s, state)
        elif state.publishers >= row.state.publishers or state.sent > row.state.sent:
            row.megabytes += state.megabytes_per_s * (now_s - row.last_s)
            row.last_s, row.state = now_s, state
        for edge, count in state.delays.buckets.items():
            row.delays.buckets[edge] = row.delays.buckets.get(edge, 0) + count

    def ends(self, channel: str | None = None) -> Iterator[EndpointInfo]:
        """Each endpoint in its last snapshot."""
        for life in self._lives.values():
            if channel in (None, life.last.channel):
                yield life.last

    def lives(self) -> Iterator[tuple[str, EndpointInfo]]:
        """The process of each endpoint, and the endpoint in its last snapshot."""
        for life in self._lives.values():
            yield life.process, life.last

    def layers(self, channel: str) -> list[tuple[str, Delays]]:
        """The layers of all subscriptions of a channel, in the order of the message path."""
        merged: dict[str, Delays] = {}
        for end in self.ends(channel):
            layers: Sequence[tuple[str, Histogram]] = end.layers
            for name, histogram in layers:
                if name != "callback" and histogram.count > 0:
                    merged.setdefault(name, Delays()).add(histogram)
        return list(merged.items())

    def channels(self) -> dict[str, ChannelState]:
        """All channels by name. Rates are means over the time in which there were publishers."""
        lives: dict[str, list[_Life]] = defaultdict(list)
        for life in self._lives.values():
            lives[life.last.channel].append(life)
        found = {name: self._state(name, of) for name, of in lives.items()}
        for row in self._rows.values():
            state, seconds = row.state, row.last_s - row.first_s
            if seconds > 0:
                state.rate_hz = (state.sent - row.first_sent) / seconds
                state.published_mb_s = state.taken_mb_s = row.megabytes / seconds
            state.delays = row.delays
            found[state.name] = state
        return dict(sorted(found.items()))

    def _state(self, name: str, lives: list[_Life]) -> ChannelState:
        state = ChannelState(name)
        publishers = [life for life in lives if life.last.is_publisher]
        subscribers = [life for life in lives if not life.last.is_publisher]
        state.type_name = next((life.last.type_name for life in lives if life.last.type_name), "")
        state.encoding = next((life.last.encoding for life in lives if life.last.encoding), "")
        state.publishers = len({life.last.node for life in publishers})
        state.subscribers = len({life.last.node for life in subscribers})
        state.transports = join_transports(
            word for life in lives for word in life.last.transports.split("+")
        )
        state.sent = sum(life.last.counter("sent") for life in publishers)
        state.received = sum(life.last.counter("received") for life in subscribers)
        state.dropped = sum(drops_of(life.last) for life in lives)
        for life in subscribers:
            state.delays.add(life.last.latency)
        state.rate_hz = self._mean(publishers, "sent")
        state.published_mb_s = self._mean(publishers, "bytes") / 1e6
        state.taken_mb_s = max((self._mean([one], "bytes") for one in subscribers), default=0) / 1e6
        return state

    def _mean(self, lives: list[_Life], counter: str) -> float:
        """The counts per second, over the time in which at least one endpoint existed."""
        if not lives:
            return 0.0
        last_s = max(life.last_s for life in lives)
        seconds = last_s - min(life.first_s for life in lives)
        if seconds > 0:
            # The first count of a later endpoint belongs entirely to this time.
            first_s = min(life.first_s for life in lives)
            counted = sum(
                life.added(counter) if life.first_s == first_s else life.last.counter(counter)
                for life in lives
            )
            return counted / seconds
        since_begin_s = last_s - self._began_s  # there is only one snapshot
        total = sum(life.last.counter(counter) for life in lives)
        return total / since_begin_s if since_begin_s > 0 else 0.0

    def drops(self) -> list[str]:
        """One line per endpoint and reason: "scan → mapper: 18 of 38 dropped, queue full"."""
        lost: dict[tuple[str, str, bool, str], int] = defaultdict(int)
        whole: dict[tuple[str, str, bool], int] = defaultdict(int)
        for end in self.ends():
            of = (end.channel, end.node, end.is_publisher)
            whole[of] += end.counter("sent" if end.is_publisher else "received")
            for name, count in end.counters:
                if name.startswith("drop.") and count:
                    lost[(*of, name)] += count
                    whole[of] += 0 if end.is_publisher else count
        lines = []
        for (channel, node, is_publisher, name), count in sorted(
            lost.items(), key=lambda item: -item[1]
        ):
            ends = f"{node} → {channel}" if is_publisher else f"{channel} → {node}"
            all_of = whole[(channel, node, is_publisher)]
            of_sent = "dropped of" if is_publisher else "of"
            behind = "sent" if is_publisher else "dropped"
            lines.append(f"{ends}: {count:,} {of_sent} {all_of:,} {behind}, {reason_of(name)}")
        lines += [
            f"{row.state.name}: {row.state.dropped:,} dropped"
            for row in self._rows.values()
            if row.state.dropped
        ]
        if len(lines) > _MOST_LINES:
            more = len(lines) - _MOST_LINES
            lines = [
                *lines[:_MOST_LINES],
                f"{more} more endpoints with drops, see the table or report",
            ]
        return lines


def reason_of(counter: str) -> str:
    """The reason of a counter in words: "drop.queue.overflow" → "queue full"."""
    where = counter.removeprefix("drop.")
    return _REASONS.get(where) or _ON_THE_WAY.get(where.rpartition(".")[2], where)
