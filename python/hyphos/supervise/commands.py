"""The commands for the processes of a plan, and the choice of processes for this machine."""

from __future__ import annotations

import ipaddress
import itertools
import os
import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.supervise.children import Command


@dataclass
class Choice:
    """The processes to start here or by ssh, and notes about those to start elsewhere."""

    here: list[dict[str, Any]] = field(default_factory=list)
    by_ssh: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by host
    elsewhere: list[str] = field(default_factory=list)  # notes for the user

    @property
    def all(self) -> list[dict[str, Any]]:
        return [*self.here, *itertools.chain.from_iterable(self.by_ssh.values())]


def is_here(address: str) -> bool:
    """True if the address belongs to this machine: a socket can be bound to it."""
    if not address or address in ("localhost", socket.gethostname()):
        return True
    try:
        info = socket.getaddrinfo(address, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    for family, kind, _, _, where in info:
        if ipaddress.ip_address(where[0]).is_loopback:
            return True
        with socket.socket(family, kind) as probe:
            try:
                probe.bind(where)
            except OSError:
                continue
            return True
    return False


def hosts_here(plan: dict[str, Any]) -> list[str]:
    """The hosts of the plan that are this machine or its network namespaces."""
    hosts = plan["hosts"]
    if len(hosts) <= 1 and not hosts[0]["ssh"]:
        return [host["name"] for host in hosts]
    return [host["name"] for host in hosts if host["netns"] or is_here(host["address"])]


def check_names(
    plan: dict[str, Any], file: Path, processes: Sequence[str], hosts: Sequence[str]
) -> None:
    for wanted, there, what in (
        (processes, [process["name"] for process in plan["processes"]], "process"),
        (hosts, [host["name"] for host in plan["hosts"]], "host"),
    ):
        for name in wanted:
            if name not in there:
                raise Error(
                    "not_found",
                    f"the plan has no {what} '{name}', only {', '.join(there)}",
                    str(file),
                )


def choose(
    plan: dict[str, Any], file: Path, processes: Sequence[str], hosts: Sequence[str]
) -> Choice:
    """Chooses the processes to start. Empty `processes` and `hosts` mean all processes with nodes.

    Each of `hosts` counts as this machine, even with another address.
    """
    check_names(plan, file, processes, hosts)
    targets = {target for group in plan["groups"] for target in group["moves_to"]}
    by_name = {host["name"]: host for host in plan["hosts"]}
    here = list(hosts) or hosts_here(plan)
    choice = Choice()
    for process in plan["processes"]:
        host = by_name[process["host"]]
        if processes and process["name"] not in processes:
            continue
        used = process["nodes"] or process["name"] in targets
        if not processes and plan["nodes"] and not used:
            continue
        if host["name"] in here:
            choice.here.append(process)
        elif hosts:
            continue
        elif host["ssh"]:
            choice.by_ssh.setdefault(host["name"], []).append(process)
        else:
            choice.elsewhere.append(
                f"process '{process['name']}' belongs to {host['name']} ({host['address']}): "
                f"start it there with: hyphos run {file} --host {host['name']}, or set "
                "ssh: user@address for the host in the plan"
            )
    return choice


def find_host_program() -> str:
    """The program hyphos-host: beside the package (installed), in a build tree, or on PATH."""
    package = Path(__file__).resolve().parent.parent
    binary = Path(os.path.realpath(sys.modules["hyphos._hyphos"].__file__ or "")).parent
    places = [package, binary, *itertools.islice(binary.parents, 3)]
    for place in places:
        for candidate in (place / "hyphos-host", place / "node" / "hyphos-host"):
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    found = shutil.which("hyphos-host")
    if found is None:
        raise Error(
            "not_found",
            "program hyphos-host not found, which runs C++ plug-ins",
            advice="make build, or put it on PATH",
        )
    return found


def python_path() -> str:
    """The PYTHONPATH with which Python in a child finds the same modules as this one."""
    return os.pathsep.join(path for path in sys.path if path)


def command_of(
    loaded: Plan,
    plan: dict[str, Any],
    process: dict[str, Any],
    file: Path,
    settings: Sequence[str],
    state: str,
    base_ns: int,
    strict: bool = False,
) -> Command:
    """The command line of one process.

    `state` is the folder for the state that a restarted node takes over. `base_ns` is the start
    time of the robot (Unix time), equal for all processes and after a restart. A `strict` process
    ends with 1 if an exception has left a callback. Raises an error if a required program is
    missing.
    """
    arguments = ["--hyphos-plan", str(file.resolve()), "--hyphos-process", process["name"]]
    arguments += ["--hyphos-state", state, "--hyphos-base-ns", str(base_ns)]
    if strict:
        arguments += ["--hyphos-strict", "on"]
    for setting in settings:
        arguments += ["--hyphos-set", setting]
    nodes = [node for node in plan["nodes"] if node["process"] == process["name"]]
    if process["kind"] == "executable":
        node = next(node for node in nodes if node["kind"] == "executable")
        words = [loaded.program_file(node["name"]), *node["args"], *arguments]
    elif process["kind"] == "python":
        words = [sys.executable, "-u", "-m", "hyphos.host", *arguments]
    else:
        words = [find_host_program(), *arguments]
    netns = next((h["netns"] for h in plan["hosts"] if h["name"] == process["host"]), "")
    enter = _enter(netns, process["name"]) if netns else []
    env = dict(process["env"])
    env.setdefault("PYTHONPATH", python_path())
    env.setdefault("HYPHOS_PYTHON", sys.executable)
    return Command(
        process["name"],
        [*enter, *process["prefix"], *words],
        env,
        Path(plan["directory"] or ".").resolve(),
        # hyphos.host unblocks them. A debugger would not.
        ends_when_ready=process["kind"] == "python" and not process["prefix"],
        debugger=_debugger(words, enter, process["env"]),
    )


def _debugger(words: Sequence[str], enter: Sequence[str], env: dict[str, str]) -> list[str]:
    """The command that runs a process under gdb, without the launcher."""
    alone = list(words)
    for option in ("--hyphos-state", "--hyphos-base-ns"):  # of this run
        at = alone.index(option)
        del alone[at : at + 2]
    settings = ["env", *(f"{name}={value}" for name, value in env.items())] if env else []
    return [*enter, *settings, "gdb", "-ex", "run", "--args", *alone]


def _enter(netns: str, process: str) -> list[str]:
    # Not `ip netns exec`: it mounts file systems, which a chroot or a container may forbid.
    program = shutil.which("nsenter")
    if program is None:
        raise Error(
            "unsupported",
            f"process '{process}' runs in network namespace '{netns}', which needs `nsenter`",
            advice="apt install util-linux",
        )
    if not Path("/run/netns", netns).exists():
        raise Error(
            "not_found",
            f"network namespace '{netns}' of process '{process}' does not exist",
            advice=f"create it first, as root: ip netns add {netns}",
        )
    return [program, f"--net=/run/netns/{netns}"]


def recorder(plan: dict[str, Any], file: Path) -> Command:
    """`hyphos record` for the channels of the plan's `record:`, or for all without it."""
    record = plan["record"]
    folder = Path(plan["directory"] or ".").resolve()
    words = [sys.executable, "-m", "hyphos", "record", "--quiet", "--overwrite"]
    words += ["--domain", plan["domain"], "--output", str(folder / record["path"])]
    words += ["--plan", str(file.resolve())]
    words += [] if record["all"] or not record["enabled"] else list(record["channels"])
    return Command("record", words, {"PYTHONPATH": python_path()}, folder, ends_when_ready=True)


def recorder_process() -> dict[str, Any]:
    """The recorder as a process of the plan. It starts first and ends last."""
    return {
        "name": "record",
        "host": "",
        "kind": "tool",
        "after": [],
        "ready": "started",
        "ready_timeout_ms": 0,
        "stop_timeout_ms": 5000,
        "restart": "never",
        "backoff_ms": 0,
        "max_backoff_ms": 0,
        "max_restarts_per_minute": 1,
        "health": {"heartbeat_ms": 0, "channels": [], "action": "report"},
    }
