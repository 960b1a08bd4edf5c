"""The middlewares: one program each, which describes its own capabilities."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos.lab.case import GRAPH, Case
from hyphos.tools import native

# The version of the programs: lab/common/interface.hpp.
INTERFACE = 6
PREFIX = "hyphos-lab-"
NO_WORKLOAD = "it does not support "
WORKER = Path(__file__).resolve().parent / "worker" / "__main__.py"


@dataclass(frozen=True)
class Peer:
    """One middleware with one transport, such as hyphos/shm or zmq/tcp."""

    program: Path
    middleware: str
    variant: str
    workloads: frozenset[str]
    max_size: int
    floor: bool
    network: bool
    sizes: bool = True  # supports messages of different sizes
    hosts: bool = False  # supports more than two machines
    version: str = ""  # of the middleware, if its program knows it
    relay: bool = False  # its gateway may run on its own host

    @property
    def name(self) -> str:
        return f"{self.middleware}/{self.variant}" if self.variant else self.middleware

    def command(self, case: Case) -> list[str]:
        """The command line that runs a case."""
        words = [str(self.program), *case.arguments()]
        if case.workload == GRAPH:
            return words
        words += ["--variant", self.variant]
        words += ["--worker-python", sys.executable, "--worker-file", str(WORKER)]
        return words

    def cannot(self, case: Case) -> str:
        """The reason why the peer cannot run a case. Empty if it can."""
        a_gateway = self.middleware.startswith("gateway")
        lacks = {
            NO_WORKLOAD + case.workload: case.workload not in self.workloads,
            "it works on one machine only": case.link and not self.network,
            "it joins at most two machines": case.hosts > 1 and not self.hosts,
            "its gateway cannot run on its own host": case.relay == "own"
            and a_gateway
            and not self.relay,
            "all its messages have one size": case.recording and not self.sizes,
            "it cannot inject faults": case.faults and self.middleware != "hyphos",
            f"it supports at most {self.max_size} bytes per message": case.size > self.max_size,
        }
        return next((lack for lack, there in lacks.items() if there), "")


def named(peers: Iterable[Peer], name: str) -> list[Peer]:
    """The peer with that name, or all variants of the middleware with that name."""
    every = list(peers)
    found = [peer for peer in every if peer.name == name]
    return found or [peer for peer in every if peer.middleware == name]


@dataclass(frozen=True)
class Peers:
    present: list[Peer]
    absent: dict[str, str]  # middleware: remedy

    def versions(self) -> str:
        """The versions of all present middlewares."""
        known = {peer.middleware: peer.version for peer in self.present if peer.version}
        return ", ".join(f"{name} {version}" for name, version in sorted(known.items()))

    def choose(self, names: list[str]) -> list[Peer]:
        """The peers that `names` (a peer, or a middleware with all its variants) select, in that
        order. Omits absent ones. Raises Error if no peer has such a name."""
        chosen: list[Peer] = []
        for name in names:
            found = named(self.present, name)
            if not found and name.split("/")[0] not in self.absent:
                known = [peer.name for peer in self.present] + list(self.absent)
                raise Error(
                    "not_found",
                    f"unknown peer '{name}'",
                    advice="use one of " + ", ".join(known),
                )
            chosen += [peer for peer in found if peer not in chosen]
        return chosen


def program_folders() -> list[Path]:
    """Folders of laboratory programs: those of this package, and of the baselines."""
    build = Path(_hyphos.__file__).resolve().parents[2]
    # Baselines are built separately (make peers), into a folder beside.
    places = [*native.folders("lab"), build.parent / "bench" / "lab"]
    return [folder for folder in places if (folder / "peers.json").exists()]


def lab_program(name: str) -> Path:
    """The path of a laboratory program that is not a peer. Raises Error not_found if missing."""
    for folder in program_folders():
        path = folder / name
        if path.is_file():
            return path
    raise Error("not_found", f"the program {name} is missing", advice=native.remedy("lab"))


@cache
def find_peers(folder: Path | None = None) -> Peers:
    """The peers that are built here, or in `folder`. Raises Error if there is none."""
    folders = [folder] if folder else program_folders()
    present: list[Peer] = []
    absent: dict[str, str] = {}
    for place in folders:
        try:
            listing = json.loads((place / "peers.json").read_text())
        except (OSError, ValueError) as error:
            raise Error("not_found", f"no peers in {place}: {error}", advice="make build") from None
        for entry in listing:
            name = entry["peer"]
            if any(peer.program.name == f"{PREFIX}{name}" for peer in present):
                continue
            program = place / f"{PREFIX}{name}"
            if program.exists():
                found = _describe(program)
                present += found
                absent.pop(name, None)
                if not found:
                    built_by = "make build" if entry["packages"] == "-" else "make peers"
                    absent[name] = f"its program has another version: run `{built_by}`"
            elif entry["packages"] == "-":
                absent.setdefault(name, "make build")
            else:
                absent.setdefault(name, _remedy(entry["packages"]))
    if not present:
        raise Error(
            "not_found",
            "no laboratory program is built",
            advice=f"run `{native.remedy('lab')}`",
        )
    return Peers(present, absent)


def _remedy(packages: str) -> str:
    """The commands that install the missing parts of an absent peer."""
    missing = _not_installed(packages)
    if missing is None:
        return f"install {packages}, then `make peers`"
    if missing:
        return f"install apt: {' '.join(missing)}, then `make peers`"
    return "its packages are installed, its program is not built: `make peers`"


def _not_installed(packages: str) -> list[str] | None:
    """The missing packages of the distribution. None if other packages are needed too, or the state
    is unknown."""
    before, apt, names = packages.partition("apt: ")
    if before or not apt:
        return None
    wanted = names.split()
    try:
        told = subprocess.run(
            ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *wanted],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    except OSError:
        return None  # another kind of distribution
    there = {line.split()[0] for line in told.splitlines() if line.endswith(" installed")}
    return [name for name in wanted if name not in there]


def _describe(program: Path) -> list[Peer]:
    """The variants of a program. Empty if its version differs."""
    done = subprocess.run([program, "--describe"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error("io", f"cannot run {program}: {done.stderr.strip()}", advice="make build")
    told = json.loads(done.stdout)
    if told.get("interface") != INTERFACE:
        return []
    return [
        Peer(
            program,
            told["peer"],
            variant["name"],
            frozenset(variant["shapes"]),
            int(variant["max_size"]),
            bool(variant["floor"]),
            bool(variant["network"]),
            bool(variant.get("sizes", True)),
            bool(variant.get("hosts", False)),
            str(told.get("version", "")),
            bool(variant.get("relay", False)),
        )
        for variant in told["variants"]
    ]
