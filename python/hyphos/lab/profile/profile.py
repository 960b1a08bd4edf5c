"""The figures of a profile: by channel, by path, and the critical paths."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hyphos._errors import Error
from hyphos.lab.profile.flows import Flows, Way
from hyphos.lab.profile.layers import LAYERS, Ints, Spread

Hop = tuple[str, str]  # channel, and the receiving node


@dataclass
class ChannelProfile:
    """The messages from the publishers of a channel to one subscriber."""

    channel: str
    subscriber: str
    publishers: list[str]
    latency: Spread
    layers: dict[str, Spread]  # the six layers of the latency, and `callback`
    worst_sum_error: float  # largest |sum of layers − latency| / latency of a message
    uncertainty_ns: int = 0  # if messages came from another machine

    def as_dict(self) -> dict[str, Any]:
        return {
            "channel": self.channel,
            "subscriber": self.subscriber,
            "publishers": self.publishers,
            "latency": self.latency.as_dict(),
            "layers": {name: spread.as_dict() for name, spread in self.layers.items()},
            "worst_sum_error": self.worst_sum_error,
            "clock_uncertainty_ns": self.uncertainty_ns,
        }


@dataclass
class PathProfile:
    """One path through the graph: its nodes and channels."""

    source: str
    hops: tuple[Hop, ...]
    inferred: bool
    total: Spread
    parts: npt.NDArray[np.float64]  # hops × LAYERS, mean ns
    tail: npt.NDArray[np.float64]  # the same for messages at or above the 95th percentile
    worst_sum_error: float
    ways: list[Way] = field(repr=False, default_factory=list)
    uncertainty_ns: int = 0
    critical: bool = False  # the slowest from its source to its end
    rivals: int = 0  # number of other paths with the same ends

    @property
    def name(self) -> str:
        return self.source + "".join(f" ─{channel}→ {place}" for channel, place in self.hops)

    @property
    def ends(self) -> tuple[str, str, bool]:
        """Paths with the same ends compete for the critical one."""
        return self.source, self.hops[-1][1], self.inferred

    def costliest(self) -> tuple[int, str, float]:
        """Hop, layer and share of the largest cost of the slowest messages."""
        hop, layer = np.unravel_index(int(self.tail.argmax()), self.tail.shape)
        whole = float(self.tail.sum()) or 1.0
        return int(hop), LAYERS[int(layer)], float(self.tail.max()) / whole

    def at(self, fraction: float) -> Way:
        """The message at that percentile of the total time."""
        ordered = sorted(self.ways, key=lambda way: way.total_ns)
        return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]

    def messages(self) -> dict[str, Any]:
        """The median and the p95 message, hop by hop. Times are since the first publish()."""
        return {f"p{round(part * 100)}": self._message(self.at(part)) for part in (0.5, 0.95)}

    def _message(self, way: Way) -> dict[str, Any]:
        begin = way.steps[0].publish_ns
        return {
            "source": self.source,
            "total_ns": int(way.total_ns),
            "steps": [
                {
                    "channel": channel,
                    "node": place,
                    "publish_ns": int(step.publish_ns - begin),
                    "parts_ns": {n: int(ns) for n, ns in zip(LAYERS, step.parts, strict=True)},
                }
                for (channel, place), step in zip(self.hops, way.steps, strict=True)
            ],
        }

    def as_dict(self) -> dict[str, Any]:
        hop, layer, share = self.costliest()
        return {
            "path": self.name,
            "source": self.source,
            "inferred": self.inferred,
            "critical": self.critical,
            "end_to_end": self.total.as_dict(),
            "costliest": {
                "channel": self.hops[hop][0],
                "node": self.hops[hop][1],
                "layer": layer,
                "share": round(share, 4),
            },
            "hops": [
                {
                    "channel": channel,
                    "node": place,
                    "mean_ns": _named(self.parts[i]),
                    "tail_mean_ns": _named(self.tail[i]),
                }
                for i, (channel, place) in enumerate(self.hops)
            ],
            "worst_sum_error": self.worst_sum_error,
            "clock_uncertainty_ns": self.uncertainty_ns,
        }


@dataclass
class Profile:
    flows: Flows = field(repr=False)
    channels: list[ChannelProfile]
    paths: list[PathProfile]  # certain ones first, and of those the critical ones first
    cut: int  # messages whose beginning is unknown

    @property
    def worst_sum_error(self) -> float:
        every: list[ChannelProfile | PathProfile] = [*self.channels, *self.paths]
        return max((one.worst_sum_error for one in every), default=0.0)

    def as_dict(self) -> dict[str, Any]:
        found = self.flows.found
        return {
            "seconds": round(found.seconds, 3),
            "publishes": len(self.flows.publishes),
            "receptions": len(self.flows.receptions),
            "unheard": self.flows.unheard,
            "missed": found.missed,
            "cost": found.cost(),
            "cut": self.cut,
            "worst_sum_error": self.worst_sum_error,
            "messages": self.paths[0].messages() if self.paths else {},
            "channels": [channel.as_dict() for channel in self.channels],
            "paths": [path.as_dict() for path in self.paths],
        }


def _named(row: npt.NDArray[np.float64]) -> dict[str, float]:
    return {name: round(float(ns), 1) for name, ns in zip(LAYERS, row, strict=True)}


def profile(flows: Flows, wanted: str = "") -> Profile:
    """`wanted` are words that a path must contain in that order, as "scan->map". Raises Error if no
    path does."""
    ways, cut = flows.ways()
    grouped: dict[tuple[str, tuple[Hop, ...], bool], list[Way]] = defaultdict(list)
    for way in ways:
        grouped[_path_of(flows, way)].append(way)
    paths = [_path(flows, *key, found) for key, found in grouped.items()]
    if wanted:
        paths = chosen(paths, wanted)
    between: dict[tuple[str, str, bool], list[PathProfile]] = defaultdict(list)
    for path in paths:
        between[path.ends].append(path)
    for rivals in between.values():
        for path in rivals:
            path.rivals = len(rivals) - 1
        max(rivals, key=lambda path: path.total.p95).critical = True
    # Certain paths come before inferred paths.
    paths.sort(key=lambda path: (path.inferred, not path.critical, -path.total.p95))
    return Profile(flows, _channels(flows), paths, cut)


def measured(flows: Flows, path: PathProfile, count: int) -> PathProfile:
    """The same path with only its last `count` messages, without those of the warm-up."""
    ways = sorted(path.ways, key=lambda way: way.steps[0].publish_ns)
    return _path(flows, path.source, path.hops, path.inferred, ways[-count:])


def chosen(paths: list[PathProfile], wanted: str) -> list[PathProfile]:
    """The paths that contain these words in that order. Raises Error if there is none."""
    words = [word.strip() for word in wanted.replace("→", "->").split("->") if word.strip()]
    found = []
    for path in paths:
        names = iter([path.source, *(name for hop in path.hops for name in hop)])
        if all(word in names for word in words):
            found.append(path)
    if not found:
        known = ", ".join(path.name for path in paths) or "none"
        raise Error("not_found", f"no path matches '{wanted}'", advice=f"known paths: {known}")
    return found


def _path_of(flows: Flows, way: Way) -> tuple[str, tuple[Hop, ...], bool]:
    publish = flows.publish_of(way.steps[0].row)
    source = flows.end(publish).place if publish is not None else "another machine"
    hops = []
    for step in way.steps:
        end = flows.end(step.row)
        hops.append((end.channel, end.place))
    return source, tuple(hops), any(step.inferred for step in way.steps)


def _path(
    flows: Flows, source: str, hops: tuple[Hop, ...], inferred: bool, ways: list[Way]
) -> PathProfile:
    totals = np.array([way.total_ns for way in ways], np.int64)
    parts = np.array([[step.parts for step in way.steps] for way in ways], np.int64)
    error = np.abs(parts.sum(axis=(1, 2)) - totals) / np.maximum(np.abs(totals), 1)
    total = Spread.of(totals)
    remote = [step.row for step in ways[0].steps if flows.is_remote(step.row)]
    uncertainty = max(
        (flows.found.uncertainty_ns[flows.end(row).participant] for row in remote), default=0
    )
    return PathProfile(
        source,
        hops,
        inferred,
        total,
        parts.mean(axis=0),
        parts[totals >= total.p95].mean(axis=0),
        float(error.max()),
        ways,
        uncertainty,
    )


def _channels(flows: Flows) -> list[ChannelProfile]:
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in flows.receptions.tolist():
        end = flows.end(row)
        rows[end.channel, end.place].append(row)
    return [_channel(flows, *key, np.array(found)) for key, found in sorted(rows.items())]


def _channel(flows: Flows, channel: str, place: str, rows: Ints) -> ChannelProfile:
    events = flows.found.events[rows]
    layers = flows.layers[rows]
    latency = events["callback"] - events["publish"]
    error = np.abs(layers[:, :6].sum(axis=1) - latency) / np.maximum(np.abs(latency), 1)
    publishers = {
        flows.end(publish).place if publish is not None else "another machine"
        for row in rows.tolist()
        for publish in [flows.publish_of(row)]
        if publish is not None or flows.is_remote(row)
    }
    remote = [row for row in rows.tolist() if flows.is_remote(row)]
    worst = max(
        (flows.found.uncertainty_ns[flows.end(row).participant] for row in remote), default=0
    )
    return ChannelProfile(
        channel,
        place,
        sorted(publishers),
        Spread.of(latency),
        {name: Spread.of(layers[:, i]) for i, name in enumerate(LAYERS[:7])},
        float(error.max()),
        worst,
    )
