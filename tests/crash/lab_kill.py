"""Kills commands of the lab with SIGKILL at random times, in turn: `run` with links, limits and a
recording, over several hosts, and of a graph, then `calibrate` over a link, `verify` and `profile`.
Checks after every kill that no process, namespace, cgroup, mount, segment or folder is left in
/run, in /dev/shm and among the temporary files. Measures the time until then. Every fifth time, its
reaper is killed at the same time, and the next program cleans up.

    lab_kill.py KILLS
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "support"))

from hyphos.lab.links import why_not
from hyphos.lab.media import Tun
from hyphos.lab.stage import sweep_all
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook
from lab_places import domains_of, processes_with, things_named, words_of

SKIPPED = 77  # the SKIP_RETURN_CODE of ctest
LIMIT_S = 30.0
LATEST_S = 6.0  # of a kill. By then a command is in its second or third run

TOOL = """
import os, sys
words = sys.argv[1:]
from hyphos.lab.capacity import commands  # most of their imports
from hyphos.program import main
print("up", flush=True)
os.dup2(2, 1)  # its output is not needed
sys.argv = ["hyphos", *words]
main()
"""

EXPERIMENT = """
lab: 1
workload: pair
peers: [zmq/tcp, hyphos/tcp]
recording: {folder}/drive.mcap
channel: blob
seconds: 0.5
warmup: 3
repeats: 1000
cores: 1.5
shm_mb: 64
links: {{far: {{kind: tun, delay_ms: 1}}, near: {{kind: veth}}}}
grid: {{link: [far, near]}}
"""

HOSTS = """
lab: 1
workload: fanout
subscribers: 3
peers: [zmq/tcp, hyphos/tcp]
seconds: 0.5
warmup: 3
repeats: 1000
links: {far: {kind: tun}, near: {kind: veth}, air: {kind: wifi}}
grid: {link: [near, far, air], hosts: [2, 3]}
"""

GRAPH = """
lab: 1
workload: graph
plan: robots.yaml
seconds: 0.5
repeats: 1000
links: {near: {kind: veth}}
link: near
"""

ROBOTS = """
hyphos: 1
hosts: {one: {address: 10.0.0.1}, two: {address: 10.0.0.2}, three: {address: 10.0.0.3}}
processes: {eyes: {host: one}, brain: {host: two}, hand: {host: three}}
nodes: {camera: {process: eyes}, mapper: {process: brain}, arm: {process: hand}}
channels:
  image: {publishers: [camera], subscribers: [mapper, arm], load: {rate_hz: 30, size: 20 KB}}
"""

ROBOT = """
hyphos: 1
processes: {eyes: {}, brain: {}}
nodes: {camera: {process: eyes}, mapper: {process: brain}}
channels: {image: {publishers: [camera], subscribers: [mapper], load: {rate_hz: 30, size: 200 KB}}}
"""


def prepare(folder: Path) -> list[list[str]]:
    """Prepares the files of the commands that are killed. Returns the arguments of each command."""
    (folder / "links.yaml").write_text(EXPERIMENT.format(folder=folder))
    (folder / "hosts.yaml").write_text(HOSTS)
    (folder / "graph.yaml").write_text(GRAPH)
    (folder / "robots.yaml").write_text(ROBOTS)
    (folder / "robot.yaml").write_text(ROBOT)
    recording = McapRecording(folder / "drive.mcap", TypeBook())
    blob = recording.add_channel("blob", "test.Blob", "bytes", 7, {})
    for number in range(200):
        at = 1_000_000_000 + number * 5_000_000
        recording.write(blob, at, at, number, bytes(10_000))
    recording.close({})
    lab = ["lab"]
    return [
        [*lab, "run", str(folder / "links.yaml"), "--overwrite", "-o", str(folder / "run")],
        [*lab, "run", str(folder / "hosts.yaml"), "--overwrite", "-o", str(folder / "hosts")],
        [*lab, "run", str(folder / "graph.yaml"), "--overwrite", "-o", str(folder / "graph")],
        [*lab, "calibrate", "--link", "cable=veth,rate_mbit=100", "-o", str(folder / "x.json")],
        [*lab, "verify", str(folder / "robot.yaml"), "--measure-only"],
        [*lab, "profile", "--experiment", "latency", "--for", "2"],
    ]


def leftovers(pid: int, mark: str, temporary: Path | None) -> list[str]:
    found = things_named(f"hyphos-lab-{pid}-") + domains_of(pid)
    found += map(str, temporary.iterdir()) if temporary else []
    return found + words_of(list(processes_with(mark)))


def named(name: str, mark: str) -> int | None:
    """The pid of the process with this program name."""
    for pid in processes_with(mark):
        with suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text() == name + "\n":
                return pid
    return None


def kill_once(
    turn: int,
    after_s: float,
    reaper_too: bool,
    words: Sequence[str],
    victim: str | None = None,
    temporary: Path | None = None,
) -> tuple[float, int]:
    """Starts the tool with these arguments, waits for its "up", and kills it. Returns the seconds
    until everything was gone, and the number of things that existed at the kill. `victim` is a
    program of the tool that is killed instead, if it is running. `temporary` is the folder for the
    tool's temporary files."""
    mark = f"HYPHOS_KILL_MARK={os.getpid()}-{turn}-"
    name, _, value = mark.partition("=")
    tool = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, name: value} | ({"TMPDIR": str(temporary)} if temporary else {}),
    )  # fmt: skip
    assert tool.stdout is not None
    assert tool.stdout.readline() == b"up\n"
    time.sleep(after_s)
    there = len(leftovers(tool.pid, mark, temporary)) - 1
    assert tool.poll() is None, f"turn {turn}: it ended by itself, with {tool.returncode}"
    reaper = named("hyphos-reaper", mark) if reaper_too else None
    target = (victim and named(victim, mark)) or tool.pid
    for pid in filter(None, (reaper, target)):
        os.kill(pid, signal.SIGKILL)
    tool.wait()
    tool.stdout.close()
    began = time.monotonic()
    if reaper:
        tempfile.tempdir = str(temporary) if temporary else None
        sweep_all()
    while left := leftovers(tool.pid, mark, temporary):
        if reaper:  # a sweep leaves everything of processes that have not ended yet
            sweep_all()
        if time.monotonic() - began > LIMIT_S:
            raise AssertionError(f"turn {turn}, killed after {after_s:.3f} s: {left}")
        time.sleep(0.02)
    return time.monotonic() - began, there


def repeated(kill: Callable[[int, random.Random], tuple[float, int]], what: str) -> int:
    """Runs the program. Its arguments: the number of kills, and optionally the seed."""
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
    print(f"{kills} kills; {there} {what} existed at the kills;")
    print(f"all was gone after {took[len(took) // 2]:.2f} s (median; {took[-1]:.2f} s at most)")
    return 0


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        commands = prepare(Path(folder))
        temporary = Path(folder, "temporary")
        temporary.mkdir()

        def kill(turn: int, numbers: random.Random) -> tuple[float, int]:
            words = [sys.executable, "-c", TOOL, *commands[turn % len(commands)]]
            after_s = numbers.uniform(0, LATEST_S)
            return kill_once(turn, after_s, turn % 5 == 4, words, temporary=temporary)

        return repeated(kill, "processes, namespaces, cgroups, mounts, segments and folders")


if __name__ == "__main__":
    sys.exit(main())
