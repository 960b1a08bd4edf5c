"""Hosts on one machine, joined by a network with chosen properties.

    with Link(Tun(delay_ms=5, rate_mbit=100)) as link:
        link["a"].start(["hyphos", "run", "robot.yaml"])
        link["b"].start([...])
        print(link.counters())

A host is a network namespace with one device, `lab0`, and an address. Needs root. Everything is
removed by `down()`, which `with` calls, or by the reaper, however the program ends.
"""

from __future__ import annotations

import ipaddress
import json
import select
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hyphos._errors import Error
from hyphos.lab import kernel
from hyphos.lab.limits import Place, cgroup_folders, need_namespaces
from hyphos.lab.media import Medium, Tun, Veth, Wifi, link_options, link_program
from hyphos.lab.reaper import NETNS, Reaper, Resource, owned_name, sweep
from hyphos.lab.standing import Standing

DEVICE = "lab0"
MAX_HOSTS = 64  # the limit of hyphos-link
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class Host:
    """One machine of the network. Only the network is separate: processes, files and /dev/shm are
    those of the real machine, unless `Limits` replace them."""

    name: str
    address: str
    prefix: int
    namespace: str
    place: Place

    def command(self, words: Sequence[str], limits: Place | None = None) -> list[str]:
        """The words that run a program on this host, from any caller."""
        return self._place(limits).command(words)

    def start(
        self, words: Sequence[str], limits: Place | None = None, **how: Any
    ) -> subprocess.Popen[Any]:
        """Starts a program on this host. `how` are keyword arguments of subprocess.Popen."""
        return self._place(limits).start(words, **how)

    def _place(self, limits: Place | None) -> Place:
        return self.place.within(limits) if limits else self.place


def why_not(medium: Medium) -> Error | None:
    """The reason why this machine cannot make such a network. None if it can."""
    try:
        need_namespaces("a network of namespaces")
        if isinstance(medium, Veth):
            _need_tools("ip", "tc")
        else:
            link_program()
            need_tun()
    except Error as error:
        return error
    return None


def need_tun() -> None:
    """Raises Error if this machine has no TUN devices, or no tool to configure them."""
    _need_tools("ip")
    if not Path("/dev/net/tun").exists():
        raise Error(
            "unsupported",
            "this machine has no TUN devices",
            "/dev/net/tun",
            advice="modprobe tun, in a container: --device /dev/net/tun",
        )


