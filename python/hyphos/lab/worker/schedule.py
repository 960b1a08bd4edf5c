"""Due times and contents of messages, as in lab/common/schedule.hpp."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

MAGIC = 0x0163657268707968
HEAD = struct.Struct("<Qqq")  # magic, count, span_ns
ENTRY = struct.Struct("<qQQ")  # offset_ns, size, at


class Schedule:
    def __init__(self, size: int, rate_hz: float, recorded: str = "", speed: float = 0.0) -> None:
        self.period_ns = 1e9 / rate_hz
        self._size = size
        self._speed = speed if recorded else 0.0
        self._entries: list[tuple[int, int, int]] = []
        if recorded:
            self._map(recorded)

    def _map(self, recorded: str) -> None:
        with Path(recorded).open("rb") as file:
            self._memory = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
        magic, count, self._span_ns = HEAD.unpack_from(self._memory)
        if magic != MAGIC:
            raise SystemExit(f"{recorded}: not a schedule of this version")
        table = self._memory[HEAD.size : HEAD.size + count * ENTRY.size]
        self._entries = list(ENTRY.iter_unpack(table))

    def size(self, i: int) -> int:
        return self._entries[i % len(self._entries)][1] if self._entries else self._size

    def due(self, i: int) -> int:
        """The due time after the first message, in nanoseconds."""
        if not self._speed:
            return int(i * self.period_ns)
        loops, place = divmod(i, len(self._entries))
        return int((loops * self._span_ns + self._entries[place][0]) / self._speed)

    def fill(self, out: Any, i: int) -> None:
        """Writes the recorded payload. Writes nothing without a recording."""
        if self._entries:
            _, size, at = self._entries[i % len(self._entries)]
            memoryview(out)[:size] = self._memory[at : at + size]
