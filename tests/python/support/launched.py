"""Robots of Python nodes for the tests of `hyphos run`, and questions about their processes."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import hyphos
from helpers import Program, Start, wait_until
from hyphos import _hyphos

NODES = """
import os, pathlib, signal, subprocess, sys, threading, time
from hyphos.msgs import Int64, String

def quiet(node):
    pass

class Counter:
    "Counts, and publishes its pid once, on a latched channel."
    def __init__(self, node):
        self.pub = node.publisher("count", Int64)
        self.born = node.publisher("born", String)
        self.born.publish(String(data=str(os.getpid())))
        self.count = 0
        node.every(self.tick, rate_hz=100)
    def tick(self):
        self.count += 1
        self.pub.publish(Int64(data=self.count))

class Echo:
    "Repeats each number, with its own pid and the pid from the latched channel."
    def __init__(self, node):
        self.pub = node.publisher("echo", String)
        self.born = ""
        node.subscribe("born", String, self.on_born)
        node.subscribe("count", Int64, self.on_count)
    def on_born(self, born):
        self.born = born.data
    def on_count(self, count):
        self.pub.publish(String(data=f"{os.getpid()} {self.born} {count.data}"))

class Deadlocked:
    "Works for a while, then holds every thread of its pool for ever."
    def __init__(self, node):
        self.lock = threading.Lock()
        self.lock.acquire()
        self.pub = node.publisher("count", Int64)
        self.calls = 0
        node.every(self.tick, rate_hz=50)
    def tick(self):
        self.calls += 1
        self.pub.publish(Int64(data=self.calls))
        if self.calls == 10:
            self.lock.acquire()

class Silent:
    "In its first life it publishes ten times, then stays alive without publishing."
    def __init__(self, node):
        mark = pathlib.Path(__file__).with_name("was_silent")
        self.first = not mark.exists()
        mark.touch()
        self.pub = node.publisher("count", Int64)
        self.calls = 0
        node.every(self.tick, rate_hz=50)
    def tick(self):
        self.calls += 1
        if self.calls <= 10 or not self.first:
            self.pub.publish(Int64(data=self.calls))

def slow_to_stand(node):
    time.sleep(0.3)
    print("stands", time.monotonic(), flush=True)

def notes_its_birth(node):
    print("born", time.monotonic(), flush=True)

def failing(node):
    raise RuntimeError("cannot work")

def mother(node):
    child = subprocess.Popen(["sleep", "1000"])
    print("child", child.pid, flush=True)

def stubborn(node):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    print("stubborn", os.getpid(), flush=True)
    time.sleep(1000)

def chatter(node):
    for i in range(2000):
        print(f"line {i} " + "x" * 90, flush=True)
    print("done", flush=True)
"""


RESTART = "restart: on_failure, backoff_ms: 10, max_restarts_per_minute: 100"


class Robot:
    """Plans of Python nodes in a folder: one process for each node, named after it."""

    def __init__(self, folder: Path, domain: str) -> None:
        self.folder = folder
        self.domain = domain
        self.path = folder / "robot.yaml"
        (folder / "nodes.py").write_text(NODES)

    def plan(self, processes: dict[str, tuple[str, str]], extra: str = "") -> str:
        """Writes a plan. `processes`: name → the class of its node, and the keys of its process."""
        lines = [f"hyphos: 1\ndomain: {self.domain}\nprocesses:"]
        for name, (_, keys) in processes.items():
            lines.append(f"  {name}: {{nodes: [{name}_node]{', ' if keys else ''}{keys}}}")
        lines.append("nodes:")
        for name, (kind, _) in processes.items():
            lines.append(f'  {name}_node: {{python: "nodes.py:{kind}"}}')
        self.path.write_text("\n".join(lines) + "\n" + extra)
        return str(self.path)

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def log(self, process: str) -> str:
        try:
            return (self.logs / f"{process}.log").read_text()
        except FileNotFoundError:  # the process has not started yet, or its log is being replaced
            return ""


def until_line(program: Program, pattern: str) -> re.Match[str]:
    """Reads up to a line that matches."""
    seen = []
    for _ in range(100_000):
        line = program.line()
        if not line:
            break
        seen.append(line)
        if found := re.search(pattern, line):
            return found
    _, _, err = program.end()
    raise AssertionError(f"no line matches {pattern!r} in\n" + "\n".join([*seen[-50:], err]))


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def runs(robot: Robot, process: str) -> int | None:
    """The pid of a process of the robot, or None if it is not in the domain."""
    with suppress(hyphos.Error):
        for info in _hyphos.inspect(robot.domain):
            if info.name == process:
                return info.pid
    return None


def pid_of(robot: Robot, process: str) -> int:
    """Waits for the process. Never returns 0, because kill(0) would signal all processes of the
    test.
    """
    found: list[int] = []

    def there() -> bool:
        found.extend(pid for pid in [runs(robot, process)] if pid)
        return bool(found)

    wait_until(there, process)
    return found[0]


def is_heard(domain: str, channel: str) -> bool:
    """True if a publisher of another process has found the subscriber of the channel."""
    with suppress(hyphos.Error):
        return any(
            end.channel == channel and end.is_publisher and "shm" in end.transports
            for process in _hyphos.inspect(domain)
            for end in process.endpoints
        )
    return False


def run_until_ready(start: Start, folder: Path, plan: str, *words: str) -> tuple[int, str, str]:
    """Stops `hyphos run` when all processes have been ready, unless it ends by itself. Returns the
    exit code, the output and the errors.
    """
    events = folder / "events.jsonl"
    events.unlink(missing_ok=True)
    program = start("run", plan, "--events", str(events), *words)

    def done() -> bool:
        ready = events.exists() and '"event": "ready"' in events.read_text()
        return ready or program.popen.poll() is not None

    wait_until(done, "the processes")
    return program.stop()


def is_ready(robot: Robot, process: str) -> bool:
    with suppress(hyphos.Error):
        return any(
            info.name == process and info.state == "ready" for info in _hyphos.inspect(robot.domain)
        )
    return False
