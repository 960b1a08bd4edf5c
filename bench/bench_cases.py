"""The measured cases, and the ratios that the project promises."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hyphos.lab.case import Case, size_label

KIB = 1024
MIB = 1024 * 1024
LINK = "gigabit"  # two namespaces, veth, 1 Gbit/s by tbf


@dataclass(frozen=True)
class Entry:
    """One row group of a table. Every peer that supports it takes part, interleaved."""

    section: str
    case: Case
    quick: bool = False  # also part of --quick

    def lasting(self, seconds: float | None) -> Entry:
        """The same entry with this duration."""
        if not seconds:
            return self
        case = self.case
        messages = max(200, round(case.messages * seconds / 4)) if case.floods else case.messages
        return replace(self, case=replace(case, seconds=seconds, messages=messages))

    @property
    def label(self) -> str:
        size = size_label(self.case.size)
        if self.case.workload == "pipeline":
            return f"K={self.case.processes}, {size}"
        if self.case.workload == "fanout":
            return f"1→{self.case.subscribers}, {size}"
        return size


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    base: str  # the row that divides the others; "wire" is computed
    metric: str = "p50_us"  # the metric of the ratio
    higher_is_better: bool = False


SECTIONS = [
    Section("inproc", "In process, 100 Hz", "tbb"),
    Section("inproc_flood", "In process, back to back", "tbb", "messages_per_s", True),
    Section("pair", "Between two processes, 100 Hz (32 MB: 20 Hz)", "futex"),
    Section("pipeline", "Pipelines of K processes, 100 Hz", "futex", "p95_us"),
    Section("fanout", "Fan-out, one process per subscriber", "futex", "pub_cpu_us_per_msg"),
    Section("flood", "Flood: back to back, without loss", "zmq/ipc", "mb_per_s", True),
    Section("net", "Across a 1 Gbit/s link (two namespaces, veth, tbf)", "wire"),
]


def all_entries() -> list[Entry]:
    made: list[Entry] = []

    def add(section: str, case: Case, *, quick: bool) -> None:
        made.append(Entry(section, case, quick))

    for size in (KIB, 64 * KIB, MIB, 4 * MIB):
        add("inproc", Case("inproc", size, seconds=4), quick=size in (KIB, 4 * MIB))
    for size in (KIB, 4 * MIB):
        add("inproc_flood", Case("inproc_flood", size, messages=300_000), quick=size == KIB)
    for size in (KIB, 4 * KIB, 64 * KIB, MIB, 4 * MIB):
        add("pair", Case("pair", size, seconds=4), quick=size in (KIB, MIB))
    add("pair", Case("pair", 32 * MIB, rate_hz=20, seconds=6), quick=True)
    for processes in (3, 7, 13, 23):
        for size in (128, 500_000):
            case = Case("pipeline", size, processes=processes, seconds=4)
            add("pipeline", case, quick=processes in (3, 23))
    for subscribers in (1, 8):
        add("fanout", Case("fanout", MIB, subscribers=subscribers, seconds=4), quick=True)
    add("flood", Case("flood", MIB, messages=20_000), quick=True)
    add("net", Case("pair", 4 * MIB, rate_hz=5, seconds=10, link=LINK), quick=True)
    return made


@dataclass(frozen=True)
class Bar:
    """`subject`'s metric divided by the best of `bases` must be at most (at least) `limit`.

    A base is a row of the same case, or "wire". "1" is for bars on the figure itself. A leading
    dot denotes another metric of the subject's own row.
    """

    text: str
    section: str
    subject: str
    metric: str
    bases: tuple[str, ...]
    limit: float
    at_least: bool = False
    size: int = 0  # 0: every case of the section


BARS = [
    Bar(
        "in process: serial p50 vs bare oneTBB edge",
        "inproc",
        "hyphos/serial",
        "p50_us",
        ("tbb",),
        1.1,
    ),
    Bar(
        "in process: serial p95 vs bare oneTBB edge",
        "inproc",
        "hyphos/serial",
        "p95_us",
        ("tbb",),
        1.1,
    ),
    Bar(
        "in process: CPU time vs bare oneTBB edge",
        "inproc",
        "hyphos/serial",
        "cpu_us_per_msg",
        ("tbb",),
        1.0,
    ),
    Bar("in process: inline p50, µs", "inproc", "hyphos/inline", "p50_us", ("1",), 1.0),
    Bar(
        "in process: back to back messages/s vs bare edge",
        "inproc_flood",
        "hyphos/serial",
        "messages_per_s",
        ("tbb",),
        1.0,
        at_least=True,
    ),
    Bar(
        "between processes: p50 vs the better iceoryx",
        "pair",
        "hyphos/shm",
        "p50_us",
        ("iceoryx", "iceoryx2"),
        1.0,
    ),
    Bar(
        "between processes: CPU time vs the better iceoryx",
        "pair",
        "hyphos/shm",
        "cpu_us_per_msg",
        ("iceoryx", "iceoryx2"),
        1.0,
    ),
    Bar(
        "between processes: p50 vs bare futex ping", "pair", "hyphos/shm", "p50_us", ("futex",), 1.5
    ),
    Bar("ZeroMQ path, ipc: p50 vs bare ZeroMQ", "pair", "hyphos/ipc", "p50_us", ("zmq/ipc",), 1.15),
    Bar("ZeroMQ path, tcp: p50 vs bare ZeroMQ", "pair", "hyphos/tcp", "p50_us", ("zmq/tcp",), 1.15),
    Bar(
        "pipelines, 128 B: p95 vs chain of futex wake-ups",
        "pipeline",
        "hyphos/shm",
        "p95_us",
        ("futex",),
        1.3,
        size=128,
    ),
    Bar("no loss", "pair", "hyphos/shm", "lost", ("1",), 0.0),
    Bar("no loss", "flood", "hyphos/shm", "lost", ("1",), 0.0),
    Bar(
        "flood: MB/s vs raw ZeroMQ ipc",
        "flood",
        "hyphos/shm",
        "mb_per_s",
        ("zmq/ipc",),
        10.0,
        at_least=True,
    ),
    Bar("across machines: p50 vs wire time", "net", "hyphos/tcp", "p50_us", ("wire",), 1.06),
    Bar("across machines: p50 vs bare ZeroMQ", "net", "hyphos/tcp", "p50_us", ("zmq/tcp",), 1.02),
    Bar("across machines: p95 vs p50", "net", "hyphos/tcp", "p95_us", (".p50_us",), 1.03),
]

# Ratios between two cases of one row: (text, section, row, metric, numerator, denominator, limit).
# Cases are named by their label.
INNER_BARS = [
    (
        "in process: inline, 4 MB vs 1 KB, p50",
        "inproc",
        "hyphos/inline",
        "p50_us",
        "4 MB",
        "1 KB",
        1.1,
    ),
    ("between processes: 32 MB vs 1 KB, p50", "pair", "hyphos/shm", "p50_us", "32 MB", "1 KB", 1.2),
    (
        "fan-out: publisher's CPU, 1→8 vs 1→1",
        "fanout",
        "hyphos/shm",
        "pub_cpu_us_per_msg",
        "1→8, 1 MB",
        "1→1, 1 MB",
        1.5,
    ),
    (
        "fan-out: publish call, 1→8 vs 1→1",
        "fanout",
        "hyphos/shm",
        "pub_cost_p50_us",
        "1→8, 1 MB",
        "1→1, 1 MB",
        1.5,
    ),
    *(
        (
            f"pipeline K={k}: 500 KB vs 128 B, p50",
            "pipeline",
            "hyphos/shm",
            "p50_us",
            f"K={k}, 500 kB",
            f"K={k}, 128 B",
            1.2,
        )
        for k in (3, 7, 13, 23)
    ),
]


def wire_time_us(size: int, bits_per_second: float = 1e9) -> float:
    """The time that the bytes of one message need on Ethernet in full TCP segments (MTU 1500,
    timestamps).

    A segment carries 1448 bytes of payload in a frame of 1514 bytes. tbf counts the frame.
    """
    return size * 8 / bits_per_second * 1514 / 1448 * 1e6
