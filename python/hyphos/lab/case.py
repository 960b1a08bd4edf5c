"""One combination of measured parameters, and the words of its command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

FLOODS = ("flood", "inproc_flood", "uncapped")
GRAPH = "graph"
WORKLOADS = (
    *("inproc", "inproc_flood", "pair", "echo", "pipeline", "fanout", "fanin", "flood"),
    "uncapped",
    GRAPH,
)
# Numeric parameters along which figures are drawn.
NUMBERS = (
    *("size", "rate_hz", "speed", "processes", "subscribers", "publishers", "pairs"),
    *("work_us", "cores", "clock", "scale", "hosts"),
)
# Parameters that apply to one workload only.
OWN = {
    "processes": "pipeline",
    "subscribers": "fanout",
    "publishers": "fanin",
    "pairs": "echo",
    "plan": GRAPH,
    "scale": GRAPH,
}
# The parameter of each workload whose instances may be spread over several far hosts.
SPREAD = {
    "fanout": "subscribers",
    "fanin": "publishers",
    "echo": "pairs",
    "pipeline": "processes",
}
# Workloads whose messages may come from a recording.
RECORDED = ("pair", "echo", "pipeline", "fanout", "fanin")
_BETWEEN = ("pair", "echo", "pipeline", "fanout", "fanin")  # on a schedule, between processes
# The workloads that use each parameter. An unlisted parameter applies to all except a graph.
_MEANT: dict[str, tuple[str, ...]] = {
    "rate_hz": (*_BETWEEN, "inproc"),
    "seconds": (*_BETWEEN, "inproc", "uncapped", GRAPH),
    "messages": ("flood", "inproc_flood"),
    "reliability": _BETWEEN,
    "faults": (*_BETWEEN, "flood", "uncapped"),
    "link": (*_BETWEEN, "flood", "uncapped", GRAPH),
    "hosts": tuple(SPREAD),
    "relay": ("pair", "fanout", "uncapped"),
    **dict.fromkeys(("recording", "channel", "speed"), RECORDED),
    **{name: (workload,) for name, workload in OWN.items()},
    **dict.fromkeys(("cores", "clock", "shm_mb", "placement"), WORKLOADS),
}
# Parameters that apply to a graph. Its plan defines all others.
OF_GRAPH = ("plan", "scale", "seconds", "link", "cores", "clock", "shm_mb", "placement")
UNITS = {
    "rate_hz": "Hz",
    "cores": "cores",
    "shm_mb": "MB of /dev/shm",
    "work_us": "µs of work",
    "stall_ms": "ms of stall",
    "seconds": "s",
}


@dataclass(frozen=True)
class Case:
    """The parameters of one case, the same for every peer. Sizes in bytes, rates per publisher."""

    workload: str
    size: int = 1024
    rate_hz: float = 100.0
    processes: int = 3
    subscribers: int = 1
    publishers: int = 1
    pairs: int = 1
    reliability: str = ""
    queue: int = 0  # capacity of each queue of a peer in messages; 0: the peer's default
    work_us: float = 0.0
    stall_ms: float = 0.0
    stall_every_ms: float = 1000.0
    recording: str = ""  # replaces messages of one size at a fixed rate
    channel: str = ""  # of the recording
    speed: float = 0.0  # playback speed of the recording; 0: at rate_hz
    faults: str = ""
    link: str = ""  # between publishers and subscribers, by its name in the experiment
    cores: float = 0.0  # shared by all processes of the run; 0: all of the machine
    shm_mb: float = 0.0  # size of their /dev/shm; 0: that of the machine
    seconds: float = 5.0  # of measurement, for the workloads with a schedule, and uncapped
    messages: int = 10_000  # for the floods
    warmup: int = 50
    plan: str = ""  # robot.yaml of a graph
    plan_id: str = ""  # hash of the content of the plan
    scale: float = 1.0  # factor on all rates of the plan
    hosts: int = 1  # number of far hosts that the link joins to the near one
    placement: str = ""  # processors by role; empty: any
    clock: float = 1.0  # of the processors, as a share of their time
    relay: str = ""  # location of a gateway: beside (the node) or own (host); empty: beside

    @property
    def floods(self) -> bool:
        return self.workload in FLOODS

    @property
    def uncapped(self) -> bool:
        """Whether it is a flood with a time limit."""
        return self.workload == "uncapped"

    @property
    def length_s(self) -> float:
        """Seconds of measurement, if known in advance, else 0."""
        return self.seconds if self.uncapped or not self.floods else 0.0

    @property
    def count(self) -> int:
        return self.messages if self.floods else max(20, round(self.rate_hz * self.seconds))

    @property
    def most_processes(self) -> int:
        return self.processes + self.subscribers + self.publishers + 2 * self.pairs

    def key(self) -> str:
        """Identifies the case in files."""
        return json.dumps(asdict(self), sort_keys=True)

    def without(self, *names: str) -> Case:
        """A copy with these parameters at their defaults. Cases that differ only in these
        parameters have equal copies."""
        plain = Case(self.workload)
        return replace(self, **{name: getattr(plain, name) for name in names})

    def differing(self, others: list[Case]) -> dict[str, Any]:
        """This case's values of the parameters that vary between the cases of an experiment."""
        names = [field.name for field in fields(self)]
        if len({(one.plan, one.plan_id) for one in others}) == len({one.plan for one in others}):
            names.remove("plan_id")  # redundant if the names of the plans differ
        return {
            name: getattr(self, name)
            for name in names
            if len({getattr(other, name) for other in others}) > 1
        }

    def arguments(self) -> list[str]:
        """The command line words for a peer's program."""
        if self.workload == GRAPH:
            words = ["--figures", "--scale", f"{self.scale:.6g}"]
            words += ["--seconds", f"{self.seconds:.6g}"]
            for name, cpus in by_role(self.placement).items():
                words += ["--cpus", f"{name}={cpus}"]
            return words
        warmup = min(self.warmup, 10) if self.size >= 4 << 20 or self.rate_hz < 50 else self.warmup
        words = [
            *("--shape", self.workload, "--size", str(self.size), "--rate", str(self.rate_hz)),
            *("--count", str(self.count), "--warmup", str(warmup)),
        ]
        for name, workload in OWN.items():
            if workload == self.workload:
                words += [f"--{name}", str(getattr(self, name))]
        if self.uncapped:
            words += ["--seconds", str(self.seconds)]
        if self.queue:
            words += ["--queue", str(self.queue)]
        if self.work_us:
            words += ["--work-us", str(self.work_us)]
        if self.stall_ms:
            words += ["--stall-ms", str(self.stall_ms)]
            words += ["--stall-every-ms", str(self.stall_every_ms)]
        if self.recording:
            words += ["--speed", str(self.speed)]
        texts = {"--reliability": self.reliability, "--faults": self.faults, "--relay": self.relay}
        words += [word for name, text in texts.items() if text for word in (name, text)]
        for role, cpus in by_role(self.placement).items():
            words += [f"--{role}-cpus", cpus]
        return words


