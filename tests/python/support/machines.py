"""Machines for tests: each has a network, a host name and shared memory of its own (root only)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

_BRIDGE = "first-hour"


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


class Machines:
    """Machines at one switch: `{"body": "10.0.0.1"}`. They share the files, but no memory.

    A process that sleeps holds the namespaces of each machine. The kernel removes them after it.
    """

    def __init__(self, addresses: Mapping[str, str], bridge: str = _BRIDGE) -> None:
        """`bridge` names the switch. The machines of two tests at once need different names."""
        self._addresses = dict(addresses)
        self._bridge = bridge
        self._pids: dict[str, int] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        _run("ip", "link", "add", self._bridge, "type", "bridge")
        self._stack.callback(_run, "ip", "link", "del", self._bridge)
        _run("ip", "link", "set", self._bridge, "up")
        for name, address in self._addresses.items():
            self._pids[name] = self._start(name)
            self._connect(name, address)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def enter(self, machine: str) -> Sequence[str]:
        """The words before a command that runs on a machine. None for "", which is this one."""
        if not machine:
            return ()
        return ("nsenter", "--target", str(self._pids[machine]), "--net", "--mount", "--uts")

    def _start(self, name: str) -> int:
        locks = f"/tmp/hyphos-{os.getuid()}"
        script = (
            f"mount -t tmpfs tmpfs /dev/shm; mkdir -p {locks}; "
            f"mount -t tmpfs -o mode=0700 tmpfs {locks}; "
            f"hostname {name}; echo ready; exec cat"
        )
        holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "sh", "-ec", script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._stack.enter_context(holder)  # waits, and closes the pipes
        self._stack.callback(holder.kill)
        assert holder.stdout is not None
        if holder.stdout.readline() != "ready\n":
            raise OSError(f"machine {name} did not start")
        return holder.pid

    def _connect(self, name: str, address: str) -> None:
        pid = str(self._pids[name])
        _run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0",
             "netns", pid)  # fmt: skip
        _run("ip", "link", "set", f"to-{name}", "master", self._bridge, "up")
        inside = ("nsenter", "--target", pid, "--net", "ip")
        _run(*inside, "addr", "add", f"{address}/24", "dev", "eth0")
        _run(*inside, "link", "set", "eth0", "up")
        _run(*inside, "link", "set", "lo", "up")
