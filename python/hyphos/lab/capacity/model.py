"""What a graph asks of each resource, and up to which load that holds.

A message of S bytes costs CPU time: `publish_us` where it is published, and for each process that
gets it `deliver_us + wake_us / (1 + r·batch_us) + alone_us·S / (S + alone_kb) + byte_ns·S`, where r
is the rate of messages from the one process to the other. Who is awake already need not be woken,
so that messages become cheaper as they come more often; through a socket small ones travel
together, and large ones pay for themselves.

Two things limit the rate: the CPU of the machine, and what one process can do one after the other
(`serial` times the costs of its messages; a callback that computes takes no other message of its
channel meanwhile). A link adds `wire_us / (1 + r·wire_batch_us) + wire_byte_ns·S` of its own time
to each message, since those that wait share packets: in each direction or, where the medium is
shared, in all. Resources near their limit together carry less than each alone: utilisations are
combined with the norm of order 6.

The form extends 1/X = a + b·S, which measurements of ROS follow far better than a constant N·f·S
(Jordan, *On the Scalability of ROS*, CSLV).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hyphos.lab.capacity.graph import LINK, POINTER, TCP, WAYS, Delivery, Graph

NORM = 6.0
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """Of one way for messages to travel. All are positive."""

    publish_us: float = 2.0
    deliver_us: float = 5.0
    byte_ns: float = 0.05
    wake_us: float = 5.0
    batch_us: float = 200.0
    serial: float = 1.0
    alone_us: float = 1e-9
    alone_kb: float = 30.0
    wire_us: float = 1.0
    wire_batch_us: float = 1.0
    wire_byte_ns: float = 1.0

    @staticmethod
    def names(way: str) -> list[str]:
        """Those that mean something for a way."""
        known = ["publish_us", "deliver_us", "wake_us", "batch_us", "serial"]
        if way != POINTER:
            known.append("byte_ns")
        if way in (TCP, LINK):
            known += ["alone_us", "alone_kb"]
        return [*known, "wire_us", "wire_batch_us", "wire_byte_ns"] if way == LINK else known


_COSTS = [field.name for field in fields(Costs)]


@dataclass(frozen=True)
class Host:
    """The machine as far as the model goes."""

    cores: float
    # The hosts of a graph are this one machine (as when a plan is run in namespaces), or each is
    # such a machine by itself.
    shared: bool = True
    # All messages of a link share the medium, in both directions (WiFi), or each direction is for
    # itself (a cable).
    half_duplex: bool = False


@dataclass(frozen=True)
class Use:
    """How much of a resource a graph takes: 1 is its limit."""

    resource: str
    share: float


def norm(shares: Iterable[float]) -> float:
    """Of order 6, without overflow."""
    known = list(shares)
    top = max(known, default=0.0)
    if top <= 0.0:
        return 0.0
    return float(top * math.pow(sum(math.pow(share / top, NORM) for share in known), 1 / NORM))


class _Names:
    """Numbers for names, in the order of their coming."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.of.setdefault(name, len(self.of))

    def __len__(self) -> int:
        return len(self.of)

    def list(self) -> list[str]:
        return list(self.of)