def _need_tools(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            raise Error("not_found", f"`{tool}` is missing", advice="apt install iproute2")


class Network(Standing):
    """Hosts by name, and the medium between them. Call up() and down() from one thread."""

    def __init__(
        self,
        medium: Medium,
        hosts: Sequence[str],
        *,
        subnet: str = "10.231.77.0/24",
        reaper: Reaper | None = None,
    ) -> None:
        self.medium = medium
        self.names = list(hosts)
        self._subnet = ipaddress.ip_network(subnet)
        self._given = reaper
        self._reaper: Reaper | None = None
        self._namespaces: list[Resource] = []
        self._program: subprocess.Popen[str] | None = None
        self.hosts: dict[str, Host] = {}
        self._check()

    def _check(self) -> None:
        if len(set(self.names)) != len(self.names) or len(self.names) < 2:
            raise Error("invalid_config", "a network needs two or more hosts with different names")
        if len(self.names) > MAX_HOSTS:
            raise Error("invalid_config", f"a network may have at most {MAX_HOSTS} hosts")
        if self._subnet.num_addresses - 2 < len(self.names):
            raise Error("invalid_config", f"{self._subnet} has too few addresses", "subnet")
        for name in self.names:
            check_name(name)

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    # Set-up.

    def up(self) -> Self:
        """Returns when packets flow. Removes leftovers of dead programs first."""
        if (missing := why_not(self.medium)) is not None:
            raise missing
        sweep(cgroup_folders())
        self._reaper = self._given or Reaper()
        try:
            self._make_hosts(self._reaper)
            if isinstance(self.medium, Veth) and len(self.names) == 2:
                self._join_by_veth(self.medium)
            elif isinstance(self.medium, Veth):
                self._join_by_bridge(self._reaper, self.medium)
            else:
                self._join_by_program(self.medium)
        except BaseException:
            self.down()
            raise
        return self

    def _make_hosts(self, reaper: Reaper) -> None:
        for name, address in zip(self.names, self._subnet.hosts(), strict=False):
            self.hosts[name] = make_host(
                reaper, name, str(address), self._subnet.prefixlen, self._namespaces
            )

    def _join_by_veth(self, medium: Veth) -> None:
        first, second = self.hosts.values()
        # Create both endpoints inside their namespaces, so that none appears in the host's.
        link = f"link add {DEVICE} netns {first.namespace} type veth "
        _ip(None, [link + f"peer name {DEVICE} netns {second.namespace}"])
        for host in (first, second):
            _give_address(host)
            _run([*_enter(host.namespace), *_bucket(DEVICE, medium)])

    def _join_by_bridge(self, reaper: Reaper, medium: Veth) -> None:
        """A switch: the kernel's bridge in its own namespace, and a cable to each host with a token
        bucket at both endpoints."""
        # The name is unique, because names of hosts contain no point.
        switch = pin_network(reaper, f"{self.names[0]}.switch", self._namespaces)
        _ip_in(switch, ["link add switch type bridge mcast_snooping 0", "link set switch up"])
        for number, host in enumerate(self.hosts.values()):
            port = f"port{number}"
            link = f"link add {DEVICE} netns {host.namespace} type veth "
            _ip(None, [link + f"peer name {port} netns {switch}"])
            _give_address(host)
            _ip_in(switch, [f"link set {port} master switch up"])
            _run([*_enter(host.namespace), *_bucket(DEVICE, medium)])
            _run([*_enter(switch), *_bucket(port, medium)])

    def _join_by_program(self, medium: Tun | Wifi) -> None:
        assert self._reaper is not None
        words = [link_program(), "--device", DEVICE, *link_options(medium)]
        for host in self.hosts.values():
            words += ["--host", f"{host.namespace}={host.address}/{host.prefix}"]
        self._program = Place(self._reaper).start(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if self._line() != "ready":
            raise self._failure()
        for host in self.hosts.values():
            bring_up(host, DEVICE)

    # Counters.

    def counters(self) -> dict[str, Any]:
        """The counters of hyphos-link by host, see docs/reference/lab_links.md. A veth has none."""
        if self._program is None:
            raise Error("unsupported", "only hyphos-link has counters", advice="use tun or wifi")
        with suppress(ProcessLookupError):
            self._program.send_signal(signal.SIGUSR1)
        line = self._line()
        if not line:
            raise self._failure()
        found = json.loads(line)
        hosts = dict(zip(self.names, found["hosts"], strict=True))
        return {"inside": found["inside"], "hosts": hosts}

    def _line(self) -> str:
        """The next line of hyphos-link. Empty if it has ended."""
        assert self._program is not None and self._program.stdout is not None
        ready, _, _ = select.select([self._program.stdout], [], [], _PATIENCE_S)
        if not ready:
            raise Error("timeout", f"no answer within {_PATIENCE_S:.0f} s", "hyphos-link")
        line: str = self._program.stdout.readline()
        return line.rstrip("\n")

    def _failure(self) -> Error:
        assert self._program is not None
        _, said = self._program.communicate()
        text = said.strip().splitlines()[-1:] or [f"exit code {self._program.returncode}"]
        return Error("disconnected", text[0].removeprefix("hyphos-link: "), "hyphos-link")

    # Tear-down.

    def down(self) -> None:
        """Ends all programs on the hosts, and removes the hosts."""
        if self._reaper is None:
            return
        if self._program is not None:
            self._program.terminate()
            self._program.communicate()
            self._program = None
        self._reaper.remove(*self._namespaces)
        self._namespaces.clear()
        self.hosts.clear()
        if self._given is None:
            self._reaper.close()
        self._reaper = None


class Link(Network):
    """A network of two hosts."""

    def __init__(
        self,
        medium: Medium,
        hosts: tuple[str, str] = ("a", "b"),
        *,
        subnet: str = "10.231.77.0/24",
        reaper: Reaper | None = None,
    ) -> None:
        super().__init__(medium, hosts, subnet=subnet, reaper=reaper)


def check_name(name: str) -> None:
    """Raises Error if the name is not valid for a host, as it is part of a namespace name."""
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 40:
        raise Error(
            "invalid_config", f"'{name}' is not a valid host name: use letters, digits, - _"
        )


def make_host(
    reaper: Reaper, name: str, address: str, prefix: int, resources: list[Resource]
) -> Host:
    """A host without a device. Adds to `resources`, before creation, everything to remove later."""
    namespace = pin_network(reaper, name, resources)
    return Host(name, address, prefix, namespace, Place(reaper, network=NETNS / namespace))


def pin_network(reaper: Reaper, name: str, resources: list[Resource]) -> str:
    """An empty network namespace."""
    namespace = owned_name(name)
    resources.append(reaper.register("namespace", namespace))
    kernel.pin_new_network(NETNS / namespace)
    return namespace


def bring_up(host: Host, device: str) -> None:
    """Starts the devices of a host, and routes multicast through the device of this name."""
    _ip(host, _common(device))


def _common(device: str) -> tuple[str, ...]:
    return (
        "link set lo up",
        f"link set {device} up multicast on",
        f"route add 224.0.0.0/4 dev {device}",
    )


def configure(host: Host, commands: Sequence[str]) -> None:
    """Runs `ip` commands on a host."""
    if commands:
        _ip(host, commands)


def _give_address(host: Host) -> None:
    _ip(host, [f"addr add {host.address}/{host.prefix} dev {DEVICE}", *_common(DEVICE)])


def _bucket(device: str, medium: Veth) -> list[str]:
    """The command that bounds the send rate of a device to that of the medium."""
    words = ["tc", "qdisc", "add", "dev", device, "root", "tbf"]
    words += ["rate", f"{round(medium.rate_mbit * 1e6)}bit"]
    words += ["burst", f"{round(medium.burst_kb * 1024)}"]
    return [*words, "latency", f"{round(medium.latency_ms * 1000)}us"]


def _enter(namespace: str) -> list[str]:
    # `ip -n` and `ip netns exec` need mounts, which a chroot or a container may forbid.
    return ["nsenter", f"--net={NETNS / namespace}"]


def _ip(host: Host | None, commands: Sequence[str]) -> None:
    """Runs ip commands on a host, or in the namespace of this program."""
    _ip_in(host.namespace if host else "", commands)


def _ip_in(namespace: str, commands: Sequence[str]) -> None:
    where = _enter(namespace) if namespace else []
    _run([*where, "ip", "-batch", "-"], "\n".join(commands) + "\n")


def _run(words: Sequence[str], text: str | None = None) -> None:
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error("io", done.stderr.strip() or f"exit code {done.returncode}", " ".join(words))
