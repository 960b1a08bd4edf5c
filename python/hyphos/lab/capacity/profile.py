"""A machine's capacity profile: the costs of each way, as calibrated, in one JSON file."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hyphos._errors import Error
from hyphos.lab.capacity import families
from hyphos.lab.capacity.fit import Fitted, Point
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Delivery, Graph
from hyphos.lab.capacity.model import Costs, Host
from hyphos.lab.media import MEDIA, Medium, Wifi, medium_of

DEFAULT = Path("capacity.json")
VERSION = 9
MAX_FILE = 1 << 20
NINE_OF_TEN = 1.64  # standard deviations
# Who get one message, at most: what is calibrated, or what `hyphos lab verify --held-out` looks at,
# half as many again. The worst that it finds lies there, so nothing is said beyond.
MOST_EARS = {POINTER: 16, SHM: 12, TCP: 12, LINK: 6}


@dataclass(frozen=True)
class Kind:
    """A graph of a family, such as 32 echoes of 64 bytes."""

    family: str
    count: int
    size: int

    def graph(self, way: str) -> Graph:
        return families.FAMILIES[self.family](self.count, self.size, way)


@dataclass(frozen=True)
class Calibrated:
    """One way for messages to travel: its costs, how sure they are, and what they rest on."""

    way: str  # pointer, shm, tcp, link
    fitted: Fitted
    points: tuple[tuple[Kind, float], ...]  # with the scale at which each broke
    seconds: float  # that it took
    medium: Medium | None = None  # of a link

    @property
    def costs(self) -> Costs:
        return self.fitted.costs

    @property
    def within(self) -> float:
        """The factor by which what is left out of the fit is off, nine times of ten."""
        return math.exp(NINE_OF_TEN * self.fitted.error)

    @property
    def sizes(self) -> tuple[int, int]:
        sizes = [kind.size for kind, _ in self.points]
        return min(sizes), max(sizes)

    @property
    def nodes(self) -> int:
        """The largest graph that was measured."""
        return max(len(kind.graph(self.way).nodes) for kind, _ in self.points)

    @property
    def hosts(self) -> int:
        """Between how many was measured."""
        return max(len(kind.graph(self.way).hosts) for kind, _ in self.points)

    def measured(self) -> list[Point]:
        return [Point(kind.graph(self.way), scale) for kind, scale in self.points]


@dataclass(frozen=True)
class Profile:
    """What was calibrated on one machine. `ways`: those within it; `links`: by their names."""

    machine: Mapping[str, str]
    cores: float  # that were available
    made: str  # ISO 8601
    ways: Mapping[str, Calibrated] = field(default_factory=dict)
    links: Mapping[str, Calibrated] = field(default_factory=dict)

    def link(self, name: str = "") -> tuple[str, Calibrated] | None:
        """That of a name, or the only one. Error if there is none of the name, or a choice."""
        if name:
            if name not in self.links:
                raise Error(
                    "not_found",
                    f"the profile has no link '{name}'",
                    advice="it has "
                    + (", ".join(self.links) or "none")
                    + "; `hyphos lab calibrate --link` adds one",
                )
            return name, self.links[name]
        if len(self.links) > 1:
            raise Error(
                "invalid_config",
                "the profile has several links",
                advice="--link " + " or --link ".join(self.links),
            )
        return next(iter(self.links.items()), None)

    def for_graph(self, graph: Graph, link: str = "") -> dict[str, Calibrated]:
        """The ways that a graph takes. Error if one of them was not calibrated."""
        needed = {delivery.way for delivery in graph.deliveries()}
        found: dict[str, Calibrated] = {}
        for way in sorted(needed):
            one = self.ways.get(way)
            if way == LINK:
                chosen = self.link(link)
                one = chosen[1] if chosen else None
            if one is None:
                raise Error(
                    "not_found",
                    f"the profile does not know what messages by {way} cost",
                    advice="hyphos lab calibrate "
                    + ("--link NAME=veth,rate_mbit=1000" if way == LINK else f"--way {way}"),
                )
            found[way] = one
        return found

    def host(self, ways: Mapping[str, Calibrated], *, shared: bool) -> Host:
        return Host(self.cores, shared, half_duplex(ways))


def half_duplex(ways: Mapping[str, Calibrated]) -> bool:
    return any(isinstance(one.medium, Wifi) for one in ways.values())


def beyond(graph: Graph, ways: Mapping[str, Calibrated]) -> list[str]:
    """What of a graph lies outside of the calibration: nothing is said of that."""
    found = []
    deliveries = list(graph.deliveries())
    for way, one in ways.items():
        of_way = [delivery for delivery in deliveries if delivery.way == way]
        if of_way:
            found += _beyond_by(graph, of_way, one)
    many = len(graph.nodes)
    most = max(one.nodes for one in ways.values())
    if many > most:
        found.append(f"{many} nodes: calibrated up to {most}")
    return found


def _beyond_by(graph: Graph, deliveries: Sequence[Delivery], one: Calibrated) -> list[str]:
    """The same of what travels one way."""
    found = []
    way, high = one.way, one.sizes[1]
    largest = max((d.channel for d in deliveries), key=lambda channel: channel.size)
    if way != POINTER and largest.size > high:
        found.append(
            f"{largest.size:,} bytes on '{largest.name}' by {way}: calibrated up to {high:,} "
            f"(--max-size raises that)"
        )
    nodes: set[str] = set()
    hosts: set[str] = set()
    ears: dict[tuple[str, str], list[str]] = defaultdict(list)  # of each message
    for delivery in deliveries:
        hosts |= {graph.processes[delivery.sender], graph.processes[delivery.receiver]}
        heard = graph.ears(delivery)
        nodes |= {delivery.publisher, *heard}
        # Elsewhere a process gets it, however many of its nodes then hear it.
        ears[delivery.channel.name, delivery.publisher] += (
            heard if way == POINTER else [delivery.receiver]
        )
    if len(nodes) > one.nodes:
        found.append(f"{len(nodes)} nodes by {way}: calibrated up to {one.nodes}")
    if way == LINK and len(hosts) > one.hosts:
        found.append(f"{len(hosts)} hosts on the link: calibrated between {one.hosts}")
    (name, _), most = max(ears.items(), key=lambda item: len(item[1]))
    if len(most) > MOST_EARS[way]:
        what = "callbacks" if way == POINTER else "processes"
        found.append(f"{len(most)} {what} get '{name}' by {way}: verified up to {MOST_EARS[way]}")
    return found


# The file.


def save(profile: Profile, path: Path) -> None:
    """Atomically."""
    text = json.dumps(as_json(profile), indent=1)
    other = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(text + "\n")
        other.replace(path)
    except OSError as error:
        raise Error("io", f"cannot be written: {error}", str(path)) from None


def load(path: Path) -> Profile:
    try:
        if path.stat().st_size > MAX_FILE:
            raise Error("corrupt", "a profile has at most 1 MB", str(path))
        return _from_json(json.loads(path.read_text()))
    except FileNotFoundError:
        raise Error(
            "not_found", "there is no profile", str(path), "`hyphos lab calibrate` makes one"
        ) from None
    except OSError as error:
        raise Error("io", f"cannot be read: {error}", str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Error(
            "corrupt",
            f"this is no capacity profile: {error}",
            str(path),
            "`hyphos lab calibrate` makes a new one",
        ) from None


def as_json(profile: Profile) -> dict[str, Any]:
    return {
        "hyphos_capacity": VERSION,
        "made": profile.made,
        "machine": dict(profile.machine),
        "cores": profile.cores,
        "ways": {name: _way_json(one) for name, one in profile.ways.items()},
        "links": {name: _way_json(one) for name, one in profile.links.items()},
    }


def _way_json(one: Calibrated) -> dict[str, Any]:
    told: dict[str, Any] = {
        "costs": {name: getattr(one.costs, name) for name in Costs.names(one.way)},
        "error": one.fitted.error,
        "noise": one.fitted.noise,
        "covariance": one.fitted.covariance,
        "seconds": one.seconds,
        "points": [{**asdict(kind), "scale": scale} for kind, scale in one.points],
    }
    if one.medium is not None:
        kind = next(name for name, made in MEDIA.items() if isinstance(one.medium, made))
        told["medium"] = {"kind": kind, **asdict(one.medium)}
    return told


def _from_json(told: Mapping[str, Any]) -> Profile:
    if told["hyphos_capacity"] != VERSION:
        raise ValueError(f"version {told['hyphos_capacity']}, this program reads {VERSION}")
    return Profile(
        {str(name): str(text) for name, text in told["machine"].items()},
        float(told["cores"]),
        str(told["made"]),
        {name: _way_from(name, one) for name, one in told["ways"].items()},
        {name: _way_from(LINK, one) for name, one in told["links"].items()},
    )


def _way_from(way: str, told: Mapping[str, Any]) -> Calibrated:
    costs = {name: float(told["costs"][name]) for name in Costs.names(way)}
    if not all(0 < value < math.inf for value in costs.values()):
        raise ValueError("costs are positive")
    covariance = np.array(told["covariance"], dtype=np.float64)
    if covariance.shape != (len(costs), len(costs)) or not np.isfinite(covariance).all():
        raise ValueError(f"its covariance is not that of {len(costs)} costs")
    rows = tuple(tuple(map(float, row)) for row in covariance)
    fitted = Fitted(Costs(**costs), float(told["error"]), float(told["noise"]), rows)
    medium = dict(told["medium"]) if "medium" in told else None
    points = tuple(
        (Kind(str(p["family"]), int(p["count"]), int(p["size"])), float(p["scale"]))
        for p in told["points"]
    )
    if not points or any(kind.family not in families.FAMILIES for kind, _ in points):
        raise ValueError("there are no points that this program knows")
    return Calibrated(
        way,
        fitted,
        points,
        float(told["seconds"]),
        medium_of(medium.pop("kind"), medium) if medium else None,
    )