class Load:
    """A graph in columns, for the many times that a fit looks at it."""

    def __init__(self, graph: Graph, host: Host) -> None:
        self.host = host
        self.ways = [False] * len(WAYS)
        self._machines, self._actors, self._wires = _Names(), _Names(), _Names()
        self._pairs = _Names()
        self._callbacks: dict[str, float] = defaultdict(float)  # µs a second
        self._computing: dict[int, float] = defaultdict(float)  # the same by machine
        deliveries = list(graph.deliveries())
        self._take_deliveries(graph, deliveries)
        self._take_publications(graph, deliveries)
        self._take_computing(graph)

    def _machine(self, graph: Graph, process: str) -> int:
        return self._machines("the machine" if self.host.shared else graph.processes[process])

    def _take_deliveries(self, graph: Graph, deliveries: list[Delivery]) -> None:
        rows: list[tuple[float, ...]] = []
        for one in deliveries:
            machine = self._machine(graph, one.receiver)
            wire = -1
            if one.way == LINK:
                ends = f"{graph.processes[one.sender]} → {graph.processes[one.receiver]}"
                wire = self._wires("the air" if self.host.half_duplex else f"link {ends}")
            way = WAYS.index(one.way)
            self.ways[way] = True
            for actor in _receivers(graph, one):
                pair = self._pairs(f"{one.sender} → {actor}")
                numbers = (way, self._actors(actor), pair, machine, wire)
                rows.append((one.rate_hz, one.channel.size, *numbers))
        columns = np.array(rows).T if rows else np.zeros((7, 0))
        self._rate, self._size = columns[0], columns[1]
        self._way, self._actor, self._pair, self._at, self._wire = columns[2:].astype(np.int64)

    def _take_computing(self, graph: Graph) -> None:
        """What nodes compute for messages that they get, and for those that they send."""
        for channel in graph.channels:
            rates = {name: graph.rate_of(channel, name) for name in channel.publishers}
            for name, rate in rates.items():
                asked = channel.after or f"{channel.name}, which it sends"
                self._compute(graph, name, asked, rate * channel.work_us)
            for name in channel.subscribers:
                work = sum(rates.values()) * graph.node(name).work_for(channel.name)
                self._compute(graph, name, channel.name, work)

    def _compute(self, graph: Graph, node: str, channel: str, us_per_s: float) -> None:
        if us_per_s:
            self._callbacks[f"callback of {node} on {channel}"] += us_per_s
            self._computing[self._machine(graph, graph.node(node).process)] += us_per_s

    def _take_publications(self, graph: Graph, deliveries: list[Delivery]) -> None:
        """A message is published once for each way it takes, however many get it."""
        seen: set[tuple[str, str, str]] = set()
        rows: list[tuple[float, ...]] = []
        for one in deliveries:
            key = (one.channel.name, one.sender, one.way)
            if key not in seen:
                seen.add(key)
                actor = self._actors(_sender(one))
                way = WAYS.index(one.way)
                rows.append((one.rate_hz, way, actor, self._machine(graph, one.sender)))
        columns = np.array(rows).T if rows else np.zeros((4, 0))
        self._sent = columns[0]
        self._sent_way, self._sent_actor, self._sent_at = columns[1:].astype(np.int64)

    def uses(self, costs: Mapping[str, Costs], scale: float = 1.0) -> list[Use]:
        """The share of each resource at `scale` times the rates. KeyError without the costs of a
        way that the graph takes."""
        return self._uses(self._table(costs), scale)

    def _table(self, costs: Mapping[str, Costs]) -> dict[str, Vector]:
        """Each cost by way."""
        return {
            name: np.array(
                [
                    getattr(costs[way], name) if here else 0.0
                    for way, here in zip(WAYS, self.ways, strict=True)
                ]
            )
            for name in _COSTS
        }

    def _uses(self, table: Mapping[str, Vector], scale: float) -> list[Use]:
        machines, actors = len(self._machines), len(self._actors)
        often = np.bincount(self._pair, self._rate * scale, len(self._pairs)).astype(np.float64)
        awake = 1.0 + often[self._pair] * table["batch_us"][self._way] / 1e6
        share = self._size / (self._size + 1024 * table["alone_kb"][self._way] + 1e-9)
        each = (
            table["deliver_us"][self._way]
            + table["wake_us"][self._way] / awake
            + table["alone_us"][self._way] * share
            + table["byte_ns"][self._way] * self._size / 1e3
        )
        spent = self._rate * each * scale
        sent = self._sent * table["publish_us"][self._sent_way] * scale
        cpu = np.bincount(self._at, spent, machines) + np.bincount(self._sent_at, sent, machines)
        for machine, work in self._computing.items():
            cpu[machine] += work * scale
        alone = np.bincount(self._actor, spent * table["serial"][self._way], actors)
        alone += np.bincount(self._sent_actor, sent * table["serial"][self._sent_way], actors)
        uses = [
            Use(f"CPU of {name}", float(us) / 1e6 / self.host.cores)
            for name, us in zip(self._machines.list(), cpu, strict=True)
        ]
        # Of many alike the busiest: they limit each for itself, not together.
        uses += _busiest(self._actors.list(), alone / 1e6)
        uses += _busiest(
            list(self._callbacks), np.array(list(self._callbacks.values())) * scale / 1e6
        )
        return uses + self._wire_uses(table, often, scale)

    def _wire_uses(self, table: Mapping[str, Vector], often: Vector, scale: float) -> list[Use]:
        on = self._wire >= 0
        if not on.any():
            return []
        way = self._way[on]
        together = 1.0 + often[self._pair[on]] * table["wire_batch_us"][way] / 1e6
        us = table["wire_us"][way] / together + table["wire_byte_ns"][way] * self._size[on] / 1e3
        shares = np.bincount(self._wire[on], self._rate[on] * us * scale, len(self._wires)) / 1e6
        return [Use(name, float(x)) for name, x in zip(self._wires.list(), shares, strict=True)]

    def knee(self, costs: Mapping[str, Costs]) -> float:
        """The factor on all rates at which the graph ceases to hold."""
        table, scale = self._table(costs), 1.0
        for _ in range(60):
            total = norm(use.share for use in self._uses(table, scale))
            if total == 0.0:
                return math.inf
            # Nearly in proportion: this converges in a few steps.
            scale /= total
            if abs(total - 1.0) < 1e-6:
                break
        return scale


