"""What a measurement was made on, and what else the machine did meanwhile."""

from __future__ import annotations

import os
import platform
import resource
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


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
    try:
        hyphos = version("hyphos")
    except PackageNotFoundError:
        hyphos = "from a source tree"
    return {
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": str(len(os.sched_getaffinity(0))),
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
        "hyphos": hyphos,
        "load at start": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


@dataclass(frozen=True)
class Load:
    """What the machine did during one run besides the run, as shares of all its cores."""

    foreign: float
    steal: float

    @property
    def disturbed(self) -> bool:
        return self.foreign > 0.05 or self.steal > 0.02


class LoadWatch:
    """Compares /proc/stat with the CPU time of our own children."""

    def __init__(self) -> None:
        self._tick = 1.0 / os.sysconf("SC_CLK_TCK")
        self._before = self._read()

    def _read(self) -> tuple[float, float, float, float]:
        fields = [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        user, nice, system, _idle, _iowait, _irq, _softirq, steal = fields
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        own_process = resource.getrusage(resource.RUSAGE_SELF)
        own = usage.ru_utime + usage.ru_stime + own_process.ru_utime + own_process.ru_stime
        busy = user + nice + system
        return busy * self._tick, steal * self._tick, sum(fields) * self._tick, own

    def finish(self) -> Load:
        busy, steal, total, own = (
            after - before for after, before in zip(self._read(), self._before, strict=True)
        )
        total = max(total, self._tick)
        return Load(max(0.0, busy - own) / total, steal / total)


def wait_until_quiet(patience_s: float) -> None:
    """Returns when little else runs on the machine, or after `patience_s` seconds."""
    give_up = time.monotonic() + patience_s
    while time.monotonic() < give_up:
        watch = LoadWatch()
        time.sleep(0.5)
        if not watch.finish().disturbed:
            return
