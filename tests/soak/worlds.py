"""A robot that replies, the gateways, their clients, and the resources of a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import hyphos
from claims import own_dds_domain, own_port
from hyphos import _hyphos
from hyphos.msgs import String

HERE = Path(__file__).parent
CLIENT = HERE / "client.py"
PATIENCE_S = 60.0
LOG_THREAD = "hyphos-log"
LOG_DESCRIPTORS = 3  # the descriptors that this thread waits with


def ros2_program() -> Path | None:
    """The ROS 2 program in the build, if the build supports ROS 2."""
    build = Path(_hyphos.__file__).resolve().parents[2]
    program = build / "tests/gateway/ros2/ros2_line"
    return program if program.exists() else None


def own_parameters(node: str) -> tuple[str, ...]:
    """How the names of the channels begin that the parameters of this node use."""
    return f"{node}/_params", f"{node}/_set_params", f"hyphos/service/{node}/_set_params"


def kinds() -> list[str]:
    return ["ros_tcp", "rosbridge", "ros1"] + (["ros2"] if ros2_program() else [])


class Process:
    """A process whose output lines are kept."""

    def __init__(self, words: list[str]) -> None:
        self.popen = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self.errors = ""
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def _read_errors(self) -> None:
        assert self.popen.stderr is not None
        for line in self.popen.stderr:
            self.errors = (self.errors + line)[-20_000:]

    @property
    def running(self) -> bool:
        return self.popen.poll() is None

    def wait_lines(self, count: int) -> None:
        with self._changed:
            came = self._changed.wait_for(
                lambda: len(self.lines) >= count or not self.running, PATIENCE_S
            )
        if len(self.lines) < count:
            what = "has ended" if came else "has no output"
            raise SystemExit(f"{self.popen.args!r} {what}:\n{self.errors}")

    def kill(self) -> None:
        self.popen.send_signal(signal.SIGKILL)
        self.end()

    def end(self) -> None:
        self.popen.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join()
        for pipe in (self.popen.stdout, self.popen.stderr):
            if pipe is not None:
                pipe.close()


class Held:
    """The resources of a process: threads, descriptors, memory. The log channel, which opens with
    the first warning, is excluded.
    """

    def __init__(self, pid: int) -> None:
        process = Path("/proc", str(pid))
        names = []
        for task in (process / "task").iterdir():
            with suppress(OSError):  # it has ended meanwhile
                names.append((task / "comm").read_text().strip())
        logs = names.count(LOG_THREAD)
        self.threads = len(names) - logs
        self.descriptors = sum(1 for _ in (process / "fd").iterdir()) - logs * LOG_DESCRIPTORS
        status = (process / "status").read_text()
        self.rss_kb = int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]


class Gateway:
    def __init__(self, kind: str, domain: str, process: Process) -> None:
        self.kind = kind
        self._domain = domain
        self.process = process
        process.wait_lines(1)
        self.address = process.lines[0].strip()
        if kind == "ros2":
            self.address = f"{ros2_program()} {self.address.rpartition('/')[2]}"

    def held(self) -> Held:
        return Held(self.process.popen.pid)

    def ends(self) -> list[str]:
        """The channels of the gateway's publishers and subscriptions in the graph of the robot. The
        endpoints of its own parameters appear some time after its start, and stay.
        """
        return [
            end.channel
            for process in _hyphos.inspect(self._domain)
            if process.pid == self.process.popen.pid
            for end in process.endpoints
            if end.channel != "log" and not end.channel.startswith(own_parameters(end.node))
        ]

    def census(self) -> tuple[int, int, int]:
        """The numbers of threads, descriptors and endpoints in the graph."""
        held = self.held()
        return held.threads, held.descriptors, len(self.ends())

    def settle(self, before: tuple[int, int, int]) -> None:
        """Waits until the gateway has no more than before. DDS drops a lost participant after about
        20 s.
        """
        deadline = time.monotonic() + PATIENCE_S
        while True:
            now = self.census()
            if all(a <= b for a, b in zip(now, before, strict=True)):
                return
            if time.monotonic() > deadline:
                raise SystemExit(
                    f"{self.kind}: threads, descriptors, endpoints were {before}, "
                    f"but are now {now}; the endpoints: {self.ends()}"
                )
            time.sleep(0.1)

    def wait_for_end(self, channel: str, *, there: bool) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (channel in self.ends()) != there:
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.kind}: {channel} is {'not ' * there}there")
            time.sleep(0.02)

    def command(self, *words: str) -> list[str]:
        role, *rest = words
        return [sys.executable, "-S", "-E", str(CLIENT), role, self.kind, self.address, *rest]


def _std_srvs(folder: Path) -> Path:
    """The package with the service that clients offer, because Hyphos ships no services."""
    package = folder / "std_srvs"
    (package / "srv").mkdir(parents=True)
    depend = "<buildtool_depend>catkin</buildtool_depend>"
    (package / "package.xml").write_text(f"<package><name>std_srvs</name>{depend}</package>")
    (package / "srv/SetBool.srv").write_text("bool data\n---\nbool success\nstring message\n")
    return package


@contextmanager
def gateway(kind: str, domain: str) -> Iterator[Gateway]:
    own = {
        "ros_tcp": ["--port", "0"],
        "rosbridge": ["--port", "0"],
        "ros1": ["--master", "--set", f"master_port={own_port()}"],
        "ros2": ["--set", f"domain_id={own_dds_domain()}"],
    }[kind]
    words = [sys.executable, "-m", "hyphos", "gateway", kind, *own, "--domain", domain]
    with tempfile.TemporaryDirectory() as folder:
        process = Process([*words, "--ros", str(_std_srvs(Path(folder)))])
        process.wait_lines(1)
    try:
        yield Gateway(kind, domain, process)
        if not process.running:
            raise SystemExit(f"the gateway {kind} has ended:\n{process.errors}")
        process.popen.send_signal(signal.SIGINT)
        if process.popen.wait(PATIENCE_S) != 0:
            raise SystemExit(f"the gateway {kind} did not end cleanly:\n{process.errors}")
    finally:
        if process.running:
            process.popen.kill()
        process.end()


@contextmanager
def robot(names: list[str]) -> Iterator[str]:
    """A robot that publishes on NAME/pong everything it receives on NAME/ping, and publishes /beat.
    Yields its domain.
    """
    domain = f"soak{os.getpid()}"
    deep = hyphos.Policy(depth=100)
    try:
        with hyphos.Node.open("robot", domain=domain) as node:
            for name in names:
                pong = node.publisher(f"{name}/pong", String, policy=deep)
                node.subscribe(f"{name}/ping", String, pong.publish, policy=deep)
            beat = node.publisher("beat", String)
            node.every(lambda: beat.publish(String(data="b" * 10_000)), rate_hz=50)
            yield domain
    finally:
        _hyphos.shm_clean(domain)


class Echo:
    """A good client: each of its messages comes back once and in order, otherwise it ends."""

    def __init__(self, gate: Gateway, name: str, rate_hz: float) -> None:
        self.name = f"{gate.kind} {name}"
        self.process = Process(gate.command("echo", name, str(rate_hz)))

    def check(self) -> None:
        if not self.process.running:
            raise SystemExit(f"{self.name} has ended:\n{self.process.errors}")

    @property
    def answers(self) -> int:
        return int(self.process.lines[-1].split()[0]) if self.process.lines else 0

    @property
    def worst_ms(self) -> float:
        return float(self.process.lines[-1].split()[1]) if self.process.lines else 0.0


@contextmanager
def echoes(wanted: list[tuple[Gateway, str]], rate_hz: float) -> Iterator[list[Echo]]:
    with ExitStack() as stack:
        made = []
        for gate, name in wanted:
            one = Echo(gate, name, rate_hz)
            stack.callback(one.process.kill)
            made.append(one)
        for one in made:
            one.process.wait_lines(1)
        yield made
        for one in made:
            one.check()
