"""Routes of the robots of an emulation: fixed routes of the kernel, and a routing daemon."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hyphos._errors import Error
from hyphos.lab.links import Host
from hyphos.lab.reaper import Reaper, Resource, temporary_folder

DAEMON = "babeld"
_LAST_LINES = 3


@dataclass(frozen=True)
class Routing:
    """The section `routing` of a scenario. `routes` has the pairs of receiver and next robot."""

    protocol: str = "none"
    hello_s: float = 0.0
    routes: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)


def need_daemon(routing: Routing) -> None:
    """Raises Error if the routing daemon of the scenario is not installed."""
    if routing.protocol == "babel" and shutil.which(DAEMON) is None:
        raise Error(
            "not_found",
            f"the routing daemon `{DAEMON}` is missing",
            "routing.protocol: babel",
            advice=f"apt install {DAEMON}",
        )


def route_commands(
    routes: Sequence[tuple[str, str]], hosts: Mapping[str, Host], addresses6: Mapping[str, str]
) -> list[str]:
    """The `ip` commands that set the fixed routes of one robot."""
    commands = []
    for to, via in routes:
        if to == via:
            continue  # a neighbour
        commands.append(f"route replace {hosts[to].address}/32 via {hosts[via].address}")
        if addresses6[to]:
            commands.append(f"route replace {addresses6[to]}/128 via {addresses6[via]}")
    return commands


def daemon_settings(device: str, hello_s: float, folder: Path) -> str:
    """The configuration of babeld for one robot. The emulation has already set up the kernel."""
    # hello-interval has a resolution of 10 ms. An update is due after four messages.
    return (
        f"pid-file {folder}/pid\n"
        f"state-file {folder}/state\n"
        f"log-file {folder}/log\n"
        "skip-kernel-setup true\n"
        f"interface {device} type wireless hello-interval {hello_s:.2f} "
        f"update-interval {4 * hello_s:.2f}\n"
    )


class Daemons:
    """One routing daemon on each robot. Use from one thread."""

    def __init__(self, reaper: Reaper, device: str, hello_s: float) -> None:
        self._device, self._hello_s = device, hello_s
        self._made = temporary_folder(reaper, "routing")
        self._folder = Path(self._made.value)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def resource(self) -> Resource:
        """The folder with settings and logs, to remove after the daemons."""
        return self._made

    def start(self, host: Host) -> None:
        folder = self._folder / host.name
        folder.mkdir()
        settings = folder / "settings"
        settings.write_text(daemon_settings(self._device, self._hello_s, folder))
        with (folder / "log").open("ab") as log:
            self._running[host.name] = host.start(
                [DAEMON, "-c", str(settings)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def codes(self) -> dict[str, int | None]:
        """Exit codes by robot. None: the daemon runs."""
        return {name: running.poll() for name, running in self._running.items()}

    def obituary(self, name: str) -> str:
        """A sentence about the end of the daemon of a robot, with its last lines."""
        code = self._running[name].wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        text = f"the routing daemon of {name} ({DAEMON}) {how}: {name} relays no packets any more"
        try:
            said = (self._folder / name / "log").read_text(errors="replace").splitlines()
        except OSError:
            said = []
        return "\n  ".join([text, *said[-_LAST_LINES:]])
