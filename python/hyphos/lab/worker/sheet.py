"""The shared memory of the parent and its processes, as in lab/common/sheet.hpp.

Each field has one writer, except `ready` and `steps`. These are incremented under a lock of the
file, because Python has no atomic addition. (The parent only reads them.)
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os

from .options import MAX_FLOWS, Options

# Phases.
WARMING_UP, MEASURING, STOPPING = 1, 3, 4

_MAGIC = 0x0362616C68707968
_FUTEX = {"x86_64": 202, "aarch64": 98}
_FUTEX_WAIT, _FUTEX_WAKE = 0, 1
_ALL = 2**31 - 1


class Flow(ctypes.Structure):
    _fields_ = (
        *((n, ctypes.c_int64) for n in ("received", "warm", "duplicates", "corrupt")),
        ("last_receive_ns", ctypes.c_int64),
        ("_pad", ctypes.c_char * 24),
    )


class Source(ctypes.Structure):
    _fields_ = (
        *((n, ctypes.c_int64) for n in ("sent", "late_sends")),
        *((n, ctypes.c_uint32) for n in ("warm", "done")),
        ("_pad", ctypes.c_char * 40),
    )


class Head(ctypes.Structure):
    _fields_ = (
        ("magic", ctypes.c_uint64),
        *((n, ctypes.c_uint32) for n in ("head_bytes", "flow_bytes", "source_bytes", "max_flows")),
        *((n, ctypes.c_uint32) for n in ("phase", "ready", "steps")),
        ("first_send_ns", ctypes.c_int64),
        ("_pad", ctypes.c_char * 16),
        ("flows", Flow * MAX_FLOWS),
        ("sources", Source * MAX_FLOWS),
    )


class Sheet:
    def __init__(self, options: Options) -> None:
        self._fd = options.sheet_fd
        columns = options.flows + 2 * options.sources
        length = ctypes.sizeof(Head) + 8 * options.count * columns
        if os.fstat(self._fd).st_size != length:
            raise SystemExit("the result sheet has the wrong size for this run")
        memory = mmap.mmap(self._fd, length)
        self.head = Head.from_buffer(memory)
        h = self.head
        told = (h.magic, h.head_bytes, h.flow_bytes, h.source_bytes, h.max_flows)
        if told != (_MAGIC, *map(ctypes.sizeof, (Head, Flow, Source)), MAX_FLOWS):
            raise SystemExit("the result sheet has another version")
        self._count = options.count
        self._flows, self._sources = options.flows, options.sources
        self._columns = memoryview(memory)[ctypes.sizeof(Head) :].cast("q")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._futex = _FUTEX[os.uname().machine]
        self._phase_at = ctypes.addressof(self.head) + Head.phase.offset
        self._steps_at = ctypes.addressof(self.head) + Head.steps.offset

    def _column(self, number: int) -> memoryview:
        return self._columns[number * self._count : (number + 1) * self._count]

    def latencies(self, flow: int) -> memoryview:
        """Stamp to callback of each message in ns, by sequence. 0 = not received."""
        return self._column(flow)

    def costs(self, source: int) -> memoryview:
        return self._column(self._flows + source)

    def lateness(self, source: int) -> memoryview:
        return self._column(self._flows + self._sources + source)

    def reached(self, phase: int) -> bool:
        return int(self.head.phase) >= phase

    def wait_for(self, phase: int) -> None:
        while (seen := self.head.phase) < phase:
            # ctypes releases the GIL during the call.
            self._libc.syscall(
                self._futex, ctypes.c_void_p(self._phase_at), _FUTEX_WAIT, seen, None, None, 0
            )

    def check_in(self) -> None:
        self._tell(ready=1)

    def tell_parent(self) -> None:
        self._tell(ready=0)

    def _tell(self, *, ready: int) -> None:
        fcntl.lockf(self._fd, fcntl.LOCK_EX)
        self.head.ready += ready
        self.head.steps += 1
        fcntl.lockf(self._fd, fcntl.LOCK_UN)
        self._libc.syscall(
            self._futex, ctypes.c_void_p(self._steps_at), _FUTEX_WAKE, _ALL, None, None, 0
        )
