"""Parametric graphs, for calibration and prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hyphos.lab.capacity.graph import LINK, POINTER, TCP, Channel, Graph, Node, join

RATE_HZ = 100.0
DEPTH = 16
# Sockets get queues so deep that no burst is lost. A publisher that waits for sockets behaves quite
# differently, and a robot's publishers hardly ever wait.
SOCKET_DEPTH, SOCKET_BYTES = 1000, 16 << 20


def _places(way: str) -> tuple[str, str]:
    return ("near", "far") if way == LINK else ("here", "here")


def _channel(
    name: str, ends: tuple[tuple[str, ...], tuple[str, ...]], size: int, way: str, after: str = ""
) -> Channel:
    sockets = way in (TCP, LINK)
    return Channel(
        name,
        *ends,
        size,
        rate_hz=0.0 if after else RATE_HZ,
        after=after,
        reliable=not sockets,
        depth=max(DEPTH, min(SOCKET_DEPTH, SOCKET_BYTES // size)) if sockets else DEPTH,
        transport="zmq" if way == TCP else "auto",
    )


def _graph(
    name: str, nodes: dict[str, str], channels: list[Channel], way: str, workers: dict[str, float]
) -> Graph:
    """`nodes` maps names to hosts. Each node has its own process, or all share one with pointers.
    `workers` maps nodes to their computing time in µs for each message."""
    process = (lambda _: "main") if way == POINTER else (lambda node: node)
    return Graph(
        name,
        {process(node): host for node, host in nodes.items()},
        tuple(Node(node, process(node), workers.get(node, 0.0)) for node in nodes),
        tuple(channels),
    )


def echo(pairs: int, size: int, way: str, work_us: float = 0.0) -> Graph:
    """`pairs` senders, each with an echoer that returns everything."""
    near, far = _places(way)
    nodes: dict[str, str] = {}
    channels = []
    for i in range(pairs):
        nodes |= {f"s{i}": near, f"e{i}": far}
        channels.append(_channel(f"there{i}", ((f"s{i}",), (f"e{i}",)), size, way))
        channels.append(_channel(f"back{i}", ((f"e{i}",), (f"s{i}",)), size, way, f"there{i}"))
    echoers = [f"e{i}" for i in range(pairs)]
    return _graph(f"echo {pairs}", nodes, channels, way, dict.fromkeys(echoers, work_us))


def fanout(subscribers: int, size: int, way: str, work_us: float = 0.0) -> Graph:
    near, far = _places(way)
    ears = tuple(f"s{i}" for i in range(subscribers))
    nodes = {"p": near} | dict.fromkeys(ears, far)
    channel = _channel("out", (("p",), ears), size, way)
    return _graph(f"fan-out {subscribers}", nodes, [channel], way, dict.fromkeys(ears, work_us))


def fanin(publishers: int, size: int, way: str, work_us: float = 0.0) -> Graph:
    near, far = _places(way)
    mouths = tuple(f"p{i}" for i in range(publishers))
    nodes = dict.fromkeys(mouths, near) | {"s": far}
    channel = _channel("in", (mouths, ("s",)), size, way)
    return _graph(f"fan-in {publishers}", nodes, [channel], way, {"s": work_us})


def pipeline(length: int, size: int, way: str, work_us: float = 0.0) -> Graph:
    """`length` nodes in a row, each forwards its messages. The hosts alternate."""
    near, far = _places(way)
    nodes = {f"n{i}": far if i % 2 else near for i in range(length)}
    channels = [
        _channel(f"c{i}", ((f"n{i}",), (f"n{i + 1}",)), size, way, f"c{i - 1}" if i else "")
        for i in range(length - 1)
    ]
    hearers = list(nodes)[1:]
    return _graph(f"pipeline {length}", nodes, channels, way, dict.fromkeys(hearers, work_us))


def apart(count: int, size: int, way: str) -> Graph:
    """`count` pipelines of five nodes. With pointers, each is in its own process."""
    parts = [pipeline(5, size, way).renamed(f"p{i}_") for i in range(count)]
    return join(f"{count} apart", parts)


def robot(count: int, size: int, way: str) -> Graph:
    """For each robot: a camera with two subscribers, a scan for mapping, a command with a reply,
    and three status publishers. Computing nodes are busier than the others."""
    parts = [
        part.renamed(f"{name}{i}_")
        for i in range(count)
        for name, part in (
            ("camera", fanout(2, size, way)),
            ("scan", pipeline(3, max(64, size // 8), way, work_us=50.0)),
            ("drive", echo(1, 64, way)),
            ("status", fanin(3, 256, way)),
        )
    ]
    graph = join(f"robot x {count}", parts)
    return _in_one_process(graph) if way == POINTER else graph


def _in_one_process(graph: Graph) -> Graph:
    nodes = tuple(replace(node, process="main") for node in graph.nodes)
    return replace(graph, processes={"main": "here"}, nodes=nodes)


def scattered(seed: int, size: int, way: str) -> Graph:
    """A random graph, the same for the same seed: 4 to 12 nodes, some of which compute, 3 to 8
    channels between them, messages of 64 bytes to `size`, at a tenth to twice the rate."""
    dice = Random(seed)
    near, far = _places(way)
    names = [f"n{i}" for i in range(dice.randint(4, 12))]
    nodes = {name: far if i % 2 else near for i, name in enumerate(names)}
    channels: list[Channel] = []
    for i in range(dice.randint(3, 8)):
        publisher = dice.choice(names)
        # Across a link from one host to the other, inside a machine to any other node.
        others = [
            name
            for name in names
            if name != publisher and (way != LINK or nodes[name] != nodes[publisher])
        ]
        ears = tuple(dice.sample(others, min(len(others), dice.randint(1, 4))))
        channel = _channel(f"c{i}", ((publisher,), ears), _between(dice, 64, size), way)
        channels.append(replace(channel, rate_hz=RATE_HZ * 10 ** dice.uniform(-1, 0.3)))
    ears_of_all = [name for name in names if any(name in one.subscribers for one in channels)]
    workers = {name: dice.choice((0.0, 0.0, 20.0, 100.0)) for name in ears_of_all}
    used = {name for one in channels for name in (*one.publishers, *one.subscribers)}
    nodes = {name: host for name, host in nodes.items() if name in used}
    return _graph(f"scattered {seed}", nodes, channels, way, workers)


def with_short_queues(graph: Graph, depth: int) -> Graph:
    """The same graph with queues of `depth` messages, which drop."""
    channels = tuple(replace(one, depth=depth, reliable=False) for one in graph.channels)
    return replace(graph, name=f"{graph.name}, depth {depth}", channels=channels)


def _between(dice: Random, low: int, high: int) -> int:
    return int(low * (high / low) ** dice.random())


FAMILIES: dict[str, Callable[[int, int, str], Graph]] = {
    "echo": echo,
    "fanout": fanout,
    "fanin": fanin,
    "pipeline": pipeline,
    "apart": apart,
    "robot": robot,
}
