"""Root file systems with packages, for checks. scripts/bare_root makes and enters them.

They are made once and kept below /var/cache. A check works on a layer, so it changes no root.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import debian

BARE_ROOT = Path(__file__).resolve().parents[2] / "scripts/bare_root"
CACHE = Path("/var/cache/hyphos-wheels/roots")
APT = "DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0"
# The programs of a bare root, and Python.
EMULATED = ("base-files", "bash", "coreutils", "dash", "grep", "python3", "python3-venv", "sed")
# Scripts of packages would make these, but unpacking runs none.
FILES = {"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n"}


@dataclass(frozen=True)
class Root:
    """A root file system. `emulator` runs its programs if they are of another processor."""

    path: Path
    emulator: Path | None = None

    def run(self, *words: object, mounts: Mapping[Path, Path] | None = None) -> int:
        """Runs a command on a layer. `mounts` maps places in the root to folders here."""
        command: list[str | Path] = [BARE_ROOT, "enter", "--layer"]
        for place, folder in (mounts or {}).items():
            command += ["--mount", folder, place]
        if self.emulator is not None:
            command += ["--emulator", self.emulator]
        command += [self.path, *map(str, words)]
        return subprocess.run(command, check=False).returncode


def _needs_root() -> None:
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        sys.exit("wheels are checked as root, with debootstrap: scripts/setup wheels")


def installed(distribution: str, packages: Sequence[str]) -> Root:
    """A bare root of a distribution, with these packages."""
    key = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:12]
    root = CACHE / f"{distribution}-{key}"
    if not root.exists():
        _needs_root()
        part = root.with_suffix(".part")
        subprocess.run([BARE_ROOT, "make", distribution, part], check=True, stdout=sys.stderr)
        # dpkg would wait for the disk after each file.
        install = "echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/root\n"
        install += f"{APT} update\n{APT} install -y --no-install-recommends {' '.join(packages)}"
        enter: list[str | Path] = [
            BARE_ROOT,
            "enter",
            part,
            "sh",
            "-euc",
            f"({install}) >/dev/null",
        ]
        if subprocess.run(enter, check=False).returncode != 0:
            sys.exit(f"the packages of {part} could not be installed")
        part.rename(root)
    return Root(root)


def unpacked(suite: str, machine: str, packages: Sequence[str]) -> Root:
    """A root of another processor. Its packages are unpacked, because emulated scripts are slow."""
    _needs_root()
    tree = debian.tree(CACHE, suite, machine, packages)
    for name, text in FILES.items():
        if not (tree / name).exists():
            (tree / name).write_text(text)
    for name in ("dev", "mnt", "proc", "sys", "tmp", "root"):
        (tree / name).mkdir(exist_ok=True)
    subprocess.run([BARE_ROOT, "connect", tree], check=True)
    emulator = shutil.which(f"qemu-{machine}-static")
    if emulator is None:
        sys.exit(f"qemu-{machine}-static is missing: scripts/setup arm64")
    return Root(tree, Path(emulator))