def means_something(name: str, workload: str) -> bool:
    """Whether a parameter has an effect in a workload."""
    if workload == GRAPH:
        return name in OF_GRAPH
    return workload in _MEANT.get(name, WORKLOADS)


def by_role(placement: str) -> dict[str, str]:
    """The processors of each role, or of each process of a graph, in the kernel's list format."""
    pairs = (part.partition("=") for part in placement.split(";") if part)
    return {name: cpus for name, _, cpus in pairs}


def case_from(data: Mapping[str, Any]) -> Case:
    return Case(**data)


def size_label(size: int) -> str:
    """1024 → "1 KB", as in the papers. 500000 → "500 kB"."""
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    if size >= 1_000_000 and size % 100_000 == 0:
        return f"{size / 1_000_000:g} MB"
    if size >= 1000 and size % 100 == 0:
        return f"{size / 1000:g} kB"
    return f"{size} B"


_LABELS: dict[str, Callable[[Any], str]] = {
    "size": size_label,
    "recording": lambda file: Path(file).name,
    "plan": lambda file: Path(file).name,
    "scale": lambda factor: f"{factor:g} × its rates",
    "speed": lambda factor: f"× {factor:g}" if factor else "at a rate",
    "hosts": lambda count: f"{count} far host" + ("s" if count > 1 else ""),
    "placement": lambda text: text or "anywhere",
    "clock": lambda share: f"{share:.0%} of the clock",
    "relay": lambda where: "gateway on its own host" if where == "own" else "gateway beside",
}


def label(name: str, value: Any) -> str:
    """A parameter as shown in tables."""
    if name in _LABELS:
        return _LABELS[name](value)
    if name in UNITS:
        return f"{value:g} {UNITS[name]}"
    if name in OWN:
        return f"{value} {name}"
    return f"{value:g}" if isinstance(value, float) else str(value)
