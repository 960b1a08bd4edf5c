"""What a graph asks of each resource, and up to which load that holds.

A message of S bytes costs CPU time: `publish_us` where it is published, and for each process that
gets it `deliver_us + copy + wake`. Half of the copy and a fifth of the wake-up falls on the sender.

    copy = send_us·min(1, S / 16 KB) + byte_ns·S
    wake = wake_us·crowd·min(1, S / room_kb + 1 / (1 + r·batch_us·(b^2.5·m·m')²))

r: messages a second between the two. `send_us` and `room_kb` are of sockets only: ZeroMQ
gathers 8 KB for one call of the system, and makes two for what is larger by far, the second of them
without a copy of its own; and only so much waits in a socket for whoever is behind, so that large
messages wake him one by one.

Where pointers travel, all but the first who get a message cost `again` times as much: it is made,
and lies in the cache. Pointers are cheaper, too, in a process that the others leave no more than
one processor: to publish and to deliver then costs `local` times as much as in one that has them
all. Where a process keeps c processors busy,

    publish, deliver ~ local + (1 - local)·(1 - 1/c) / (1 - 1/cores)

Who is awake already need not be woken: messages become cheaper as they come more often. But only
where they wait: under a fair scheduler, who has little to do is served at once, and pays the
wake-up for each message, while who has most to do is behind and takes many at a time. b is how busy
a process is, compared to the busiest; for one that receives b^2.5, as with time to spare it is
hardly ever behind. Nor do messages wait where somebody computes between one and the next: m is the
part of its time that the receiver spends on messages, m' that of the sender. A source is woken too,
by its timer: there with b itself, since it is held back with those to whom it sends. Who is woken
finds the caches cold where others have run meanwhile: between processes, of which there are p for
each core, crowd = p^0.35.

Two things limit the rate: the CPU of the machine, and what one process can do one after the other
(`serial` times the costs of its messages; a callback that computes takes no other message of its
channel meanwhile). A link adds `wire_us·packets + wire_byte_ns·S` of its own time to each message,
in each direction or, where the medium is shared, in all. A short queue drops before any of these is
full (hyphos.lab.capacity.queues). A message fills S / 1448 packets; what is
less than one has one to itself, unless others wait that share it:

    packets = S / 1448 + max(0, 1 - S / 1448) / (1 + r·wire_batch_us)

Resources near their limit together carry less than each alone: utilisations are
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
from hyphos.lab.capacity.queues import queues

NORM = 6.0
# A copy through a socket or into memory has two halves. To wake somebody is one system call; what
# comes of it is for the one who wakes.
COPY_OF_SENDER = 1 / 2
WAKE_OF_SENDER = 1 / 5
# Bytes of messages in a full packet: 1500 of an Ethernet frame without the heads of IP and TCP.
PACKET = 1448
# From so many bytes on ZeroMQ makes two calls for a message; less than that it puts together, half
# as much in each call (its out_batch_size).
TOGETHER = 16384
CROWDING = 0.35
BEHIND = 2.5
AIR = "the air"
QUEUE = "queue of "
# In which "how busy" and "what a wake-up costs", each of which needs the other, settle.
ROUNDS = 4
Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Costs:
    """Of one way for messages to travel. All are positive."""

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
        """Those that mean something for a way."""
        known = ["publish_us", "deliver_us", "wake_us", "batch_us", "serial"]
        known += ["again", "local"] if way == POINTER else ["byte_ns"]
        if way in (TCP, LINK):
            known += ["send_us", "room_kb"]
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
        self._pairs, self._processes = _Names(), _Names()
        self._machine_of: list[int] = []  # by process
        self._callbacks: dict[str, float] = defaultdict(float)  # µs a second
        self._computing: dict[int, float] = defaultdict(float)  # the same by process
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
            process = graph.node(node).process
            self._callbacks[f"callback of {node} on {channel}"] += us_per_s
            self._computing[self._process(graph, process)] += us_per_s
            for actor in (f"process {process}", f"{node} on {channel}"):
                if actor in self._actors.of:
                    self._worked[self._actors(actor)] += us_per_s

    def _take_publications(self, graph: Graph, deliveries: list[Delivery]) -> None:
        """A message is published once for each way it takes, however many get it."""
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
        """Those whom a timer wakes."""
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
        often = np.bincount(self._pair, self._rate * scale, len(self._pairs)).astype(np.float64)
        copy = table["send_us"][self._way] * np.minimum(1.0, self._size / TOGETHER)
        copy += table["byte_ns"][self._way] * self._size / 1e3
        full = self._size / (1024 * table["room_kb"][self._way] + 1e-9)
        # 1 of the first who gets a message, and where bytes travel of all.
        again = 1.0 - self._further * (1.0 - table["again"][self._way])
        deliver = table["deliver_us"][self._way] * again
        publish = table["publish_us"][self._sent_way]
        computed = _sums(self._worked, len(self._actors)) * scale
        actor = np.concatenate((self._actor, self._sender, self._sent_actor, self._timed_actor))
        at = np.concatenate((self._at, self._from, self._sent_at, self._timed_at))
        machine_of = np.array(self._machine_of, dtype=np.int64)
        machines = len(self._machines)
        crowd = self._crowd(machine_of, machines)
        wake_us = table["wake_us"][self._way] * _unless_pointers(self._way, crowd[self._at]) * again
        timer_us = table["wake_us"][self._timed_way]
        timer_us = timer_us * _unless_pointers(self._timed_way, crowd[self._timed_at])
        computing = _sums(self._computing, len(self._processes)) * scale
        busy = np.ones(len(self._actors))
        carrying = np.ones(len(self._actors))
        local = np.ones(len(self._processes))
        for _ in range(ROUNDS):
            sent = self._sent * scale * publish * _if_pointers(self._sent_way, local[self._sent_at])
            here = deliver * _if_pointers(self._way, local[self._at])
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
        way = np.concatenate((self._way, self._way, self._sent_way, self._timed_way))
        serial = np.bincount(actor, us * table["serial"][way], busy.size).astype(np.float64)
        uses = [
            Use(f"CPU of {name}", float(us) / 1e6 / self.host.cores)
            for name, us in zip(self._machines.list(), cpu, strict=True)
        ]
        # Of many alike the busiest: they limit each for itself, not together.
        uses += _busiest(self._actors.list(), serial / 1e6)
        uses += _busiest(
            list(self._callbacks), np.array(list(self._callbacks.values())) * scale / 1e6
        )
        uses += _busiest(list(self._queues), np.array(list(self._queues.values())) * scale)
        return uses + self._wire_uses(table, often, scale)

    def _crowd(self, machine_of: Numbers, machines: int) -> Vector:
        """What a wake-up costs in each process, with how many there are on its machine."""
        many = np.bincount(machine_of, minlength=machines)[machine_of]
        factors: Vector = np.maximum(1.0, many / self.host.cores) ** CROWDING
        return factors

    def _local(self, table: Mapping[str, Vector], shares: Vector) -> Vector:
        """What pointers cost in each process, with its share of its machine."""
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
        """The factor on all rates at which the graph ceases to hold."""
        table, at, steep, last = self._table(costs), 0.0, 1.0, (0.0, 0.0)
        for step in range(60):
            total = norm(use.share for use in self._uses(table, math.exp(at)))
            if total == 0.0:
                return math.inf
            over = math.log(total)
            if abs(over) < 1e-7:
                break
            # Nearly in proportion, so that secants of the logarithms lead there in a few steps.
            if step and at != last[0]:
                steep = min(2.0, max(0.3, (over - last[1]) / (at - last[0])))
            last = (at, over)
            at -= over / steep
        return math.exp(at)


def _if_pointers(way: Numbers, factors: Vector) -> Vector:
    """The factors where pointers travel."""
    return np.where(way == WAYS.index(POINTER), factors, 1.0)


def _unless_pointers(way: Numbers, factors: Vector) -> Vector:
    """The factors where messages go from process to process."""
    return np.where(way == WAYS.index(POINTER), 1.0, factors)


def _sums(values: Mapping[int, float], count: int) -> Vector:
    return np.array([values.get(i, 0.0) for i in range(count)])


def _each_wakes(table: Mapping[str, Vector], way: Numbers, rate_hz: Vector, late: Vector) -> Vector:
    """Which share of the messages wakes somebody; `late`: b^2.5·m·m', or of a source b·m."""
    share: Vector = 1.0 / (1.0 + rate_hz * table["batch_us"][way] / 1e6 * late**2)
    return share


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
    return f"{delivery.publisher} on {channel.after or channel.name}"


def _receivers(graph: Graph, delivery: Delivery) -> list[str]:
    """Who takes one message after the other: a process, or within one each callback."""
    if delivery.way != POINTER:
        return [f"process {delivery.receiver}"]
    return [f"{name} on {delivery.channel.name}" for name in graph.ears(delivery)]


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


def share_of_queues(load: Load, costs: Mapping[str, Costs]) -> float:
    """By how many per cent the knee falls with each per cent that messages are later."""
    scale = load.knee(costs)
    if scale == math.inf:
        return 0.0
    uses = load.uses(costs, scale)
    queued = norm(use.share for use in uses if use.resource.startswith(QUEUE))
    return float((queued / norm(use.share for use in uses)) ** NORM)


def volume(graph: Graph) -> float:
    """N·f·S: bytes a second that the sources send, the measure of the classic law (CSLV)."""
    return sum(
        graph.rate_of(channel, publisher) * channel.size
        for channel in graph.channels
        if not channel.after
        for publisher in channel.publishers
    )
