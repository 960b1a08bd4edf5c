"""What a graph asks of each resource, and up to which load that holds.

Every message costs CPU time: `publish_us` where it is published, and `deliver_us + byte_ns·S` for
each process that gets it. With P processes on a machine of C cores these grow by the contention
(P/C)^crowd. Two things limit the rate: the CPU of the machine, and what one process can do one
after the other (`serial` times the costs of its messages; a callback that computes takes no other
message of its channel meanwhile). A link adds `wire_us + wire_byte_ns·S` of its own time to each
message, in each direction or, where the medium is shared, in all. Resources near their limit
together carry less than each alone: utilisations are combined with the norm of order 6.

The form extends 1/X = a + b·S, which measurements of ROS follow far better than a constant N·f·S
(Jordan, *On the Scalability of ROS*, CSLV).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from hyphos.lab.capacity.graph import LINK, POINTER, Delivery, Graph

NORM = 6.0


@dataclass(frozen=True)
class Costs:
    """Of one way for messages to travel. All are positive; times in µs, ns per byte."""

    publish_us: float = 2.0
    deliver_us: float = 5.0
    byte_ns: float = 0.05
    crowd: float = 0.1
    serial: float = 0.8
    wire_us: float = 1.0
    wire_byte_ns: float = 1.0

    def names(self, way: str) -> list[str]:
        """Those that mean something for a way."""
        wire = ("wire_us", "wire_byte_ns")
        sizes = () if way == POINTER else ("byte_ns",)
        known = ("publish_us", "deliver_us", *sizes, "crowd", "serial")
        return [*known, *wire] if way == LINK else list(known)

    def changed(self, values: Mapping[str, float]) -> Costs:
        return replace(self, **values)

    def as_dict(self) -> dict[str, float]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


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
    """Utilisation of one resource: 1 is its limit."""

    resource: str
    share: float


@dataclass(frozen=True)
class Demand:
    """All that a graph asks for, the busiest first."""

    uses: list[Use]

    @property
    def total(self) -> float:
        """Above 1 the graph does not hold."""
        return norm(use.share for use in self.uses)

    @property
    def first(self) -> Use:
        """What breaks first."""
        return self.uses[0]


def norm(shares) -> float:  # type: ignore[no-untyped-def]
    shares = list(shares)
    top = max(shares, default=0.0)
    if top <= 0.0:
        return 0.0
    return top * math.pow(sum(math.pow(share / top, NORM) for share in shares), 1 / NORM)


def demand(graph: Graph, costs: Mapping[str, Costs], host: Host) -> Demand:
    """What the graph asks of CPU, processes, callbacks and the link. KeyError without the costs of
    a way that it takes."""
    deliveries = list(graph.deliveries())
    cpu: dict[str, float] = defaultdict(float)  # µs a second, by host
    process: dict[str, float] = defaultdict(float)  # the same of one process, one by one
    wire: dict[str, float] = defaultdict(float)  # µs a second, by direction
    crowd = _crowds(graph, host)

    def machine(name: str) -> str:
        return "" if host.shared else graph.processes[name]

    def spend(name: str, way: Costs, us_per_s: float) -> None:
        us_per_s *= max(1.0, crowd[machine(name)]) ** way.crowd
        cpu[machine(name)] += us_per_s
        process[name] += us_per_s * way.serial

    # A message is published once for each way it takes, however many get it.
    for delivery in _publications(deliveries):
        way = costs[delivery.way]
        spend(delivery.sender, way, delivery.rate_hz * way.publish_us)
    for delivery in deliveries:
        way = costs[delivery.way]
        size = delivery.channel.size
        sends = 1.0 if delivery.way != POINTER else float(delivery.callbacks)
        each = way.deliver_us + (0.0 if delivery.way == POINTER else way.byte_ns * size / 1e3)
        spend(delivery.receiver, way, delivery.rate_hz * sends * each)
        if delivery.way == LINK:
            direction = graph.processes[delivery.sender] + " → " + graph.processes[delivery.receiver]
            key = "the air" if host.half_duplex else direction
            wire[key] += delivery.rate_hz * (way.wire_us + way.wire_byte_ns * size / 1e3)
    callbacks = _callbacks(graph, deliveries)
    for (node, _channel), us_per_s in callbacks.items():
        cpu[machine(graph.node(node).process)] += us_per_s
    uses = [
        *(Use(f"CPU of {name or 'the machine'}", us / 1e6 / host.cores) for name, us in cpu.items()),
        *_largest("process", {name: us / 1e6 for name, us in process.items()}),
        *_largest(
            "callback",
            {f"{node} on {channel}": us / 1e6 for (node, channel), us in callbacks.items()},
        ),
        *(Use(f"link {name}", us / 1e6) for name, us in wire.items()),
    ]
    return Demand(sorted(uses, key=lambda use: -use.share))


def _largest(kind: str, shares: dict[str, float]) -> list[Use]:
    """One of many alike: they limit each for itself, not together."""
    if not shares:
        return []
    name = max(shares, key=lambda one: shares[one])
    return [Use(f"{kind} {name}", shares[name])]


def _crowds(graph: Graph, host: Host) -> dict[str, float]:
    """Processes for each core, by machine."""
    count: dict[str, int] = defaultdict(int)
    for where in graph.processes.values():
        count["" if host.shared else where] += 1
    return {name: number / host.cores for name, number in count.items()}


def _publications(deliveries: list[Delivery]) -> list[Delivery]:
    seen: dict[tuple[str, str, str], Delivery] = {}
    for delivery in deliveries:
        key = (delivery.channel.name, delivery.sender, delivery.way)
        seen.setdefault(key, delivery)
    return list(seen.values())


def _callbacks(graph: Graph, deliveries: list[Delivery]) -> dict[tuple[str, str], float]:
    """Computing, in µs a second, of each node on each channel."""
    us: dict[tuple[str, str], float] = defaultdict(float)
    for delivery in deliveries:
        for name in delivery.channel.subscribers:
            node = graph.node(name)
            if node.process == delivery.receiver:
                work = delivery.rate_hz * node.work_for(delivery.channel.name)
                if work:
                    us[name, delivery.channel.name] += work
    return us


def knee(graph: Graph, costs: Mapping[str, Costs], host: Host) -> float:
    """The factor on all rates at which the graph ceases to hold."""
    total = demand(graph, costs, host).total
    return math.inf if total == 0.0 else 1.0 / total


def volume(graph: Graph) -> float:
    """N·f·S: bytes a second that the sources send, the measure of the classic law (CSLV)."""
    return sum(
        graph.rate_of(channel, publisher) * channel.size
        for channel in graph.channels
        if not channel.after
        for publisher in channel.publishers
    )
