"""A machine's capacity profile: the calibrated costs of each transport, in one JSON file."""

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
# Maximum receivers of a message: the calibrated number, or that of the test set
# (`hyphos lab verify --test-set`), half as many again. The largest error of the test set is there,
# so there is no prediction beyond it.
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
    """One transport: its costs, their uncertainty, and the measured points."""

    way: str  # pointer, shm, tcp, link
    fitted: Fitted
    points: tuple[tuple[Kind, float], ...]  # each with its saturation point
    seconds: float  # duration of the calibration
    medium: Medium | None = None  # of a link

    @property
    def costs(self) -> Costs:
        return self.fitted.costs

    @property
    def within(self) -> float:
        """The factor of the leave-one-out error, nine times of ten."""
        return math.exp(NINE_OF_TEN * self.fitted.error)

    @property
    def sizes(self) -> tuple[int, int]:
        sizes = [kind.size for kind, _ in self.points]
        return min(sizes), max(sizes)

    @property
    def nodes(self) -> int:
        """The number of nodes of the largest measured graph."""
        return max(len(kind.graph(self.way).nodes) for kind, _ in self.points)

    @property
    def hosts(self) -> int:
        """The largest number of hosts in a measured graph."""
        return max(len(kind.graph(self.way).hosts) for kind, _ in self.points)

    def measured(self) -> list[Point]:
        return [Point(kind.graph(self.way), scale) for kind, scale in self.points]


@dataclass(frozen=True)
class Profile:
    """The calibrations of one machine. `ways` are those inside it. `links` are by name."""

    machine: Mapping[str, str]
    cores: float  # available cores
    made: str  # ISO 8601
    ways: Mapping[str, Calibrated] = field(default_factory=dict)
    links: Mapping[str, Calibrated] = field(default_factory=dict)

    def link(self, name: str = "") -> tuple[str, Calibrated] | None:
        """The link of a name, or the only one. Raises Error if it is unknown or ambiguous."""
        if name:
            if name not in self.links:
                raise Error(
                    "not_found",
                    f"the profile has no link '{name}'",
                    advice="use one of "
                    + (", ".join(self.links) or "none")
                    + ", or add one with `hyphos lab calibrate --link`",
                )
            return name, self.links[name]
        if len(self.links) > 1:
            raise Error(
                "invalid_config",
                "the profile has several links",
                advice="choose --link " + " or --link ".join(self.links),
            )
        return next(iter(self.links.items()), None)

    def for_graph(self, graph: Graph, link: str = "") -> dict[str, Calibrated]:
        """The transports that a graph uses. Raises Error if one of them is not calibrated."""
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
                    f"the profile has no costs of messages by {way}",
                    advice="hyphos lab calibrate "
                    + ("--link NAME=veth,rate_mbit=1000" if way == LINK else f"--transport {way}"),
                )
            found[way] = one
        return found

    def host(self, ways: Mapping[str, Calibrated], *, shared: bool) -> Host:
        return Host(self.cores, shared, half_duplex(ways))


def half_duplex(ways: Mapping[str, Calibrated]) -> bool:
    return any(isinstance(one.medium, Wifi) for one in ways.values())


def beyond(graph: Graph, ways: Mapping[str, Calibrated]) -> list[str]:
    """The properties of a graph outside the calibrated range, for which there is no prediction."""
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
    """The same for one transport."""
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
        # Between processes a process receives it once, for any number of its subscribing nodes.
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
        found.append(
            f"{len(most)} {what} receive '{name}' by {way}: verified up to {MOST_EARS[way]}"
        )
    return found


# The file.


def save(profile: Profile, path: Path) -> None:
    """Saves the profile atomically."""
    text = json.dumps(as_json(profile), indent=1)
    other = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(text + "\n")
        other.replace(path)
    except OSError as error:
        raise Error("io", f"cannot write: {error}", str(path)) from None


def load(path: Path) -> Profile:
    try:
        if path.stat().st_size > MAX_FILE:
            raise Error("corrupt", "the file is larger than 1 MB", str(path))
        return _from_json(json.loads(path.read_text()))
    except FileNotFoundError:
        raise Error(
            "not_found",
            "the profile does not exist",
            str(path),
            "make one with `hyphos lab calibrate`",
        ) from None
    except OSError as error:
        raise Error("io", f"cannot read: {error}", str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Error(
            "corrupt",
            f"not a capacity profile: {error}",
            str(path),
            "make a new one with `hyphos lab calibrate`",
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
        raise ValueError("costs must be positive")
    covariance = np.array(told["covariance"], dtype=np.float64)
    if covariance.shape != (len(costs), len(costs)) or not np.isfinite(covariance).all():
        raise ValueError(f"the covariance is not that of {len(costs)} costs")
    rows = tuple(tuple(map(float, row)) for row in covariance)
    fitted = Fitted(Costs(**costs), float(told["error"]), float(told["noise"]), rows)
    medium = dict(told["medium"]) if "medium" in told else None
    points = tuple(
        (Kind(str(p["family"]), int(p["count"]), int(p["size"])), float(p["scale"]))
        for p in told["points"]
    )
    if not points or any(kind.family not in families.FAMILIES for kind, _ in points):
        raise ValueError("no known points")
    return Calibrated(
        way,
        fitted,
        points,
        float(told["seconds"]),
        medium_of(medium.pop("kind"), medium) if medium else None,
    )
