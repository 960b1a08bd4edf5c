"""The load of a robot's graph: messages between nodes, their sizes, rates and computing times."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hyphos._errors import Error

POINTER, SHM, TCP, LINK = "pointer", "shm", "tcp", "link"
WAYS = (POINTER, SHM, TCP, LINK)


@dataclass(frozen=True)
class Channel:
    """Each publisher computes for `work_us` and sends `size` bytes, `rate_hz` times a second or on
    every `every`-th message of the channel `after`. `reliable` and `depth` are those of its policy.
    `transport` is that of the plan (auto, shm, zmq)."""

    name: str
    publishers: tuple[str, ...]
    subscribers: tuple[str, ...]
    size: int
    rate_hz: float = 0.0
    after: str = ""
    every: int = 1
    reliable: bool = False
    depth: int = 10
    transport: str = "auto"
    work_us: float = 0.0


@dataclass(frozen=True)
class Node:
    """A node with its computing time for each received message, by channel, and for all others."""

    name: str
    process: str
    work_us: float = 0.0
    work_us_of: Mapping[str, float] = field(default_factory=dict)

    def work_for(self, channel: str) -> float:
        return self.work_us_of.get(channel, self.work_us)


@dataclass(frozen=True)
class Delivery:
    """A channel from one process to another: messages a second, and their transport."""

    channel: Channel
    publisher: str  # node
    sender: str  # its process
    receiver: str
    rate_hz: float
    way: str  # pointer, shm, tcp, link


@dataclass(frozen=True)
class Graph:
    """Processes by host, nodes by process, channels between nodes. Rates are messages a second."""

    name: str
    processes: Mapping[str, str]  # name → host
    nodes: tuple[Node, ...]
    channels: tuple[Channel, ...]
    threads: Mapping[str, int] = field(default_factory=dict)

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(self.processes.values()))

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def _channels(self) -> dict[str, Channel]:
        return {channel.name: channel for channel in self.channels}

    def node(self, name: str) -> Node:
        return self._nodes[name]

    def rate_of(self, channel: Channel, publisher: str) -> float:
        """Messages a second that one node publishes on a channel."""
        if not channel.after:
            return channel.rate_hz
        cause = self._channels.get(channel.after)
        if cause is None or publisher not in cause.subscribers:
            return 0.0
        heard = sum(self.rate_of(cause, sender) for sender in cause.publishers)
        return heard / channel.every

    def way(self, channel: Channel, sender: str, receiver: str) -> str:
        """The transport of a channel from one process to another."""
        if sender == receiver:
            return POINTER
        if self.processes[sender] != self.processes[receiver]:
            return LINK
        return TCP if channel.transport == "zmq" else SHM

    def deliveries(self) -> Iterator[Delivery]:
        for channel in self.channels:
            for publisher in channel.publishers:
                sender = self.node(publisher).process
                rate = self.rate_of(channel, publisher)
                for receiver in dict.fromkeys(self.node(n).process for n in channel.subscribers):
                    way = self.way(channel, sender, receiver)
                    yield Delivery(channel, publisher, sender, receiver, rate, way)

    def ears(self, delivery: Delivery) -> list[str]:
        """The nodes of the receiving process that subscribe to the channel."""
        return [
            name
            for name in delivery.channel.subscribers
            if self.node(name).process == delivery.receiver
        ]

    def with_sizes(self, factor: float) -> Graph:
        """The same graph with larger messages."""
        channels = tuple(
            replace(channel, size=max(32, round(channel.size * factor)))
            for channel in self.channels
        )
        return replace(self, channels=channels)

    def with_rates(self, factor: float) -> Graph:
        channels = tuple(
            replace(channel, rate_hz=channel.rate_hz * factor) for channel in self.channels
        )
        return replace(self, channels=channels)

    def copies(self, count: int) -> Graph:
        """A number of the same robots side by side, on the same hosts."""
        if count == 1:
            return self
        return join(self.name, [self.renamed(f"r{i}_") for i in range(count)])

    def renamed(self, prefix: str) -> Graph:
        def named(names: Sequence[str]) -> tuple[str, ...]:
            return tuple(prefix + name for name in names)

        return Graph(
            self.name,
            {prefix + name: host for name, host in self.processes.items()},
            tuple(
                Node(
                    prefix + node.name,
                    prefix + node.process,
                    node.work_us,
                    {prefix + name: work for name, work in node.work_us_of.items()},
                )
                for node in self.nodes
            ),
            tuple(
                replace(
                    channel,
                    name=prefix + channel.name,
                    publishers=named(channel.publishers),
                    subscribers=named(channel.subscribers),
                    after=prefix + channel.after if channel.after else "",
                )
                for channel in self.channels
            ),
            {prefix + name: count for name, count in self.threads.items()},
        )

    def robot_yaml(self, addresses: Mapping[str, str] | None = None) -> str:
        """A plan for hyphos-lab-graph: the same graph, without the programs of its nodes."""
        where = addresses or {}
        several = len(self.hosts) > 1
        plan: dict[str, Any] = {"hyphos": 1, "robot": "lab"}
        if several:
            plan["hosts"] = {host: {"address": where[host]} for host in self.hosts}
        plan["processes"] = {
            name: {"threads": self.threads.get(name, 0), **({"host": host} if several else {})}
            for name, host in self.processes.items()
        }
        plan["nodes"] = {
            node.name: {
                "process": node.process,
                # A plan has one of the two.
                "load": {"work_us": dict(node.work_us_of) or node.work_us},
            }
            for node in self.nodes
        }
        plan["channels"] = {
            channel.name: {
                "publishers": list(channel.publishers),
                "subscribers": list(channel.subscribers),
                "reliability": "reliable" if channel.reliable else "best_effort",
                "depth": channel.depth,
                "transport": channel.transport,
                "load": {
                    "size": channel.size,
                    "work_us": channel.work_us,
                    **(
                        {"after": channel.after, "every": channel.every}
                        if channel.after
                        else {"rate_hz": channel.rate_hz}
                    ),
                },
            }
            for channel in self.channels
        }
        # JSON is YAML, and writing it is a hundred times as fast.
        return json.dumps(plan)


def join(name: str, parts: Sequence[Graph]) -> Graph:
    """Several graphs that share only the machines."""
    return Graph(
        name,
        {process: host for part in parts for process, host in part.processes.items()},
        tuple(node for part in parts for node in part.nodes),
        tuple(channel for part in parts for channel in part.channels),
        {process: count for part in parts for process, count in part.threads.items()},
    )


def graph_of(plan: Mapping[str, Any]) -> Graph:
    """The graph of a plan's JSON. Raises Error if no channel has a load. Omits channels without
    `load:`, which the caller must name."""
    channels = []
    places = {node["name"]: node["process"] for node in plan["nodes"]}
    for channel in plan["channels"]:
        load = channel["load"]
        subscribers = _reached(channel, places)
        if not load or channel["closed"] or not channel["publishers"]:
            continue
        channels.append(
            Channel(
                channel["name"],
                tuple(channel["publishers"]),
                subscribers,
                max(32, load["size_bytes"]),
                load["rate_hz"],
                load["after"],
                load["every"],
                channel["reliability"] == "reliable" and channel["overflow"] == "block",
                channel["depth"],
                channel["transport"],
                load["work_us"],
            )
        )
    if not channels:
        raise Error(
            "invalid_config",
            "no channel has a load with publishers",
            plan["file"],
            "give each a load: {rate_hz: 10, size: 64 KB}, or {after: OTHER_CHANNEL, size: …}, "
            "and publishers and subscribers",
        )
    nodes = tuple(
        Node(node["name"], node["process"], node["load"]["work_us"], node["load"]["work_us_of"])
        for node in plan["nodes"]
    )
    used = {node.process for node in nodes}
    return Graph(
        plan["robot"],
        {one["name"]: one["host"] for one in plan["processes"] if one["name"] in used},
        nodes,
        tuple(channels),
        {one["name"]: one["threads"] for one in plan["processes"] if one["name"] in used},
    )


def _reached(channel: Mapping[str, Any], places: Mapping[str, str]) -> tuple[str, ...]:
    """The subscribers that get messages at the places at which the channel is open."""
    publishing = {places[name] for name in channel["publishers"] or ()}

    def gets(name: str) -> bool:
        match channel["open"]:
            case "inside":
                return places[name] in publishing
            case "outside":
                return bool(publishing - {places[name]})
        return True

    return tuple(name for name in channel["subscribers"] or () if gets(name))


def silent(plan: Mapping[str, Any]) -> list[str]:
    """Channels without a load, publishers or subscribers in the plan."""
    return [
        channel["name"]
        for channel in plan["channels"]
        if not channel["closed"]
        and not (channel["load"] and channel["publishers"] and channel["subscribers"])
    ]


def interpreted(plan: Mapping[str, Any], graph: Graph) -> dict[str, list[str]]:
    """Python nodes, each with the counted channels for which the plan has no `work_us`. The model
    treats their callbacks like C++."""
    found: dict[str, list[str]] = {}
    for name in [one["name"] for one in plan["nodes"] if one["kind"] == "python"]:
        node = graph.node(name)
        # Publishing in a callback belongs to the work of that callback.
        free = [
            one.name
            for one in graph.channels
            if (name in one.subscribers and not node.work_for(one.name))
            or (name in one.publishers and not one.after and not one.work_us)
        ]
        if free:
            found[name] = free
    return found
