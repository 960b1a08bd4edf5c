"""Drops of short queues long before a processor is full. The hundredth is `knee.MAX_LOST`.

A dropping queue of d messages at r messages a second covers the time d/r. It loses messages that an
endless queue would deliver later than that. So a graph also breaks if a hundredth of the messages
of a channel is late by more than its queues cover.

The lateness of a hundredth depends on chance more than on the graph: a woken process waits for its
turn, and a delayed source sends all due messages at once. Two terms depend on the graph. Each of
its processes may run first. And while other callbacks compute on all processors, or on all threads
of the process, a callback waits until the first of them is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph

# Queues on the path of a message: that of the subscriber, with shared memory also that between two
# processes, with sockets also the window and the queue behind it.
PASSED = {POINTER: 1, SHM: 2, TCP: 3, LINK: 3}
# Lateness of a hundredth of the messages in µs, for each process of the machine.
LATE_US = {POINTER: 220.0, SHM: 100.0, TCP: 380.0, LINK: 380.0}
# Standard deviation of its logarithm, from graph to graph.
UNSURE = 0.55


@dataclass(frozen=True)
class Queue:
    """The queues before one callback, by one transport. They must cover `late_us`."""

    channel: str
    node: str
    covers_us: float
    late_us: float

    @property
    def share(self) -> float:
        """At 1, a hundredth of the messages is dropped."""
        return self.late_us / self.covers_us


def queues(graph: Graph, cores: float, *, shared: bool = True) -> Iterator[Queue]:
    """All queues that may drop. `shared`: all hosts are one machine with `cores` cores."""
    callbacks = list(_callbacks(graph))
    for delivery in graph.deliveries():
        channel = delivery.channel
        if channel.reliable or delivery.rate_hz <= 0.0:
            continue
        of_all = sum(graph.rate_of(channel, one) for one in channel.publishers)
        covers = channel.depth * (1 / of_all + (PASSED[delivery.way] - 1) / delivery.rate_hz)
        host = graph.processes[delivery.receiver]
        here = {name for name, one in graph.processes.items() if shared or one == host}
        threads = graph.threads.get(delivery.receiver, 0) or max(2, round(cores))
        for node in graph.ears(delivery):
            others = [one for one in callbacks if (one.channel, one.node) != (channel.name, node)]
            late = LATE_US[delivery.way] * len(here) + max(
                _until_one_is_done((one for one in others if one.process in here), round(cores)),
                _until_one_is_done(
                    (one for one in others if one.process == delivery.receiver and one.in_pool),
                    threads,
                ),
            )
            yield Queue(channel.name, node, covers * 1e6, late)


@dataclass(frozen=True)
class _Callback:
    channel: str
    node: str
    process: str
    work_us: float
    in_pool: bool = True  # False: a source on its own thread


def _until_one_is_done(callbacks: Iterable[_Callback], places: int) -> float:
    """The time in µs until one of the callbacks is done, if they compute in all places."""
    longest = sorted((one.work_us for one in callbacks), reverse=True)
    return longest[places - 1] if len(longest) >= places > 0 else 0.0


def _callbacks(graph: Graph) -> Iterator[_Callback]:
    for channel in graph.channels:
        for name in channel.subscribers:
            node = graph.node(name)
            answers = (
                one.work_us
                for one in graph.channels
                if one.after == channel.name and name in one.publishers
            )
            work = node.work_for(channel.name) + sum(answers)
            yield _Callback(channel.name, name, node.process, work)
        if not channel.after:
            for name in channel.publishers:
                process = graph.node(name).process
                yield _Callback(channel.name, name, process, channel.work_us, in_pool=False)
