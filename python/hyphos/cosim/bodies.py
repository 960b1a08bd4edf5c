"""The bodies of the robots of an emulation: odometry, sensors, time and motion commands as channels
in the world of each robot, and gateways that bring these channels to ROS.
"""

from __future__ import annotations

import select
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hyphos._errors import Error
from hyphos.lab.links import Host
from hyphos.tools.native import program

_PATIENCE_S = 30.0


@dataclass(frozen=True)
class Body:
    """The body of a robot, as `describe` prints it."""

    gateway: tuple[str, ...]
    prefix: str
    pose_channel: str
    command_channel: str
    transforms: bool
    sensors: list[str]  # CHANNEL=TYPE, as the options of the program

    @staticmethod
    def of(told: dict[str, Any] | None) -> Body | None:
        if told is None:
            return None
        names = ("prefix", "pose_channel", "command_channel", "transforms", "sensors")
        return Body(tuple(told["gateway"]), **{name: told[name] for name in names})

    def words(self, robot: str, file: int) -> list[str]:
        words = [str(program("cosim", "hyphos-cosim-outside")), "follow", "--robot", robot]
        words += ["--domain", "0", "--prefix", self.prefix, "--socket-fd", str(file)]
        words += ["--pose-channel", self.pose_channel, "--command-channel", self.command_channel]
        words += ["--transforms", str(self.transforms).lower()]
        for sensor in self.sensors:
            words += ["--sensor", sensor]
        return words


@dataclass
class Bodies:
    """The processes of all bodies. `ends` are the sockets of the emulation, by robot number."""

    ends: dict[int, socket.socket] = field(default_factory=dict)
    variables: dict[str, dict[str, str]] = field(default_factory=dict)  # by robot
    _others: dict[str, socket.socket] = field(default_factory=dict)
    _processes: dict[str, subprocess.Popen[Any]] = field(default_factory=dict)

    def connect(self, robots: list[tuple[str, Body | None]]) -> None:
        for number, (name, body) in enumerate(robots):
            if body is not None:
                self.ends[number], self._others[name] = socket.socketpair(
                    socket.AF_UNIX, socket.SOCK_SEQPACKET
                )

    def words(self) -> list[str]:
        """The options of the emulation program."""
        return [w for k, end in self.ends.items() for w in ("--body", f"{k}={end.fileno()}")]

    def files(self) -> list[int]:
        return [end.fileno() for end in self.ends.values()]

    def start(self, robots: list[tuple[str, Body | None]], hosts: dict[str, Host]) -> None:
        """Starts the processes, once the devices of the robots are up."""
        for end in self.ends.values():
            end.close()  # the emulation program has its own
        for name, body in robots:
            if body is None:
                continue
            other = self._others.pop(name)
            with other:
                self._start(
                    f"the body of {name}",
                    hosts[name],
                    body.words(name, other.fileno()),
                    pass_fds=[other.fileno()],
                )
            if body.gateway:
                self._start_gateway(name, body, hosts)

    def _start_gateway(self, name: str, body: Body, hosts: dict[str, Host]) -> None:
        host = hosts[name]
        words = list(body.gateway)
        for other, its in hosts.items():
            words = [word.replace("{" + other + "}", its.address) for word in words]
        given = " ".join(words)
        if words[0] == "ros1" and "master_uri=" not in given and "--master" not in words:
            words.append("--master")
        open_to_all = "--host" in words
        variables = {"ROS_IP": host.address} if open_to_all else {"ROS_HOSTNAME": "127.0.0.1"}
        line = self._start(
            f"the gateway of {name}",
            host,
            [sys.executable, "-m", "hyphos", "gateway", *words],
            variables,
        )
        if line.startswith("http://"):
            own = f"http://{host.address if open_to_all else '127.0.0.1'}:"
            port = line.rstrip("/").rsplit(":", 1)[1]
            variables["ROS_MASTER_URI"] = line if "master_uri=" in given else own + port
            if body.prefix:
                variables["ROS_NAMESPACE"] = body.prefix
        elif line.startswith("dds://"):
            variables = {"ROS_DOMAIN_ID": line.rsplit("/", 1)[1]}
        self.variables[name] = variables

    def _start(
        self,
        role: str,
        host: Host,
        words: list[str],
        variables: dict[str, str] | None = None,
        **how: Any,
    ) -> str:
        """Starts a process and returns the first line of its output."""
        command = ["env", *(f"{k}={v}" for k, v in (variables or {}).items()), *words]
        running = host.start(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **how
        )
        self._processes[role] = running
        assert running.stdout is not None
        ready, _, _ = select.select([running.stdout], [], [], _PATIENCE_S)
        line = running.stdout.readline().strip() if ready else ""
        if not line:
            code = running.poll()
            how_it_ended = "is not ready" if code is None else f"ended with code {code}"
            raise Error("disconnected", f"{role} {how_it_ended}", "robots.NAME.body")
        return line

    def processes(self) -> list[int]:
        return [running.pid for running in self._processes.values()]

    def ended(self) -> str | None:
        """The first process that has ended, or None."""
        for role, running in self._processes.items():
            if (code := running.poll()) is not None:
                how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
                return f"{role} {how}"
        return None

    def stop(self) -> None:
        for end in [*self.ends.values(), *self._others.values()]:
            end.close()
        for running in self._processes.values():
            with suppress(ProcessLookupError):
                running.terminate()
        for running in self._processes.values():
            try:
                running.wait(2)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
            if running.stdout is not None:
                running.stdout.close()
        self._processes.clear()
        self.ends.clear()
