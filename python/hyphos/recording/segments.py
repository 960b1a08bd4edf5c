"""Yields messages in order of time from parts of a file, with few parts in memory at a time."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

Read = TypeVar("Read", bound=tuple[Any, ...])


@dataclass
class Segment:
    """A chunk, or consecutive messages. Its times and counts come from its messages, not from an
    index."""

    offset: int
    end: int
    in_chunk: bool
    start_ns: int = 0
    end_ns: int = 0
    counts: Counter[int] = field(default_factory=Counter)  # by channel

    def add(self, channel: int, time_ns: int) -> None:
        if not self.counts:
            self.start_ns = self.end_ns = time_ns
        elif time_ns < self.start_ns:
            self.start_ns = time_ns
        elif time_ns > self.end_ns:
            self.end_ns = time_ns
        self.counts[channel] += 1


def in_order(
    segments: Sequence[Segment],
    read: Callable[[Segment], Iterator[Read]],
    time_of: Callable[[Read], int],
) -> Iterator[Read]:
    """Merges the messages that `read` yields for each segment, by time.

    Messages with equal times keep the order of the file. A segment is in memory from its first
    message to its last one.
    """
    numbered = sorted(enumerate(segments), key=lambda one: one[1].start_ns)
    waiting = iter(numbered)
    upcoming = next(waiting, None)
    heap: list[tuple[int, int, int, Read, Iterator[Read]]] = []
    while heap or upcoming is not None:
        while upcoming is not None and (not heap or upcoming[1].start_ns <= heap[0][0]):
            number, segment = upcoming
            messages = iter(sorted(read(segment), key=time_of))
            if (first := next(messages, None)) is not None:
                heapq.heappush(heap, (time_of(first), number, 0, first, messages))
            upcoming = next(waiting, None)
        if not heap:
            continue
        _, number, place, message, messages = heap[0]
        yield message
        if (following := next(messages, None)) is None:
            heapq.heappop(heap)
        else:
            entry = (time_of(following), number, place + 1, following, messages)
            heapq.heapreplace(heap, entry)
