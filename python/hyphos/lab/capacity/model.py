"""The capacity model: the use of each resource by a graph, and the load that the graph can carry.

docs/explanation/capacity_model.md has the complete model with its formulas and reasons. The names
in `Costs` are the symbols of that page with units. On that page, `wire_us` is *packet*, and
`wire_byte_ns` is the *byte* of a link.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hyphos.lab.capacity.graph import LINK, POINTER, TCP, WAYS, Delivery, Graph
from hyphos.lab.capacity.queues import queues

NORM = 6.0
# A copy through a socket or into memory has two halves. A wake-up is one system call of the sender.
# The rest of its cost is paid by the woken process.
COPY_OF_SENDER = 1 / 2
WAKE_OF_SENDER = 1 / 5
# Message bytes in a full packet: the 1500 bytes of an Ethernet frame without IP and TCP headers.
PACKET = 1448
# From this size on, ZeroMQ makes two calls for a message, the second without its own copy. It
# collects smaller messages, half this size in each call (its out_batch_size).
TOGETHER = 16384
CROWDING = 0.35
BEHIND = 2.5
AIR = "the air"
QUEUE = "queue of "
# Iterations until load and wake-up cost, which depend on each other, converge.
ROUNDS = 4
Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Costs:
    """The costs of one transport. All are positive."""

    publish_us: float = 2.0
    deliver_us: float = 5.0
    byte_ns: float = 1e-9
    wake_us: float = 20.0
    batch_us: float = 2500.0
    serial: float = 1.0
    again: float = 1.0
    local: float = 1.0
    send_us: float = 1e-9
    room_kb: float = 1e9
    wire_us: float = 1.0
    wire_batch_us: float = 1.0
    wire_byte_ns: float = 1.0

    @staticmethod
    def names(way: str) -> list[str]:
        """The costs that apply to a transport."""
        known = ["publish_us", "deliver_us", "wake_us", "batch_us", "serial"]
        known += ["again", "local"] if way == POINTER else ["byte_ns"]
        if way in (TCP, LINK):
            known += ["send_us", "room_kb"]
        return [*known, "wire_us", "wire_batch_us", "wire_byte_ns"] if way == LINK else known


_COSTS = [field.name for field in fields(Costs)]


@dataclass(frozen=True)
class Host:
    """The machine in the model."""

    cores: float
    # True: all hosts of a graph are this one machine (as if a plan runs in namespaces). False: each
    # host is such a machine.
    shared: bool = True
    # True: all messages of a link share the medium, in both directions (Wi-Fi). False: each
    # direction has its own (a cable).
    half_duplex: bool = False


@dataclass(frozen=True)
class Use:
    """The share of a resource that a graph uses. Its limit is 1."""

    resource: str
    share: float


def norm(shares: Iterable[float]) -> float:
    """The norm of order 6, without overflow."""
    known = list(shares)
    top = max(known, default=0.0)
    if top <= 0.0:
        return 0.0
    return float(top * math.pow(sum(math.pow(share / top, NORM) for share in known), 1 / NORM))


class _Names:
    """Numbers for names, in order of first use."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.of.setdefault(name, len(self.of))

    def __len__(self) -> int:
        return len(self.of)

    def list(self) -> list[str]:
        return list(self.of)


