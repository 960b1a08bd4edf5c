"""Reads the flight recorders of a running graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hyphos import _hyphos
from hyphos.observe import nobody
from hyphos.tools.waiting import Stop

# The fields of hyphos::MessageEvent (include/hyphos/inspect.hpp).
EVENT = np.dtype(
    [
        ("thread", np.uint32),
        ("received", np.uint16),
        ("replayed", np.uint16),
        *((name, np.uint64) for name in ("endpoint", "sender", "sequence", "bytes")),
        *(
            (name, np.int64)
            for name in (
                *("publish", "encoded", "submitted", "arrived", "scheduled", "dequeued"),
                *("decoded", "callback", "end"),
            )
        ),
        *((name, np.uint64) for name in ("cause_sender", "cause_sequence", "cause_endpoint")),
    ]
)
POLL_S = 0.05  # a recorder has 4096 events: enough for 80,000 a second in one process


@dataclass(frozen=True)
class End:
    """An endpoint of a channel: a publisher or a subscriber."""

    participant: int
    process: str
    pid: int
    node: str
    channel: str
    is_publisher: bool

    @property
    def place(self) -> str:
        """The node, with its process if their names differ."""
        return self.node if self.node == self.process else f"{self.process}/{self.node}"


@dataclass
class Collection:
    """All events of a period, of all processes of a domain on this machine."""

    events: npt.NDArray[np.void] = field(default_factory=lambda: np.zeros(0, EVENT))
    owner: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    ends: dict[tuple[int, int], End] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)  # by process
    uncertainty_ns: dict[int, int] = field(
        default_factory=dict
    )  # clock uncertainty to other machines, by participant
    seconds: float = 0.0
    cpu_s: float = 0.0  # CPU time of the profiler

    def end_of(self, row: int) -> End | None:
        return self.ends.get((int(self.owner[row]), int(self.events["endpoint"][row])))

    @property
    def missed_in_all(self) -> int:
        return sum(self.missed.values())

    @property
    def cores(self) -> float:
        """The CPU time of the profiler, as a share of one core."""
        return self.cpu_s / self.seconds if self.seconds > 0 else 0.0

    def cost(self) -> dict[str, float]:
        """The cost of profiling, and the number of messages."""
        ids = np.stack([self.events["sender"], self.events["sequence"]], axis=1)
        seconds = max(self.seconds, 1e-9)
        return {
            "cpu_s": round(self.cpu_s, 4),
            "cores": round(self.cores, 5),
            "messages_per_s": round(len(np.unique(ids, axis=0)) / seconds, 1),
            "events": len(self.events),
            "missed": self.missed_in_all,
        }


class Collector:
    """Gathers events look by look. Omits events before its construction, unless `whole` is set."""

    def __init__(self, domain: str, *, whole: bool = False) -> None:
        self._domain = domain
        self._since: dict[int, int] = {}
        self._parts: list[tuple[int, npt.NDArray[np.void]]] = []
        self._found = Collection()
        self._began, self._cpu_began = time.monotonic(), time.process_time()
        for batch in () if whole else _hyphos.recorded_events(domain):
            self._since[batch.participant] = batch.next
            self._note(batch)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def processes(self) -> int:
        return len(self._since)

    @property
    def count(self) -> int:
        return sum(len(part) for _, part in self._parts)

    @property
    def missed(self) -> int:
        return self._found.missed_in_all

    def look(self) -> None:
        """Reads the events since the last look."""
        for batch in _hyphos.recorded_events(self._domain, self._since):
            self._since[batch.participant] = batch.next
            self._note(batch)
            if batch.missed:
                missed = self._found.missed
                missed[batch.process] = missed.get(batch.process, 0) + batch.missed
            data = batch.events
            if data:
                self._parts.append((batch.participant, np.frombuffer(data, EVENT)))

    def finish(self) -> Collection:
        self.look()
        found = self._found
        found.seconds, found.cpu_s = self.seconds, time.process_time() - self._cpu_began
        if self._parts:
            found.events = np.concatenate([part for _, part in self._parts])
            found.owner = np.concatenate(
                [np.full(len(part), owner, np.uint64) for owner, part in self._parts]
            )
        for process in _hyphos.inspect(self._domain):
            if process.peer_clocks:
                worst = max(peer.uncertainty_ns for peer in process.peer_clocks)
                found.uncertainty_ns[process.participant] = worst
        return found

    def _note(self, batch: _hyphos.RecordedEvents) -> None:
        for end in batch.ends:
            self._found.ends[batch.participant, end.id] = End(
                batch.participant, batch.process, batch.pid, end.node, end.channel, end.is_publisher
            )


def collect(
    domain: str, stop: Stop, told: Callable[[Collector], None] = lambda _collector: None
) -> Collection:
    """Collects until `stop`. Raises Error if the domain has no process."""
    collector = Collector(domain)
    if collector.processes == 0:
        raise nobody(domain)
    while not stop.wait(POLL_S):
        collector.look()
        told(collector)
    return collector.finish()
