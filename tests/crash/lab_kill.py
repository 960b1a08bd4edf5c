"""Kills a program that makes networks and limits, with SIGKILL at random instants, and checks after
every kill that nothing of it stays, and how soon it is gone: no process, namespace, cgroup, mount
or folder. Every fifth time its reaper is killed in the same instant, and the next program cleans
up.

    lab_kill.py KILLS
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from hyphos.lab.limits import cgroup_folders
from hyphos.lab.links import why_not
from hyphos.lab.media import Tun
from hyphos.lab.reaper import sweep
from lab_places import processes_with, things_named, words_of

SKIPPED = 77  # as ctest is told
LIMIT_S = 30.0
LATEST_S = 1.5  # of a kill; by then a program is in its third or fourth round

TOOL = """
import itertools, random, time
from hyphos.lab.limits import Limits
from hyphos.lab.links import Link, Network
from hyphos.lab.media import Tun, Veth, Wifi
networks = [
    lambda: Link(Veth()),
    lambda: Network(Wifi(), ["a", "b", "c"]),
    lambda: Link(Tun(delay_ms=1)),
]
print("up", flush=True)
for make in itertools.cycle(networks):
    with make() as net, Limits(cores=0.7, shm_mb=2) as limits:
        net["a"].start(["sleep", "1000"])
        net["b"].start(["setsid", "-f", "sleep", "1000"], limits.place).wait()
        limits.place.start(["sh", "-c", "sleep 1000 & sleep 1000"])
        time.sleep(random.uniform(0, 0.15))  # it is up, or is only starting, at the end
"""


def leftovers(part: str, mark: str) -> list[str]:
    return things_named(part) + words_of(list(processes_with(mark)))


def named(name: str, mark: str) -> int | None:
    """The process of the program with this name."""
    for pid in processes_with(mark):
        with suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text() == name + "\n":
                return pid
    return None


def kill_once(
    turn: int, after_s: float, reaper_too: bool, code: str = TOOL, victim: str | None = None
) -> tuple[float, int]:
    """Seconds until everything was gone, and how much there was at the kill. `victim` is a program
    of the tool that is killed in its place, if it runs at that instant."""
    mark = f"HYPHOS_KILL_MARK={os.getpid()}-{turn}-"
    name, _, value = mark.partition("=")
    tool = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, name: value},
    )  # fmt: skip
    assert tool.stdout is not None
    assert tool.stdout.readline() == b"up\n"
    part = f"hyphos-lab-{tool.pid}-"
    time.sleep(after_s)
    there = len(things_named(part))
    reaper = named("hyphos-reaper", mark) if reaper_too else None
    target = (victim and named(victim, mark)) or tool.pid
    for pid in filter(None, (reaper, target)):
        os.kill(pid, signal.SIGKILL)
    tool.wait()
    tool.stdout.close()
    began = time.monotonic()
    if reaper:
        sweep(cgroup_folders())
    while left := leftovers(part, mark):
        if time.monotonic() - began > LIMIT_S:
            raise AssertionError(f"turn {turn}, killed after {after_s:.3f} s: {left}")
        time.sleep(0.02)
    return time.monotonic() - began, there


def repeated(kill: Callable[[int, random.Random], tuple[float, int]], what: str) -> int:
    """The program: as many kills as its first argument says, from the seed that is its second."""
    if missing := why_not(Tun()):
        print(f"skipped: {missing}")
        return SKIPPED
    kills = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    numbers = random.Random(seed)
    print(f"seed {seed}", flush=True)
    took, there = [], 0
    for turn in range(kills):
        gone_s, things = kill(turn, numbers)
        took.append(gone_s)
        there += things
    took.sort()
    print(f"{kills} kills; {there} {what} stood when they came;")
    print(f"all was gone after {took[len(took) // 2]:.2f} s (median; {took[-1]:.2f} s at most)")
    return 0


def main() -> int:
    return repeated(
        lambda turn, numbers: kill_once(turn, numbers.uniform(0, LATEST_S), turn % 5 == 4),
        "namespaces, cgroups, mounts and folders",
    )


if __name__ == "__main__":
    sys.exit(main())
