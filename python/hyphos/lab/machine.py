"""The machine of a measurement, and its other load during the measurement."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hyphos._errors import Error
from hyphos.lab.busy_cpus import are_kept
from hyphos.lab.limits import cores_available
from hyphos.lab.peers import lab_program

# So short that the scheduler rarely interrupts a burst.
BURST_STEPS, BURSTS = 3000, 9
# Share of the best pace. Beside a busy neighbour on the same core, half of the best pace remains.
SLOW = 0.8
PACE = "pace"
# Multiple of the best hand-over. It varies by less within one chip, and is sixfold between two.
APART = 2.0
HANDOVER = "hand-over"
_LOAD = "load at start"
# Properties that change between two looks at a machine. All others identify the machine.
PASSING = (PACE, HANDOVER, _LOAD)
_HANDOVER_PROGRAM = "hyphos-lab-cacheline-latency"


def _first(path: str, key: str) -> str:
    try:
        for line in Path(path).read_text().splitlines():
            if line.startswith(key):
                return line.split("=" if "=" in line else ":", 1)[1].strip().strip('"')
    except OSError:
        pass
    return "unknown"


def _read(path: str, default: str) -> str:
    try:
        return Path(path).read_text().strip() or default
    except OSError:
        return default


def describe_machine() -> dict[str, str]:
    """The properties that determine latencies: processor, kernel, power states, load, versions."""
    cpu = "/sys/devices/system/cpu"
    return {
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": f"{cores_available():g}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "kernel": platform.release(),
        "system": _first("/etc/os-release", "PRETTY_NAME"),
        "virtual": "yes" if "hypervisor" in _first("/proc/cpuinfo", "flags").split() else "no",
        "governor": _read(f"{cpu}/cpu0/cpufreq/scaling_governor", "none visible"),
        "idle driver": _read(f"{cpu}/cpuidle/current_driver", "none visible"),
        "hyper-threading": _read(f"{cpu}/smt/control", "unknown"),
        "clock source": _read(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource", "unknown"
        ),
        "python": platform.python_version(),
        "hyphos": _hyphos_version(),
        "processors": "kept awake" if are_kept() else "may sleep",
        PACE: best_pace(),
        HANDOVER: best_handover(),
        _LOAD: " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


def _hyphos_version() -> str:
    """With the commit, if the package is in a git working tree."""
    try:
        said = version("hyphos")
    except PackageNotFoundError:
        said = "from a source tree"
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return said
    words = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return said
    return f"{said}, {done.stdout.strip()}"


def pace() -> float:
    """Million steps of a loop per second, on the slowest processor of this process's affinity. The
    pace falls if the clock is lowered, or if a neighbour of a virtual machine works on the same
    core. Neither counts as stolen time. Takes two milliseconds for each processor."""
    ours = os.sched_getaffinity(0)
    found = []
    try:
        for processor in ours:
            os.sched_setaffinity(0, {processor})
            found.append(statistics.median(_burst() for _ in range(BURSTS)))
    finally:
        os.sched_setaffinity(0, ours)
    return min(found)


def _burst() -> float:
    began, total = time.perf_counter_ns(), 0
    for step in range(BURST_STEPS):
        total += step * step
    return BURST_STEPS / (time.perf_counter_ns() - began) * 1e3


class _Best:
    """The best known pace of this machine."""

    known = 0.0

    @classmethod
    def measure(cls) -> float:
        now = pace()
        cls.known = max(cls.known, now)
        return now


def best_pace() -> str:
    """The text for describe_machine(): the best pace known, including a new measurement."""
    _Best.measure()
    return f"{_Best.known:.1f} million steps of a loop a second"


def handover() -> float:
    """Nanoseconds that a cache line takes from one processor of this process to another, the median
    over pairs. 0: not known, or there is only one processor. The host of a virtual machine may move
    its processors from one chip to two and back at run time. The same threads then hand over half
    as many messages per second, and no other figure shows it. Takes some milliseconds."""
    try:
        words = [str(lab_program(_HANDOVER_PROGRAM))]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10)
        return float(done.stdout)
    except (Error, OSError, subprocess.SubprocessError, ValueError):
        return 0.0


class _Closest:
    """The best known hand-over of this machine. 0: not known."""

    known = 0.0

    @classmethod
    def measure(cls) -> float:
        """The time of a hand-over now, as a multiple of the best. 1 if not known."""
        now = handover()
        if now <= 0.0:
            return 1.0
        cls.believe(now)
        return now / cls.known

    @classmethod
    def believe(cls, found: float) -> None:
        cls.known = min(cls.known or found, found)


def best_handover() -> str:
    """The text for describe_machine(): the best hand-over known, including a new measurement."""
    _Closest.measure()
    return f"{_Closest.known:.0f} ns between processors" if _Closest.known else "unknown"


def wait_until_close(patience_s: float, stopped: Callable[[], bool] = lambda: False) -> bool:
    """Waits up to `patience_s` seconds until processors hand over as quickly as at their best.
    Returns whether they do. Returns soon after `stopped` becomes true."""
    give_up = time.monotonic() + patience_s
    while _Closest.measure() > APART:
        if time.monotonic() >= give_up or stopped():
            return False
        time.sleep(0.1)
    return True


def expect_best(machine: Mapping[str, str]) -> float:
    """Takes the best values from an earlier describe_machine(), so that much slower processors
    count as disturbed. Returns the ratio of the best pace now known to the earlier one."""
    if close := _number_in(machine, HANDOVER):
        _Closest.believe(close)
    known = _number_in(machine, PACE)
    if not known:
        return 1.0
    _Best.known = max(_Best.known, known)
    return _Best.known / known


def _number_in(machine: Mapping[str, str], key: str) -> float:
    try:
        return float(machine.get(key, "").partition(" ")[0])
    except ValueError:
        return 0.0


@dataclass(frozen=True)
class Load:
    """The load of the machine during one run. `foreign` and `steal` are the load of other programs
    and of the hypervisor, as shares of all cores. `speed` is the pace of the processors, at the
    slower end of the run, as a share of the best known."""

    foreign: float
    steal: float
    speed: float = 1.0
    pace: float = 0.0  # mean of the two ends of the run; 0: not known
    handover: float = 1.0  # the longer time at the two ends, as a multiple of the best

    @property
    def apart(self) -> bool:
        """Whether the processors are on different L3 caches."""
        return self.handover > APART

    @property
    def disturbed(self) -> bool:
        return self.foreign > 0.05 or self.steal > 0.02 or self.speed < SLOW or self.apart


class LoadWatch:
    """Compares /proc/stat with the CPU time of this process and its descendants. Includes running
    ones, because a link between hosts works all the time."""

    def __init__(self) -> None:
        self._tick = 1.0 / os.sysconf("SC_CLK_TCK")
        self._pace = _Best.measure()
        self._handover = _Closest.measure()
        self._before = self._read()

    def _read(self) -> tuple[float, float, float, float]:
        fields = [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        user, nice, system, _idle, _iowait, _irq, _softirq, steal = fields
        busy = user + nice + system
        own = sum(_ticks_of_family())
        return busy * self._tick, steal * self._tick, sum(fields) * self._tick, own * self._tick

    def finish(self) -> Load:
        busy, steal, total, own = (
            after - before for after, before in zip(self._read(), self._before, strict=True)
        )
        total = max(total, self._tick)
        paces = (self._pace, _Best.measure())
        speed = min(paces) / _Best.known
        longer = max(self._handover, _Closest.measure())
        return Load(max(0.0, busy - own) / total, steal / total, speed, sum(paces) / 2, longer)


def _ticks_of_family() -> Iterator[int]:
    """CPU ticks of this process and all its descendants, including those of ended children that
    they have waited for."""
    processes: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may contain any character.
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue  # the process has ended
        processes[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, (parent, _) in processes.items() if parent in family} - family
        family |= more
        grown = bool(more)
    return (ticks for pid, (_, ticks) in processes.items() if pid in family)


def wait_until_quiet(patience_s: float, stopped: Callable[[], bool] = lambda: False) -> None:
    """Waits until the machine has little other load and its best speed, for at most `patience_s`
    seconds. Returns soon after `stopped` becomes true."""
    give_up = time.monotonic() + patience_s
    while time.monotonic() < give_up and not stopped():
        watch = LoadWatch()
        time.sleep(0.5)
        if not watch.finish().disturbed:
            return
