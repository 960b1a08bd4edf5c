"""Graphs that use several transports at once, as robots do: several nodes in a process, several
processes on a host. No calibration contains them, because it uses one transport at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hyphos.lab.capacity import families
from hyphos.lab.capacity.graph import LINK, SHM, TCP, Channel, Graph, Node, join

KB = 1 << 10
MIXED = "mixed"  # shown as their transport


def regrouped(
    name: str, graph: Graph, processes: Mapping[str, str], hosts: Mapping[str, str] | None = None
) -> Graph:
    """The same nodes in other processes. `processes` are the nodes of each, as words. `hosts` are
    their hosts, if not all on one."""
    process = {node: one for one, nodes in processes.items() for node in nodes.split()}
    nodes = tuple(replace(node, process=process[node.name]) for node in graph.nodes)
    return replace(graph, name=name, processes=hosts or dict.fromkeys(processes, "here"),
                   nodes=nodes)  # fmt: skip


def _body_and_brain(size: int, way: str) -> Graph:
    """The robot of the calibration: sensors and actuators in one process, planning in another."""
    places = {
        "body": "camera0_p scan0_n0 drive0_e0 status0_p0 status0_p1",
        "brain": "camera0_s0 camera0_s1 scan0_n1 scan0_n2 drive0_s0 status0_p2 status0_s",
    }
    hosts = {"body": "near", "brain": "far"} if way == LINK else None
    where = "on 2 hosts" if hosts else "in 2"
    return regrouped(f"robot {where}", families.robot(1, size, way), places, hosts)


def _patrol(image: int, body: str, brain: str) -> Graph:
    """A graph like examples/patrol, in three processes on one host or two."""
    return Graph(
        "patrol" if body == brain else "patrol on 2 hosts",
        {"body": body, "brain": brain, "eyes": brain},
        (
            Node("world", "body"),
            Node("camera", "body"),
            Node("mapper", "brain", work_us_of={"scan": 530.0, "odom": 4.0}),
            Node("planner", "brain", work_us_of={"map": 1600.0, "pose": 170.0}),
            Node("watcher", "eyes", work_us_of={"image": 330.0, "path": 140.0}),
        ),
        # Queues so deep that no burst is lost.
        (
            Channel("odom", ("world",), ("mapper",), 89, 100.0, depth=100),
            Channel("truth", ("world",), ("camera",), 60, 100.0, depth=100),
            Channel("scan", ("world",), ("mapper",), 1536, 20.0, depth=100),
            Channel("image", ("camera",), ("watcher",), image, 30.0, work_us=500.0, depth=16),
            Channel("pose", ("mapper",), ("planner",), 60, after="scan", depth=100),
            Channel("map", ("mapper",), ("planner",), 128 * KB, 2.0, depth=16),
            Channel("path", ("planner",), ("watcher",), 561, 2.0, depth=100),
            Channel("drive", ("planner",), ("world",), 20, after="pose", depth=100),
        ),
    )


def _two_transports() -> Graph:
    """Half of the pairs by shared memory and half by TCP, in the same four processes."""
    halves = [families.echo(3, 4 * KB, SHM).renamed("m"), families.echo(3, KB, TCP).renamed("t")]
    senders, echoers = "ms0 ms1 ms2 ts0 ts1 ts2", "me0 me1 me2 te0 te1 te2"
    both = join("", halves)
    return regrouped("echo 3 + 3", both, {"senders": senders, "echoers": echoers})


def held_out_mixed(largest: int = 0) -> list[Graph]:
    """The test set inside a machine, or over a link with messages of at most `largest` bytes."""
    if largest:
        chain = families.pipeline(6, min(largest, 16 * KB), LINK)
        hosts = {f"n{i}": "near" if i < 3 else "far" for i in range(6)}  # hands over once
        return [
            _body_and_brain(min(largest, 16 * KB), LINK),
            replace(chain, name="pipeline 6 on 2 hosts", processes=hosts),
            _patrol(min(largest, 64 * KB), "near", "far"),
        ]
    halves = {"a": "n0 n1 n2", "b": "n3 n4 n5"}
    thirds = {"a": "p s0 s1", "b": "s2 s3", "c": "s4 s5"}
    return [
        regrouped("pipeline 6 in 2", families.pipeline(6, 16 * KB, SHM), halves),
        regrouped("pipeline 6 in 2, zmq", families.pipeline(6, 4 * KB, TCP), halves),
        regrouped("fan-out 6 in 3", families.fanout(6, 64 * KB, SHM, work_us=20.0), thirds),
        _two_transports(),
        _body_and_brain(64 * KB, SHM),
        _patrol(900 * KB, "here", "here"),
    ]
