"""What a measurement was made on, and what else the machine did meanwhile."""

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
from hyphos.lab.awake import are_kept
from hyphos.lab.limits import cores_available
from hyphos.lab.peers import lab_program

# So short that a scheduler rarely comes between.
BURST_STEPS, BURSTS = 3000, 9
# Of the best pace. What is left of it beside a neighbour on the same core is a half.
SLOW = 0.8
PACE = "pace"
# Times the best hand-over. On one chip it differs by less, and is six times as much between two.
APART = 2.0
HANDOVER = "hand-over"
_LOAD = "load at start"
# What differs from one look at a machine to the next; all else in its description names it.
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
    """What decides latencies here: processor, kernel, power states, load, versions."""
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
    """With the commit, where the package lies in a working tree of git."""
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
    """Million steps of a loop in a second, on the slowest processor that we may use. It falls where
    the clock is lowered, or where a neighbour of a virtual machine works on the same core, none of
    which is counted as stolen. Takes two milliseconds for each processor."""
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
    """The best pace of this machine that we know of."""

    known = 0.0

    @classmethod
    def measure(cls) -> float:
        now = pace()
        cls.known = max(cls.known, now)
        return now


def best_pace() -> str:
    """As describe_machine() says it: now, or when it was better."""
    _Best.measure()
    return f"{_Best.known:.1f} million steps of a loop a second"


def handover() -> float:
    """Nanoseconds that a cache line takes from one of our processors to another, the median over
    pairs; 0: not known, or there is only one. The host of a virtual machine may move its processors
    from one chip to two and back while it runs, which no other figure tells of: the same threads
    then hand on half as many messages in a second. Takes some milliseconds."""
    try:
        words = [str(lab_program(_HANDOVER_PROGRAM))]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10)
        return float(done.stdout)
    except (Error, OSError, subprocess.SubprocessError, ValueError):
        return 0.0


class _Closest:
    """The best hand-over of this machine that we know of; 0: not known."""

    known = 0.0

    @classmethod
    def measure(cls) -> float:
        """How many times as long one takes now; 1: as at best, or not known."""
        now = handover()
        if now <= 0.0:
            return 1.0
        cls.believe(now)
        return now / cls.known

    @classmethod
    def believe(cls, found: float) -> None:
        cls.known = min(cls.known or found, found)


def best_handover() -> str:
    """As describe_machine() says it: now, or when it was better."""
    _Closest.measure()
    return f"{_Closest.known:.0f} ns between processors" if _Closest.known else "unknown"


def wait_until_close(patience_s: float, stopped: Callable[[], bool] = lambda: False) -> bool:
    """Whether processors hand over as quickly as they did, within `patience_s` seconds. Returns
    soon after it is `stopped`."""
    give_up = time.monotonic() + patience_s
    while _Closest.measure() > APART:
        if time.monotonic() >= give_up or stopped():
            return False
        time.sleep(0.1)
    return True


def expect_best(machine: Mapping[str, str]) -> float:
    """What describe_machine() once said: whatever is much slower is disturbed. Returns how many
    times as fast the machine is at best by now."""
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
    """What the machine did during one run besides the run, as shares of all its cores; how fast its
    processors were at both ends of it, where 1 is the best that is known of them; and how many
    times as long as at best a hand-over between them took."""

    foreign: float
    steal: float
    speed: float = 1.0
    pace: float = 0.0  # of the two ends, the mean; 0: not known
    handover: float = 1.0  # of the two ends, the longer

    @property
    def apart(self) -> bool:
        """Whether the processors lay far from each other."""
        return self.handover > APART

    @property
    def disturbed(self) -> bool:
        return self.foreign > 0.05 or self.steal > 0.02 or self.speed < SLOW or self.apart


class LoadWatch:
    """Compares /proc/stat with the CPU time of our own processes, those that still run included:
    a link between hosts works all the time."""

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
    """CPU time of this process and of all that descend from it, with that of those of their
    children that have ended and been waited for."""
    processes: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may hold anything.
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue  # it has ended
        processes[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, (parent, _) in processes.items() if parent in family} - family
        family |= more
        grown = bool(more)
    return (ticks for pid, (_, ticks) in processes.items() if pid in family)


def wait_until_quiet(patience_s: float, stopped: Callable[[], bool] = lambda: False) -> None:
    """Returns when little else runs on the machine and it is as fast as it was, after `patience_s`
    seconds, or soon after it is `stopped`."""
    give_up = time.monotonic() + patience_s
    while time.monotonic() < give_up and not stopped():
        watch = LoadWatch()
        time.sleep(0.5)
        if not watch.finish().disturbed:
            return
