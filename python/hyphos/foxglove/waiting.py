"""The queue of one client: bounded, with a counter of each loss."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from hyphos.foxglove.frames import Frame

_FLOW_BYTES = 1 << 20  # queue per subscription and client, plus the newest message
_MOST_COUNTED = 4096  # subscriptions of one client with a counter of their own


@dataclass
class _Flow:
    """Queued frames of one subscription, with their position in the order of all frames."""

    frames: deque[tuple[int, bytes]] = field(default_factory=deque)
    size: int = 0


class Waiting:
    """The queue of one client: in order, bounded per flow. The newest frame of each flow stays.

    Not thread-safe.
    """

    def __init__(self, flow_bytes: int = _FLOW_BYTES) -> None:
        self._flow_bytes = flow_bytes
        self._flows: dict[bytes | None, _Flow] = {}
        self._next = 0
        self.dropped = 0  # messages
        self.dropped_of: Counter[bytes] = Counter()  # messages by flow

    def __bool__(self) -> bool:
        return bool(self._flows)

    @property
    def control_bytes(self) -> int:
        flow = self._flows.get(None)
        return flow.size if flow is not None else 0

    def add(self, frame: Frame) -> None:
        """Adds a frame. Drops and counts the oldest frames of its flow beyond the limit."""
        flow = self._flows.setdefault(frame.flow, _Flow())
        flow.frames.append((self._next, frame.data))
        flow.size += len(frame.data)
        self._next += 1
        if frame.flow is None:
            return
        while flow.size > self._flow_bytes and len(flow.frames) > 1:
            flow.size -= len(flow.frames.popleft()[1])
            if frame.is_message:
                self._count(frame.flow)

    def _count(self, flow: bytes) -> None:
        self.dropped += 1
        known = flow in self.dropped_of or len(self.dropped_of) < _MOST_COUNTED
        self.dropped_of[flow if known else b""] += 1

    def pop(self) -> bytes:
        """The frame that has waited longest."""
        name = min(self._flows, key=lambda key: self._flows[key].frames[0][0])
        flow = self._flows[name]
        _, data = flow.frames.popleft()
        flow.size -= len(data)
        if not flow.frames:
            del self._flows[name]
        return data
