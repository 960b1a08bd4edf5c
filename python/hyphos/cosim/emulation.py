"""Robots of a scenario as hosts with real programs, and the simulated radio between them, in real
time.

    with Emulation(Path("emulate.yaml")) as running:
        running.begin()
        running["husky1"].start(["ping", "-c", "5", running["husky2"].address])
        ...
        print(running.end()["valid"])

A robot is a network namespace with one device, `radio0`, an address, and its own /dev/shm. Needs
root. `down()` removes everything. `with` calls it, and the reaper removes everything if the program
ends in another way.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from hyphos._errors import Error
from hyphos.cosim.bodies import Bodies, Body
from hyphos.cosim.mesh import Daemons, Routing, need_daemon, route_commands
from hyphos.cosim.probes import Probes, report
from hyphos.lab.limits import Place, SmallShm, cgroup_folders, need_namespaces
from hyphos.lab.links import Host, bring_up, check_name, configure, make_host, need_tun
from hyphos.lab.reaper import Reaper, Resource, sweep
from hyphos.lab.standing import Standing
from hyphos.tools.native import program

DEVICE = "radio0"
_SHM_MB = 256  # limit for each robot
# The program first reads the scenario and libraries. A simulator process has 5 s for a reply.
_PATIENCE_S = 60.0
_GRACE_S = 15.0  # for the end of the program, which may wait for a simulator


@dataclass(frozen=True)
class Robot:
    """A robot of the scenario."""

    name: str
    address: str
    run: tuple[str, ...]
    address6: str = ""
    off_s: tuple[float, ...] = ()  # when its radio goes off, on, off and so on
    body: Body | None = None


@dataclass(frozen=True)
class Described:
    robots: tuple[Robot, ...]
    prefix: int
    seconds: float
    routing: Routing = field(default_factory=Routing)
    probes: tuple[tuple[str, str], ...] = ()
    probe_s: float = 0.1

    @staticmethod
    def of(scenario: Path, seed: int | None = None) -> Described:
        """Reads a scenario. Raises Error with all problems, each with file, line and key."""
        words = [str(_program()), "describe", str(scenario), *_seed(seed)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Error("invalid_config", done.stderr.strip())
        found = json.loads(done.stdout)
        robots = tuple(
            Robot(
                r["name"],
                r["address"],
                tuple(r["run"]),
                r["address6"],
                tuple(r["off_s"]),
                Body.of(r["body"]),
            )
            for r in found["robots"]
        )
        told = found["routing"]
        routes = {r["name"]: [(to, via) for to, via in r["routes"]] for r in found["robots"]}
        routing = Routing(told["protocol"], told["hello_s"], routes)
        probes = tuple((source, target) for source, target in found["probes"])
        probe_s = found["probe_ms"] / 1e3
        return Described(robots, found["prefix"], found["seconds"], routing, probes, probe_s)


def _program() -> Path:
    return program("cosim", "hyphos-cosim-emulate")


def _seed(seed: int | None) -> list[str]:
    return [] if seed is None else ["--seed", str(seed)]


@dataclass(frozen=True)
class Ways:
    """Options of a run. None: the value in the scenario."""

    seconds: float | None = None
    seed: int | None = None
    trace: Path | None = None
    radio_process: bool = False
    mcap: Path | None = None

    def words(self) -> list[str]:
        words = _seed(self.seed)
        if self.seconds is not None:
            words += ["--seconds", repr(self.seconds)]
        if self.trace is not None:
            words += ["--trace", str(self.trace)]
        if self.mcap is not None:
            words += ["--mcap", str(self.mcap)]
        return [*words, "--radio-process"] if self.radio_process else words


class Emulation(Standing):
    """Robots by name, and the radio between them. Use from one thread."""

    def __init__(self, scenario: Path, ways: Ways | None = None) -> None:
        self._scenario = scenario
        self._ways = ways or Ways()
        self.described = Described.of(scenario, self._ways.seed)
        for robot in self.described.robots:
            check_name(robot.name)
        self._reaper: Reaper | None = None
        self._resources: list[Resource] = []
        self._radio: subprocess.Popen[bytes] | None = None
        self._text = b""
        self.bodies = Bodies()
        self._probes: Probes | None = None
        self.daemons: Daemons | None = None  # of the routing protocol
        self._codes: dict[str, int | None] = {}
        self.hosts: dict[str, Host] = {}
        self._summary: dict[str, Any] | None = None
        self.rehearsal: dict[str, Any] | None = None  # the cost on this machine, before the run

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    @property
    def seconds(self) -> float:
        """The planned duration of the run."""
        return self._ways.seconds or self.described.seconds

    # --- start ---

    def up(self) -> Self:
        """Creates robots and radio. The clock does not run before begin()."""
        need_namespaces("a network of namespaces")
        need_tun()
        need_daemon(self.described.routing)
        sweep(cgroup_folders())
        self._reaper = Reaper()
        try:
            for robot in self.described.robots:
                self._make(robot, self._reaper)
            self._start_radio(self._reaper)
        except BaseException:
            self.down()
            raise
        return self

    def _make(self, robot: Robot, reaper: Reaper) -> None:
        bare = make_host(reaper, robot.name, robot.address, self.described.prefix, self._resources)
        # Robots on one machine would find each other in its /dev/shm, without the radio.
        shm = SmallShm(reaper, f"{robot.name}-shm", _SHM_MB)
        self._resources += shm.resources
        place = bare.place.within(Place(reaper, shm=shm.path))
        self.hosts[robot.name] = Host(bare.name, bare.address, bare.prefix, bare.namespace, place)

    def _start_radio(self, reaper: Reaper) -> None:
        words = [str(_program()), "run", str(self._scenario), *self._ways.words()]
        for host in self.hosts.values():
            words += ["--host", f"{host.namespace}={host.address}/{host.prefix}"]
        bodies = [(robot.name, robot.body) for robot in self.described.robots]
        self.bodies.connect(bodies)
        words += self.bodies.words()
        self._radio = Place(reaper).start(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=self.bodies.files()
        )
        line = self._line(_PATIENCE_S)
        if line and line != "ready":
            self.rehearsal = json.loads(line)
            line = self._line(_PATIENCE_S)
        if line != "ready":
            raise self._failure()
        for host in self.hosts.values():
            bring_up(host, DEVICE)
        self._prepare_routes(reaper)
        self.bodies.start(bodies, self.hosts)

    def _prepare_routes(self, reaper: Reaper) -> None:
        described = self.described
        addresses6 = {robot.name: robot.address6 for robot in described.robots}
        for name, routes in described.routing.routes.items():
            configure(self.hosts[name], route_commands(routes, self.hosts, addresses6))
        if described.routing.protocol == "babel":
            self.daemons = Daemons(reaper, DEVICE, described.routing.hello_s)
            self._resources.append(self.daemons.resource)
        if described.probes:
            self._probes = Probes(described.probes, described.probe_s, self.hosts)

    # --- run ---

    def begin(self) -> None:
        """Starts the clock and the flow of packets."""
        assert self._radio is not None and self._radio.stdin is not None
        try:
            self._radio.stdin.write(b"begin\n")
            self._radio.stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None
        if self.daemons is not None:
            for host in self.hosts.values():
                self.daemons.start(host)
        if self._probes is not None:
            self._probes.start()

    def watch(self, seconds: float) -> dict[str, Any] | None:
        """Waits at most `seconds` for news. Returns the progress, or the summary after the end.
        Raises Error if the radio has failed.
        """
        if self._summary is not None:
            return self._summary
        # A body ends when the radio has ended, whose last line is there by then.
        ended = self.bodies.ended()
        line = self._line(0 if ended else seconds)
        if line is None:
            if ended:
                raise Error("disconnected", ended, str(self._scenario))
            return None
        if not line:
            raise self._failure()
        news: dict[str, Any] = json.loads(line)
        if news["kind"] != "progress":
            self._summary = news
        return news

    @property
    def over(self) -> bool:
        return self._summary is not None

    def end(self) -> dict[str, Any]:
        """Ends the run, unless it is over, and returns the summary."""
        assert self._radio is not None
        if self.daemons is not None:
            self._codes = self.daemons.codes()  # before their devices disappear
        if self._summary is None:
            with suppress(ProcessLookupError):
                self._radio.send_signal(signal.SIGTERM)
        while self._summary is None:
            if self.watch(_GRACE_S) is None:
                self._radio.kill()
                raise Error(
                    "timeout",
                    f"the emulation did not end within {_GRACE_S:g} s and was killed",
                    "hyphos-cosim-emulate",
                )
        return {**self._summary, **self._results(self._summary)}

    def _results(self, summary: dict[str, Any]) -> dict[str, Any]:
        """The measurements and daemons of this program, for the summary."""
        tracks = []
        if self._probes is not None:
            self._probes.stop()
            tracks = self._probes.tracks
        off_s = {robot.name: robot.off_s for robot in self.described.robots if robot.off_s}
        origin, end = summary["origin_ns"], summary["simulated_s"]
        return {
            "rehearsal": self.rehearsal,
            "routing": self.described.routing.protocol,
            "daemons": self._codes,
            "probe_ms": self.described.probe_s * 1e3,
            "probes": [report(track, origin, end, off_s) for track in tracks],
        }

    def _line(self, seconds: float) -> str | None:
        """The next line of the radio. None: no line in time. Empty: the radio has ended."""
        assert self._radio is not None and self._radio.stdout is not None
        while b"\n" not in self._text:
            ready, _, _ = select.select([self._radio.stdout], [], [], seconds)
            if not ready:
                return None
            got = os.read(self._radio.stdout.fileno(), 65536)
            if not got:
                return ""
            self._text += got
        line, _, self._text = self._text.partition(b"\n")
        return line.decode()

    def _failure(self) -> Error:
        """The error for a radio that has ended. Its own messages were printed before."""
        assert self._radio is not None
        code = self._radio.wait(_PATIENCE_S)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return Error("disconnected", f"the emulation {how}", "hyphos-cosim-emulate")

    # --- end ---

    def down(self) -> None:
        """Ends the programs on the robots, and removes the robots."""
        if self._reaper is None:
            return
        self.bodies.stop()
        if self._probes is not None:
            self._probes.stop()
            self._probes = None
        if self._radio is not None:
            for pipe in (self._radio.stdin, self._radio.stdout):
                assert pipe is not None
                with suppress(OSError):
                    pipe.close()
            self._radio.terminate()
            try:
                self._radio.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                self._radio.kill()
                self._radio.wait()
            self._radio = None
        self._reaper.remove(*self._resources)
        self._resources.clear()
        self.hosts.clear()
        self.daemons = None
        self._reaper.close()
        self._reaper = None


def with_addresses(words: Sequence[str], hosts: dict[str, Host]) -> list[str]:
    """Replaces {NAME} by the address of that robot."""

    def put(word: str) -> str:
        for name, host in hosts.items():
            word = word.replace("{" + name + "}", host.address)
        return word

    return [put(word) for word in words]