def _busiest(names: list[str], shares: Vector) -> list[Use]:
    if not names:
        return []
    top = int(np.argmax(shares))
    return [Use(names[top], float(shares[top]))]


def _sender(delivery: Delivery) -> str:
    """Who publishes one message after the other: a process, or within one the callback that
    answers, or the publisher's own thread."""
    if delivery.way != POINTER:
        return f"process {delivery.sender}"
    channel = delivery.channel
    return f"{channel.publishers[0]} on {channel.after or channel.name}"


def _receivers(graph: Graph, delivery: Delivery) -> list[str]:
    """Who takes one message after the other: a process, or within one each callback."""
    if delivery.way != POINTER:
        return [f"process {delivery.receiver}"]
    channel = delivery.channel
    return [
        f"{name} on {channel.name}"
        for name in channel.subscribers
        if graph.node(name).process == delivery.receiver
    ]


@dataclass(frozen=True)
class Demand:
    """What a graph asks for beside what there is. Shares are those at the knee, divided by its
    distance: at low load each message costs more, but that says nothing of the limit."""

    knee: float  # factor on all rates
    uses: list[Use]  # the busiest first

    @property
    def total(self) -> float:
        return 1.0 / self.knee

    @property
    def first(self) -> Use:
        """What breaks first."""
        return self.uses[0]


def demand(graph: Graph, costs: Mapping[str, Costs], host: Host) -> Demand:
    load = Load(graph, host)
    scale = load.knee(costs)
    if scale == math.inf:
        return Demand(scale, [Use("nothing", 0.0)])
    uses = [Use(use.resource, use.share / scale) for use in load.uses(costs, scale)]
    return Demand(scale, sorted(uses, key=lambda use: -use.share))


def knee(graph: Graph, costs: Mapping[str, Costs], host: Host) -> float:
    return Load(graph, host).knee(costs)


def volume(graph: Graph) -> float:
    """N·f·S: bytes a second that the sources send, the measure of the classic law (CSLV)."""
    return sum(
        graph.rate_of(channel, publisher) * channel.size
        for channel in graph.channels
        if not channel.after
        for publisher in channel.publishers
    )