class Load:
    """A graph in columns, for fast evaluation by a fit."""

    def __init__(self, graph: Graph, host: Host) -> None:
        self.host = host
        self.ways = [False] * len(WAYS)
        self._machines, self._actors, self._wires = _Names(), _Names(), _Names()
        self._pairs, self._processes = _Names(), _Names()
        self._machine_of: list[int] = []  # by process
        self._callbacks: dict[str, float] = defaultdict(float)  # µs a second
        self._computing: dict[int, float] = defaultdict(float)  # µs a second by process
        deliveries = list(graph.deliveries())
        self._take_deliveries(graph, deliveries)
        self._take_publications(graph, deliveries)
        self._take_sources(graph, deliveries)
        self._worked: dict[int, float] = defaultdict(float)  # µs a second by actor
        self._take_computing(graph)
        self._queues: dict[str, float] = defaultdict(float)  # the fullest before each callback
        for one in queues(graph, host.cores, shared=host.shared):
            name = f"{QUEUE}{one.channel} at {one.node}"
            self._queues[name] = max(self._queues[name], one.share)
        self._prepare()
        self._nearby = (0.0, 1.0)  # the logarithm of the last saturation point, and its slope

    def _prepare(self) -> None:
        """The parts of the evaluation that depend on no cost."""
        self._carrier = np.concatenate(
            (self._actor, self._sender, self._sent_actor, self._timed_actor)
        )
        self._place = np.concatenate((self._at, self._from, self._sent_at, self._timed_at))
        self._all_ways = np.concatenate((self._way, self._way, self._sent_way, self._timed_way))
        self._hosts = np.array(self._machine_of, dtype=np.int64)
        self._work = _sums(self._worked, len(self._actors))
        self._work_at = _sums(self._computing, len(self._processes))
        crowd = self._crowd(self._hosts, len(self._machines))
        pointer = WAYS.index(POINTER)
        self._by_pointer = self._way == pointer
        self._sent_by_pointer = self._sent_way == pointer
        self._crowd_of = np.where(self._by_pointer, 1.0, crowd[self._at])
        self._timed_crowd = np.where(self._timed_way == pointer, 1.0, crowd[self._timed_at])

    def _process(self, graph: Graph, name: str) -> int:
        process = self._processes(name)
        if process == len(self._machine_of):
            machine = "the machine" if self.host.shared else graph.processes[name]
            self._machine_of.append(self._machines(machine))
        return process

    def _take_deliveries(self, graph: Graph, deliveries: list[Delivery]) -> None:
        rows: list[tuple[float, ...]] = []
        seen: set[tuple[str, str, str]] = set()
        for one in deliveries:
            wire = -1
            if one.way == LINK:
                ends = f"{graph.processes[one.sender]} → {graph.processes[one.receiver]}"
                wire = self._wires(AIR if self.host.half_duplex else f"link {ends}")
            way = WAYS.index(one.way)
            self.ways[way] = True
            processes = (self._process(graph, one.sender), self._process(graph, one.receiver))
            sender = self._actors(_sender(one))
            for actor in _receivers(graph, one):
                message = (one.channel.name, one.publisher, one.way)
                further = float(message in seen)
                seen.add(message)
                pair = self._pairs(f"{one.sender} → {actor}")
                numbers = (way, sender, self._actors(actor), pair, *processes, wire)
                rows.append((one.rate_hz, one.channel.size, further, *numbers))
        columns = np.array(rows).T if rows else np.zeros((10, 0))
        self._rate, self._size, self._further = columns[:3]
        whole = columns[3:].astype(np.int64)
        self._way, self._sender, self._actor, self._pair, self._from, self._at, self._wire = whole

    def _take_computing(self, graph: Graph) -> None:
        """The computing time of nodes for received and for published messages."""
        for channel in graph.channels:
            rates = {name: graph.rate_of(channel, name) for name in channel.publishers}
            for name, rate in rates.items():
                asked = channel.after or f"{channel.name}, at its source"
                self._compute(graph, name, asked, rate * channel.work_us)
            for name in channel.subscribers:
                work = sum(rates.values()) * graph.node(name).work_for(channel.name)
                self._compute(graph, name, channel.name, work)

    def _compute(self, graph: Graph, node: str, channel: str, us_per_s: float) -> None:
        if us_per_s:
            process = graph.node(node).process
            self._callbacks[f"callback of {node} on {channel}"] += us_per_s
            self._computing[self._process(graph, process)] += us_per_s
            for actor in (f"process {process}", f"{node} on {channel}"):
                if actor in self._actors.of:
                    self._worked[self._actors(actor)] += us_per_s

    def _take_publications(self, graph: Graph, deliveries: list[Delivery]) -> None:
        """A message is published once for each transport, for any number of receivers."""
        seen: set[tuple[str, str, str]] = set()
        rows: list[tuple[float, ...]] = []
        for one in deliveries:
            key = (one.channel.name, one.publisher, one.way)
            if key not in seen:
                seen.add(key)
                actor = self._actors(_sender(one))
                way = WAYS.index(one.way)
                rows.append((one.rate_hz, way, actor, self._process(graph, one.sender)))
        columns = np.array(rows).T if rows else np.zeros((4, 0))
        self._sent = columns[0]
        self._sent_way, self._sent_actor, self._sent_at = columns[1:].astype(np.int64)

    def _take_sources(self, graph: Graph, deliveries: list[Delivery]) -> None:
        """The publishers that a timer wakes."""
        seen: set[tuple[str, str]] = set()
        rows: list[tuple[float, ...]] = []
        for one in deliveries:
            key = (one.channel.name, one.publisher)
            if not one.channel.after and key not in seen:
                seen.add(key)
                numbers = (WAYS.index(one.way), self._actors(_sender(one)))
                rows.append((one.rate_hz, *numbers, self._process(graph, one.sender)))
        columns = np.array(rows).T if rows else np.zeros((4, 0))
        self._timed = columns[0]
        self._timed_way, self._timed_actor, self._timed_at = columns[1:].astype(np.int64)

    def uses(self, costs: Mapping[str, Costs], scale: float = 1.0) -> list[Use]:
        """The share of each resource at `scale` times the rates. Raises KeyError if the costs of a
        used transport are missing."""
        return self._uses(self._table(costs), scale)

    def each(self, costs: Mapping[str, Costs], scale: float = 1.0) -> list[Use]:
        """The same with every process, callback and queue, and not only the busiest of each."""
        return self._uses(self._table(costs), scale, pick=_all)

    def _table(self, costs: Mapping[str, Costs]) -> dict[str, Vector]:
        """Each cost by transport."""
        return {
            name: np.array(
                [
                    getattr(costs[way], name) if here else 0.0
                    for way, here in zip(WAYS, self.ways, strict=True)
                ]
            )
            for name in _COSTS
        }

    def _uses(
        self,
        table: Mapping[str, Vector],
        scale: float,
        pick: Callable[[list[str], Vector], list[Use]] | None = None,
    ) -> list[Use]:
        pick = pick or _busiest
        often = np.bincount(self._pair, self._rate * scale, len(self._pairs)).astype(np.float64)
        copy = table["send_us"][self._way] * np.minimum(1.0, self._size / TOGETHER)
        copy += table["byte_ns"][self._way] * self._size / 1e3
        full = self._size / (1024 * table["room_kb"][self._way] + 1e-9)
        # 1 for the first receiver of a message, and for all receivers if bytes are copied.
        again = 1.0 - self._further * (1.0 - table["again"][self._way])
        deliver = table["deliver_us"][self._way] * again
        publish = table["publish_us"][self._sent_way]
        computed = self._work * scale
        actor, at, machine_of = self._carrier, self._place, self._hosts
        machines = len(self._machines)
        wake_us = table["wake_us"][self._way] * self._crowd_of * again
        timer_us = table["wake_us"][self._timed_way] * self._timed_crowd
        computing = self._work_at * scale
        busy = np.ones(len(self._actors))
        carrying = np.ones(len(self._actors))
        local = np.ones(len(self._processes))
        for _ in range(ROUNDS):
            factor = np.where(self._sent_by_pointer, local[self._sent_at], 1.0)
            sent = self._sent * scale * publish * factor
            here = deliver * np.where(self._by_pointer, local[self._at], 1.0)
            late = (busy**BEHIND * carrying)[self._actor] * carrying[self._sender]
            each = _each_wakes(table, self._way, often[self._pair], late)
            wake = wake_us * np.minimum(1.0, each + full)
            timer = timer_us * _each_wakes(
                table, self._timed_way, self._timed * scale, (busy * carrying)[self._timed_actor]
            )
            timed = self._timed * scale * timer * (1 - WAKE_OF_SENDER)
            send = wake * WAKE_OF_SENDER + copy * COPY_OF_SENDER
            passed = self._rate * scale * send
            taken = self._rate * scale * (here + wake + copy - send)
            us = np.concatenate((taken, passed, sent, timed))
            carried = np.bincount(actor, us, busy.size)
            spent = np.maximum(computed + carried, 1e-12)
            busy = np.sqrt(busy * spent / spent.max(initial=1e-12))
            carrying = np.sqrt(carrying * carried / spent)
            by_process = computing + np.bincount(at, us, len(self._processes))
            cpu = np.bincount(machine_of, by_process, machines)
            local = self._local(table, by_process / np.maximum(cpu[machine_of], 1e-12))
        shares = us * table["serial"][self._all_ways]
        serial = np.bincount(actor, shares, busy.size).astype(np.float64)
        uses = [
            Use(f"CPU of {name}", float(us) / 1e6 / self.host.cores)
            for name, us in zip(self._machines.list(), cpu, strict=True)
        ]
        # Of many equal ones take the busiest: each has its own limit, they do not add up.
        uses += pick(self._actors.list(), serial / 1e6)
        uses += pick(list(self._callbacks), np.array(list(self._callbacks.values())) * scale / 1e6)
        uses += pick(list(self._queues), np.array(list(self._queues.values())) * scale)
        return uses + self._wire_uses(table, often, scale)

    def _crowd(self, machine_of: Numbers, machines: int) -> Vector:
        """The factor on wake-ups in each process, by the number of processes on its machine."""
        many = np.bincount(machine_of, minlength=machines)[machine_of]
        factors: Vector = np.maximum(1.0, many / self.host.cores) ** CROWDING
        return factors

    def _local(self, table: Mapping[str, Vector], shares: Vector) -> Vector:
        """The factor on pointer costs in each process, by its share of its machine."""
        cores = self.host.cores
        if cores <= 1.0:
            return np.ones(len(shares))
        apart = (1.0 - 1.0 / np.maximum(1.0, cores * shares)) / (1.0 - 1.0 / cores)
        least = float(table["local"][WAYS.index(POINTER)])
        factors: Vector = least + (1.0 - least) * apart
        return factors

    def _wire_uses(self, table: Mapping[str, Vector], often: Vector, scale: float) -> list[Use]:
        on = self._wire >= 0
        if not on.any():
            return []
        way = self._way[on]
        together = 1.0 + often[self._pair[on]] * table["wire_batch_us"][way] / 1e6
        full = self._size[on] / PACKET
        packets = full + np.maximum(0.0, 1.0 - full) / together
        us = table["wire_us"][way] * packets + table["wire_byte_ns"][way] * self._size[on] / 1e3
        shares = np.bincount(self._wire[on], self._rate[on] * us * scale, len(self._wires)) / 1e6
        return [Use(name, float(x)) for name, x in zip(self._wires.list(), shares, strict=True)]

    def knee(self, costs: Mapping[str, Costs]) -> float:
        """The factor on all rates at which the graph saturates."""
        # A fit asks for similar costs one after the other, so begin at the last result.
        (at, steep), last = self._nearby, (0.0, 0.0)
        table = self._table(costs)
        for step in range(60):
            total = norm(use.share for use in self._uses(table, math.exp(at)))
            if total == 0.0:
                return math.inf
            over = math.log(total)
            if abs(over) < 1e-7:
                self._nearby = (at, steep)
                break
            # Nearly proportional, so secants of the logarithms converge in a few steps.
            if step and at != last[0]:
                steep = min(2.0, max(0.3, (over - last[1]) / (at - last[0])))
            last = (at, over)
            at -= over / steep
        return math.exp(at)


