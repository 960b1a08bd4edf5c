"""Checks of the machine for the co-simulator: its simulators, TUN and TAP devices, and rights."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from hyphos._errors import Error
from hyphos.tools import native
from hyphos.tools.check import Check

# Adapter, name, and its use in a scenario.
_SIMULATORS = (
    ("mujoco", "MuJoCo", "`physics.simulator: mujoco`"),
    ("ns3", "ns-3", "`radio.simulator: ns3`"),
    ("gazebo", "Gazebo", "`physics.simulator: gazebo`"),
)
_TUN = Path("/dev/net/tun")
_PATIENCE_S = 10.0
# In a process of its own, because a library may start threads, print, or end the process.
_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
_FIRST = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"


def cosim_checks() -> Iterator[Check]:
    try:
        folder = native.program("cosim", "hyphos-cosim").parent
    except Error as error:
        yield Check("co-simulator", "WARN", f"{error.message}: no `hyphos cosim`", error.advice)
        return
    adapters = [folder / f"hyphos-cosim-{name}.so" for name, *_ in _SIMULATORS]
    loads = [_start(_LOAD, str(adapter)) for adapter in adapters]  # at the same time
    first = _start(_FIRST)
    for (_, title, use), adapter, load in zip(_SIMULATORS, adapters, loads, strict=True):
        yield _simulator(adapter, title, use, load)
    yield _gazebo_server()
    yield _tun()
    yield from _rights(first)


def _start(code: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _failure(process: subprocess.Popen[str]) -> str:
    """The last line of the errors of a process. Empty if it succeeded."""
    try:
        _, err = process.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"no reply within {_PATIENCE_S:g} s"
    if process.returncode == 0:
        return ""
    last = (err.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
    return last.partition(": ")[2] or last


def _simulator(adapter: Path, title: str, use: str, load: subprocess.Popen[str]) -> Check:
    name = f"simulator: {title}"
    failure = _failure(load)
    if not adapter.exists():
        remedy = "scripts/setup core cosim && make build"
        if native.is_debian():
            remedy = "build Hyphos on this machine: scripts/setup core cosim && make build"
        return Check(name, "WARN", f"not built here, so no {use}", remedy)
    if failure:
        remedy = "scripts/setup core cosim && make build"
        return Check(name, "WARN", f"the adapter does not load: {failure}", remedy)
    return Check(name, "OK", f"for {use}")


def _gazebo_server() -> Check:
    """The adapter talks to a server that the user starts."""
    name = "simulator: Gazebo server"
    for program in ("ign", "gz"):
        if path := shutil.which(program):
            return Check(name, "OK", f"{path}, start it before `hyphos cosim run`")
    return Check(
        name,
        "WARN",
        "neither `ign` nor `gz` is on PATH: scenarios with Gazebo find no server",
        "install Gazebo Fortress or newer (gazebosim.org), or use MuJoCo",
    )


def _tun() -> Check:
    name = "TUN and TAP devices"
    try:
        os.close(os.open(_TUN, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        remedy = "modprobe tun, in a container: --device /dev/net/tun"
        if error.errno in (errno.EACCES, errno.EPERM):
            remedy = "run as root"
        return Check(
            name, "WARN", f"{_TUN}: {error.strerror}, so no `hyphos cosim emulate`", remedy
        )
    return Check(name, "OK", f"{_TUN} opens, for `hyphos cosim emulate`")


def _rights(first: subprocess.Popen[str]) -> Iterator[Check]:
    refused = _failure(first)
    name = "rights: namespaces"
    need = "`hyphos cosim emulate` and links of the laboratory need them"
    if os.geteuid() != 0:
        yield Check(name, "WARN", f"not root: {need}", "sudo, for these commands")
    elif (unshare := shutil.which("unshare")) is None:
        yield Check(name, "WARN", f"not checked: no `unshare`. {need}", "apt install util-linux")
    else:
        words = [unshare, "--net", "--mount", "true"]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        if made.returncode == 0:
            yield Check(name, "OK", "network namespaces work, for `hyphos cosim emulate`")
        else:
            why = made.stderr.strip().rpartition(": ")[2]
            yield Check(name, "WARN", f"refused: {why}. {need}", "in a container: --privileged")
    name = "rights: real-time priority"
    if refused:
        yield Check(
            name,
            "WARN",
            f"refused: {refused.rpartition('] ')[2]}. `hyphos cosim emulate` lags more",
            "root, or `ulimit -r 1`, in a container: --cap-add SYS_NICE",
        )
    else:
        yield Check(name, "OK", "SCHED_FIFO is allowed, for `hyphos cosim emulate`")
