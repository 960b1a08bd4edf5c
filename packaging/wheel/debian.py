"""Packages of Debian of any suite and processor, unpacked in a folder. Nothing is installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The suite with each Python.
SUITES = {"3.11": "bookworm", "3.13": "trixie"}
# The list of a tree: each shared library with its package, version and source package.
OWNERS = "libraries.json"


class Archive:
    """The archive of a suite. `folder` keeps lists and packages. apt checks the signatures."""

    def __init__(self, folder: Path, suite: str, machine: str) -> None:
        self._folder = folder
        for name in ("state/lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()  # no package is installed
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
        places = [(mirror, suite), (f"{mirror}-security", f"{suite}-security")]
        lines = [f"deb {place} {name} main\n" for place, name in places]
        (folder / "sources.list").write_text("".join(lines))
        options = {
            "Dir::State": folder / "state", "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache", "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "-", "APT::Architecture": ARCHITECTURES[machine],
            "APT::Architectures": ARCHITECTURES[machine], "APT::Sandbox::User": "root",
            "APT::Install-Recommends": "0", "Debug::NoLocking": "1",
        }  # fmt: skip
        self._apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
        self._run("update")

    def _run(self, *words: str) -> None:
        subprocess.run([*self._apt, *words], check=True, cwd=self._folder)

    def one(self, package: str) -> Path:
        """One package."""
        self._run("download", package)
        [path] = self._folder.glob(f"{package}_*.deb")
        return path

    def closure(self, packages: Sequence[str]) -> list[Path]:
        """These packages and those that they need."""
        self._run("install", "-y", "--download-only", *packages)
        return sorted((self._folder / "cache/archives").glob("*.deb"))


def tree(cache: Path, suite: str, machine: str, packages: Sequence[str]) -> Path:
    """A folder with the files of these packages and of those that they need."""
    key = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:12]
    made = cache / f"{suite}-{machine}-{key}"
    if made.exists():
        return made
    part = made.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    root = part / "root"
    root.mkdir(parents=True)
    owners: dict[str, dict[str, str]] = {}
    for package in Archive(part / "archive", suite, machine).closure(packages):
        subprocess.run(["dpkg", "-x", package, root], check=True)
        owners |= _libraries(package)
    _make_links_relative(root)
    (root / OWNERS).write_text(json.dumps(owners, indent=1, sort_keys=True))
    root.rename(made)
    shutil.rmtree(part)
    return made


def _output(*words: str | Path) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _libraries(package: Path) -> dict[str, dict[str, str]]:
    form = "--showformat=${Package}\t${Version}\t${source:Package}"
    name, version, source = _output("dpkg-deb", "--show", form, package).split("\t")
    owner = {"package": name, "version": version, "source": source}
    listed = _output("dpkg-deb", "--contents", package).splitlines()
    names = [line.split(" -> ")[0].rsplit("/", 1)[1] for line in listed]  # without targets of links
    return {name: owner for name in names if re.search(r"\.so(\.|$)", name)}


def _make_links_relative(root: Path) -> None:
    """A compiler of this machine must not leave the root."""
    for path in root.rglob("*"):
        if path.is_symlink() and path.readlink().is_absolute():
            target = root / str(path.readlink())[1:]
            path.unlink()
            path.symlink_to(os.path.relpath(target, path.parent))


def python_headers(version: str, machine: str, cache: Path) -> Path:
    """A folder with the headers of a Python."""
    out = cache / f"python{version}-{machine}"
    if out.exists():
        return out
    work = out.with_name(f"{out.name}.part")
    shutil.rmtree(work, ignore_errors=True)
    archive = Archive(work, SUITES[version], machine)
    subprocess.run(
        ["dpkg", "-x", archive.one(f"libpython{version}-dev"), work / "root"], check=True
    )
    include = work / "root/usr/include"
    made = include / f"python{version}"
    shutil.copy(include / f"{machine}-linux-gnu/python{version}/pyconfig.h", made)
    made.rename(out)
    shutil.rmtree(work)
    return out