def _sums(values: Mapping[int, float], count: int) -> Vector:
    return np.array([values.get(i, 0.0) for i in range(count)])


def _each_wakes(table: Mapping[str, Vector], way: Numbers, rate_hz: Vector, late: Vector) -> Vector:
    """The share of messages with a wake-up. `late` is b^2.5·m·m', for a source b·m."""
    share: Vector = 1.0 / (1.0 + rate_hz * table["batch_us"][way] / 1e6 * late**2)
    return share


def _busiest(names: list[str], shares: Vector) -> list[Use]:
    if not names:
        return []
    top = int(np.argmax(shares))
    return [Use(names[top], float(shares[top]))]


def _all(names: list[str], shares: Vector) -> list[Use]:
    return [Use(name, float(share)) for name, share in zip(names, shares, strict=True)]


def _sender(delivery: Delivery) -> str:
    """The serial actor that publishes a message: a process, or with pointers the replying callback
    or the publisher's own thread."""
    if delivery.way != POINTER:
        return f"process {delivery.sender}"
    channel = delivery.channel
    return f"{delivery.publisher} on {channel.after or channel.name}"


def _receivers(graph: Graph, delivery: Delivery) -> list[str]:
    """The serial actors that receive a message: a process, or with pointers each callback."""
    if delivery.way != POINTER:
        return [f"process {delivery.receiver}"]
    return [f"{name} on {delivery.channel.name}" for name in graph.ears(delivery)]


