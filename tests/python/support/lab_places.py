"""Common parts of the laboratory's tests: requirements, programs for hosts, and leftovers."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from helpers import PATIENCE_S
from hyphos.lab.limits import Place, cgroup_folders
from hyphos.lab.links import why_not
from hyphos.lab.media import Medium, Tun

ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 7000))
print("up", flush=True)
while True:
    data, who = s.recvfrom(65536)
    s.sendto(data, who)
"""

# Prints the round trips that came back, in milliseconds.
ASK = """
import socket, sys, time
where, count = (sys.argv[1], 7000), int(sys.argv[2])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(60)
for i in range(count):
    began = time.perf_counter()
    s.sendto(b"x" * 64, where)
    s.recv(100)
    print((time.perf_counter() - began) * 1e3)
    time.sleep(0.005)
"""

# Prints the first datagram to a group.
EAR = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7002))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.255.72.89")
             + socket.inet_aton("0.0.0.0"))
print("up", flush=True)
print(s.recv(100).decode())
"""

# Prints the number of datagrams before the one with "end".
COUNT = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 16_000_000)  # SO_RCVBUFFORCE
s.bind(("0.0.0.0", 7000))
print("up", flush=True)
count = 0
while s.recv(65536) != b"end":
    count += 1
print(count)
"""


def need(medium: Medium | None = None) -> pytest.MarkDecorator:
    """Skips a test if such a network is not possible, with the reason."""
    missing = why_not(medium or Tun())
    return pytest.mark.skipif(missing is not None, reason=str(missing))


def program(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def run(place: Place, code: str, *arguments: str) -> str:
    """Runs a Python program there to its end. Returns its output."""
    running = place.start([*program(code), *arguments], stdout=subprocess.PIPE, text=True)
    out: str = running.communicate(timeout=PATIENCE_S)[0]
    assert running.returncode == 0, out
    return out


def begin(place: Place, code: str) -> subprocess.Popen[str]:
    """Starts a Python program there, in the background. Returns when it is up."""
    running = place.start(program(code), stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    return running


def things_named(part: str) -> list[str]:
    """Namespaces, folders, mounts and cgroups of the laboratory whose name contains `part`."""
    found: list[str] = []
    for place in ("/run", "/run/netns", "/dev/shm", tempfile.gettempdir()):
        found += [str(path) for path in Path(place).glob("hyphos-lab-*")]
    for folder in cgroup_folders():
        found += [str(path) for path in folder.glob("hyphos-lab-*")]
    found += [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return sorted({path for path in found if "hyphos-lab-" in path and part in path})


def domains_of(pid: int) -> list[str]:
    """Leftovers in shared memory of the Hyphos domains of its runs."""
    first = pid % 20_000 * 100_000
    folders = Path(f"/dev/shm/hyphos-{os.getuid()}").glob("lab*")
    numbers = ((path, path.name.removeprefix("lab")) for path in folders)
    return [str(path) for path, n in numbers if n.isdigit() and 0 < int(n) - first < 100_000]


def processes_with(word: str) -> Iterator[int]:
    """Processes with this in their environment, from any parent."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and word.encode() in (entry / "environ").read_bytes():
                pid = int(entry.name)
                if pid != os.getpid():
                    yield pid


def words_of(pids: Sequence[int]) -> list[str]:
    """A description of these processes for a message."""
    found = []
    for pid in pids:
        with suppress(OSError):
            text = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            found.append(f"{pid} {text.decode(errors='replace')[:100]}")
    return found
