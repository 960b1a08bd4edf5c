"""The machine: what it is, what else runs on it, and a 1 Gbit/s link between two namespaces."""

from __future__ import annotations

import atexit
import os
import platform
import resource
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

PREFIX = "hyphos-bench-"


def _first(path: str, key: str) -> str:
    try:
        for line in Path(path).read_text().splitlines():
            if line.startswith(key):
                return line.split("=" if "=" in line else ":", 1)[1].strip().strip('"')
    except OSError:
        pass
    return "unknown"


def describe_machine() -> dict[str, str]:
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    virtual = "hypervisor" in _first("/proc/cpuinfo", "flags").split()
    return {
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "kernel": platform.release(),
        "system": _first("/etc/os-release", "PRETTY_NAME"),
        "virtual": "yes" if virtual else "no",
        "governor": governor.read_text().strip() if governor.exists() else "none visible",
        "load at start": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


@dataclass
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


class Link:
    """Two network namespaces joined by a veth pair that carries 1 Gbit/s each way.

    Torn down on exit, on Ctrl-C and on SIGTERM; what a killed run left behind is removed by
    `sweep` in the next one.
    """

    BURST = "32kb"  # the part of a message that tbf lets pass at once: under 1 % of 4 MB

    def __init__(self, rate: str = "1gbit") -> None:
        self.names = (f"{PREFIX}{os.getpid()}-a", f"{PREFIX}{os.getpid()}-b")
        self.addresses = ("10.231.77.1", "10.231.77.2")
        self.rate = rate
        self._previous: dict[int, signal._HANDLER] = {}

    @staticmethod
    def possible() -> str:
        """Empty, or why there can be no link."""
        if os.geteuid() != 0:
            return "network namespaces need root"
        try:
            subprocess.run(["tc", "-V"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return "`ip` and `tc` are missing (apt: iproute2)"
        return ""

    def up(self) -> None:
        atexit.register(self.down)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._previous[number] = signal.signal(number, self._on_signal)
        devices = (f"hb{os.getpid()}a", f"hb{os.getpid()}b")
        for name in self.names:
            _ip("netns", "add", name)
        # Both ends are born inside their namespaces: nothing appears in the host's.
        _ip(
            "link",
            "add",
            devices[0],
            "netns",
            self.names[0],
            "type",
            "veth",
            "peer",
            "name",
            devices[1],
            "netns",
            self.names[1],
        )
        for name, device, address in zip(self.names, devices, self.addresses, strict=True):
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            _ip("-n", name, "link", "set", device, "up", "multicast", "on")
            _ip("-n", name, "route", "add", "224.0.0.0/4", "dev", device)
            subprocess.run(
                [
                    "tc",
                    "-n",
                    name,
                    "qdisc",
                    "add",
                    "dev",
                    device,
                    "root",
                    "tbf",
                    "rate",
                    self.rate,
                    "burst",
                    self.BURST,
                    "latency",
                    "50ms",
                ],
                check=True,
            )

    def down(self) -> None:
        for name in self.names:
            if Path("/run/netns", name).exists():
                subprocess.run(["ip", "netns", "del", name], check=False)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.down()
        raise SystemExit(128 + number)

    def arguments(self) -> list[str]:
        return [
            "--pub-netns",
            self.names[0],
            "--sub-netns",
            self.names[1],
            "--pub-addr",
            self.addresses[0],
            "--sub-addr",
            self.addresses[1],
        ]


def _runs(pid: str) -> bool:
    try:
        state = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def sweep() -> None:
    """Removes the namespaces and the shared memory of runs whose process is gone."""
    for directory in (Path("/run/netns"), Path("/dev/shm")):
        for entry in directory.glob(f"{PREFIX}*") if directory.exists() else []:
            pid = entry.name.removeprefix(PREFIX).split("-")[0]
            if not pid.isdigit() or _runs(pid):
                continue
            if directory.name == "netns":
                subprocess.run(["ip", "netns", "del", entry.name], check=False)
            else:
                shutil.rmtree(entry, ignore_errors=True)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
