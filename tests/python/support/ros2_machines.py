"""Two machines, as network namespaces, with ROS 2 programs on them: two releases of Cyclone DDS,
set up as rmw_cyclonedds_cpp does, and Fast DDS, set up as rmw_fastrtps_cpp does.
"""

from __future__ import annotations

import importlib.util
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import PATIENCE_S, Program, Start

REPOSITORY = Path(__file__).parents[3]
_BUILT = REPOSITORY / "build/release/tests/gateway/ros2"
_PROGRAMS = {
    "cyclone_debian": [str(_BUILT / "ros2_node")],
    "cyclone_pypi": [sys.executable, str(Path(__file__).parent / "ros2_node.py")],
    "fastdds": [str(_BUILT / "ros2_fast_node")],
}

CYCLONES = ("cyclone_debian", "cyclone_pypi")
RELEASES = (*CYCLONES, "fastdds")
RANGES = ("LOCALHOST", "SUBNET")


def require(release: str) -> None:
    """Skips the test if the release is not installed."""
    if release != "cyclone_pypi" and not Path(_PROGRAMS[release][0]).exists():
        packages = "libfastrtps-dev" if release == "fastdds" else "cyclonedds-dev cyclonedds-tools"
        pytest.skip(f"no program of ROS on {release}: apt-get install {packages}, then make build")
    if release == "cyclone_pypi" and importlib.util.find_spec("cyclonedds") is None:
        pytest.skip("pip install cyclonedds")


class RosProcess:
    """A started ROS program, which prints a line for each message."""

    def __init__(self, program: Program) -> None:
        assert program.line() == "ready"
        self._program = program
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def heard(self, topic: str) -> tuple[int, str]:
        """The size and the first word of the next message of a topic."""
        while True:
            try:
                name, size, word = self._lines.get(timeout=PATIENCE_S).split()
            except queue.Empty:
                raise AssertionError(f"nothing comes of {topic}") from None
            if name == topic:
                return int(size), word

    def has_heard(self, within_s: float = 0) -> bool:
        """True if a message is available or arrives within this time."""
        deadline = time.monotonic() + within_s
        while self._lines.empty() and time.monotonic() < deadline:
            time.sleep(0.002)
        return not self._lines.empty()

    def signal(self, number: int) -> None:
        self._program.signal(number)

    def publish(self, size: int, word: str) -> None:
        self._program.type(f"{size} {word}\n")

    def _read(self) -> None:
        for line in self._program.lines():
            self._lines.put(line)


@dataclass(frozen=True)
class Machine:
    """A machine with a loopback interface, and an interface with this address."""

    namespace: str
    address: str

    def words(self, *command: str) -> list[str]:
        """The prefix that runs a command on this machine."""
        return ["nsenter", f"--net=/run/netns/{self.namespace}", *command]

    def lost(self) -> int:
        """The number of datagrams that met a full socket buffer."""
        table = subprocess.run(
            self.words("cat", "/proc/net/udp"), check=True, capture_output=True, text=True
        ).stdout
        return sum(int(line.split()[-1]) for line in table.splitlines()[1:])

    def ros(
        self, start: Start, release: str, *words: str, domain_id: int, own: str = ""
    ) -> RosProcess:
        """Starts a ROS program. `own`: the user's additions to the settings of Cyclone DDS."""
        own_settings = ["env", f"ROS2_NODE_OWN={own}"] if own else []
        command = self.words(*own_settings, *_PROGRAMS[release], str(domain_id), *words)
        return RosProcess(start(*command, keys=True))

    def gateway(self, start: Start, domain: str, domain_id: int, *words: str) -> Program:
        own = ["gateway", "ros2", "--set", f"domain_id={domain_id}", "--domain", domain]
        return start(*self.words(sys.executable, "-m", "hyphos", *own, *words))


@contextmanager
def two_machines() -> Iterator[tuple[Machine, Machine]]:
    """Skips the test where network namespaces cannot be made."""
    tools = all(shutil.which(word) for word in ("ip", "nsenter"))
    if os.geteuid() != 0 or not tools:
        pytest.skip("network namespaces may not be made here (needs root, ip and nsenter)")
    machines = (
        Machine(f"hyr{os.getpid()}a", "192.0.2.2"),
        Machine(f"hyr{os.getpid()}b", "192.0.2.3"),
    )
    try:
        for machine in machines:
            _run("ip", "netns", "add", machine.namespace)
        first, second = (machine.namespace for machine in machines)
        _run("ip", "link", "add", "eth0", "netns", first, "type", "veth", "peer", "name", "eth0",
             "netns", second)  # fmt: skip
        for machine in machines:
            _run(*machine.words("ip", "link", "set", "lo", "up"))
            address = f"{machine.address}/24"
            _run(*machine.words("ip", "address", "add", address, "dev", "eth0"))
            _run(*machine.words("ip", "link", "set", "eth0", "up", "multicast", "on"))
        yield machines
    finally:
        for machine in machines:
            subprocess.run(
                ["ip", "netns", "del", machine.namespace], check=False, capture_output=True
            )


def _run(*words: str) -> None:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"network namespaces may not be made here: {done.stderr.strip()}")