@dataclass(frozen=True)
class Demand:
    """The resources that a graph uses. Shares are those at the saturation point, divided by the
    factor to it. At low load each message costs more, but that does not affect the limit."""

    knee: float  # factor on all rates
    uses: list[Use]  # busiest first

    @property
    def total(self) -> float:
        return 1.0 / self.knee

    @property
    def first(self) -> Use:
        """The resource that breaks first."""
        return self.uses[0]


def demand(graph: Graph, costs: Mapping[str, Costs], host: Host) -> Demand:
    load = Load(graph, host)
    scale = load.knee(costs)
    if scale == math.inf:
        return Demand(scale, [Use("nothing", 0.0)])
    uses = [Use(use.resource, use.share / scale) for use in load.uses(costs, scale)]
    return Demand(scale, sorted(uses, key=lambda use: -use.share))


def each_use(graph: Graph, costs: Mapping[str, Costs], host: Host) -> list[Use]:
    """The shares of demand() for every process, callback and queue."""
    load = Load(graph, host)
    scale = load.knee(costs)
    if scale == math.inf:
        return []
    return [Use(use.resource, use.share / scale) for use in load.each(costs, scale)]


def knee(graph: Graph, costs: Mapping[str, Costs], host: Host) -> float:
    return Load(graph, host).knee(costs)


def share_of_queues(load: Load, costs: Mapping[str, Costs]) -> float:
    """The fall of the saturation point in per cent for each per cent of additional lateness."""
    scale = load.knee(costs)
    if scale == math.inf:
        return 0.0
    uses = load.uses(costs, scale)
    queued = norm(use.share for use in uses if use.resource.startswith(QUEUE))
    return float((queued / norm(use.share for use in uses)) ** NORM)


def volume(graph: Graph) -> float:
    """N·f·S: bytes a second from all sources, the measure of the classic law (CSLV)."""
    return sum(
        graph.rate_of(channel, publisher) * channel.size
        for channel in graph.channels
        if not channel.after
        for publisher in channel.publishers
    )
