"""A 1 Gbit/s link between two namespaces."""

from __future__ import annotations

import atexit
import os
import subprocess
from pathlib import Path

PREFIX = "hyphos-bench-"


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


def sweep() -> None:
    """Removes the namespaces of runs whose process is gone."""
    folder = Path("/run/netns")
    for entry in folder.glob(f"{PREFIX}*") if folder.exists() else []:
        pid = entry.name.removeprefix(PREFIX).split("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            subprocess.run(["ip", "netns", "del", entry.name], check=False)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
