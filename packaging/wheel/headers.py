"""The headers of a Python that this machine does not have, from a package of Debian."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# The suite of Debian with each version.
SUITES = {"3.13": "trixie"}


def fetch(folder: Path, suite: str, package: str) -> Path:
    """Downloads a package of any suite. apt checks its signature, and installs nothing."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
    (folder / "sources.list").write_text(f"deb {mirror} {suite} main\n")
    options = {
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "download", package], check=True, cwd=folder)
    [path] = folder.glob(f"{package}_*.deb")
    return path


def python(version: str, triplet: str, cache: Path) -> Path:
    """A folder with the headers of this Python."""
    out = cache / f"python{version}"
    if out.exists():
        return out
    work = cache / f"python{version}.part"
    shutil.rmtree(work, ignore_errors=True)
    package = fetch(work, SUITES[version], f"libpython{version}-dev")
    subprocess.run(["dpkg", "-x", str(package), str(work / "root")], check=True)
    include = work / "root/usr/include"
    made = include / f"python{version}"
    shutil.copy(include / triplet / f"python{version}/pyconfig.h", made)
    made.rename(out)
    shutil.rmtree(work)
    return out
