"""Writes the bill of materials of a set of packages in SPDX 2.3 (JSON).

sbom.py OUT FILE...: the FILEs are packages of one kind: .deb, .whl or .tar.gz. The bill lists each
FILE with its SHA-256, the libraries that its programs link with the versions on this machine, the
code compiled into them, and the packages that they need at run time. packaging/third_party.toml has
the licences. The time is SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import email
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import third_party
from third_party import Component

sys.path.insert(0, str(Path(__file__).resolve().parent / "wheel"))
import graft

NAMESPACE = "https://spdx.org/spdxdocs/"
OWN = re.compile(r"(lib)?hyphos.*|python3-hyphos")


def _output(*words: str | Path) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True)
class Needed:
    """Something that an artefact links, contains or needs."""

    name: str
    version: str
    licence: str
    relation: str  # of the artefact to it
    purl: str = ""


@dataclass
class Artefact:
    """A file to distribute."""

    path: Path
    name: str
    version: str
    needs: list[Needed] = field(default_factory=list)
    own: list[str] = field(default_factory=list)  # needed artefacts of the same set

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


def _known(found: Iterable[Component], name: str) -> Component:
    for one in found:
        return one
    raise SystemExit(f"{name} is not in packaging/third_party.toml: add it, with its licence")


@cache
def _components() -> tuple[Component, ...]:
    return tuple(third_party.components())


@cache
def _library_package(soname: str) -> tuple[str, str]:
    """The package of Debian with a shared library, and its version on this machine."""
    for line in _output("/sbin/ldconfig", "-p").splitlines():
        if line.strip().startswith(soname + " "):
            path = Path(line.split(" => ")[1]).resolve()
            # Packages name a file by its place before /lib became a link to /usr/lib, or after it.
            for place in (path, Path("/", *path.parts[2:])):
                done = subprocess.run(
                    ["dpkg", "-S", place], capture_output=True, text=True, check=False
                )
                if done.returncode == 0:
                    package = done.stdout.split(":")[0]
                    return package, _debian_version(package)
    raise SystemExit(f"no package of this machine has {soname}")


@cache
def _debian_version(package: str) -> str:
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}\n", package],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.splitlines()[0] if done.returncode == 0 else ""


def _sonames(folder: Path) -> set[str]:
    """The libraries that the programs and libraries below a folder link."""
    names = set()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        names |= set(re.findall(r"\(NEEDED\).*\[(.+)\]", _output("readelf", "-d", path)))
    return names


def _debian(package: str, version: str, relation: str) -> Needed:
    known = _known((one for one in _components() if one.is_debian(package)), package)
    purl = f"pkg:deb/debian/{package}" + (f"@{version}" if version else "")
    return Needed(package, version, known.licence, relation, purl)


def _compiled_into(package: str) -> Iterator[Needed]:
    for one in _components():
        if package in one.into:
            version = _version_of_compiled(one)
            purl = f"pkg:npm/{one.npm.replace('@', '%40')}@{version}" if one.npm else ""
            yield Needed(one.name, version, one.licence, "STATIC_LINK", purl)


def _version_of_compiled(one: Component) -> str:
    """From requirements.txt or package.json, or of the package with its headers. Empty if
    unknown."""
    if one.npm:
        listed = json.loads((third_party.ROOT / "web/package.json").read_text())
        return str(listed["devDependencies"][one.npm])
    pinned = (third_party.ROOT / "requirements.txt").read_text()
    found = re.search(rf"^{re.escape(one.name)}==(\S+)", pinned, re.MULTILINE)
    if found is not None:
        return found[1]
    if not one.debian:
        return ""
    form = "${db:Status-Status} ${Package} ${Version}\n"
    for line in _output("dpkg-query", "-W", "-f", form).splitlines():
        status, package, version = line.split(" ", maxsplit=2)
        if status == "installed" and one.is_debian(package):
            return version
    return ""


def debian_artefact(path: Path) -> Artefact:
    fields = dict(
        line.split(": ", maxsplit=1)
        for line in _output("dpkg-deb", "-f", path, "Package", "Version", "Depends").splitlines()
    )
    made = Artefact(path, fields["Package"], fields["Version"])
    with tempfile.TemporaryDirectory(prefix="hyphos-sbom-") as place:
        _output("dpkg-deb", "-x", path, place)
        sonames = sorted(_sonames(Path(place)))
    linked = {}
    for soname in sonames:
        if not re.match(r"libhyphos|ld-linux", soname):
            package, version = _library_package(soname)
            linked[package] = _debian(package, version, "DYNAMIC_LINK")
    made.needs = [*linked.values(), *_compiled_into(made.name)]
    for entry in filter(None, re.split(r",\s*", fields.get("Depends", ""))):
        package = entry.split("|")[0].split()[0]
        if OWN.fullmatch(package):
            made.own.append(package)
        elif package not in linked and any(one.is_debian(package) for one in _components()):
            made.needs.append(_debian(package, _debian_version(package), "DEPENDS_ON"))
    return made


def wheel_artefact(path: Path) -> Artefact:
    with zipfile.ZipFile(path) as file:
        [metadata] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        fields = email.message_from_bytes(file.read(metadata))
    made = Artefact(path, path.name, str(fields["Version"]))
    for package, version in sorted(graft.packages(path).items()):
        made.needs.append(_debian(package, version, "CONTAINS"))
    made.needs += [*_compiled_into("hyphos-gateways"), *_compiled_into("python3-hyphos")]
    for requirement in fields.get_all("Requires-Dist") or []:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        if name == "hyphos" or "extra ==" in requirement:
            continue
        known = _known((one for one in _components() if one.is_pypi(name)), name)
        purl = f"pkg:pypi/{name.lower()}"
        made.needs.append(Needed(name, "", known.licence, "DEPENDS_ON", purl))
    return made


def source_artefact(path: Path) -> Artefact:
    version = path.name.removeprefix("hyphos-").removesuffix(".tar.gz")
    return Artefact(path, path.name, version)


KINDS = {".deb": debian_artefact, ".whl": wheel_artefact, ".gz": source_artefact}


def _id(text: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", text)


def _package(name: str, version: str, licence: str, **more: Any) -> dict[str, Any]:
    return {
        "SPDXID": _id(f"{name}-{version}" if version else name),
        "name": name,
        **({"versionInfo": version} if version else {}),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        **more,
    }


def document(artefacts: list[Artefact], name: str, epoch: int) -> dict[str, Any]:
    """The bill. The same artefacts give the same text."""
    packages: dict[str, dict[str, Any]] = {}
    relations: list[dict[str, str]] = []
    ids: dict[str, str] = {}
    for one in artefacts:
        made = _package(
            one.name, one.version, "MIT",
            packageFileName=one.path.name,
            checksums=[{"algorithm": "SHA256", "checksumValue": one.sha256}],
        )  # fmt: skip
        ids[one.name] = made["SPDXID"]
        packages[made["SPDXID"]] = made
        relations.append(_relation("SPDXRef-DOCUMENT", "DESCRIBES", made["SPDXID"]))
    for one in artefacts:
        for needed in one.needs:
            made = _package(needed.name, needed.version, needed.licence)
            if needed.purl:
                reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl"}
                made["externalRefs"] = [{**reference, "referenceLocator": needed.purl}]
            packages.setdefault(made["SPDXID"], made)
            relations.append(_relation(ids[one.name], needed.relation, made["SPDXID"]))
        relations += [_relation(ids[one.name], "DEPENDS_ON", ids[own]) for own in one.own]
    sums = hashlib.sha256("".join(one.sha256 for one in artefacts).encode()).hexdigest()
    created = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"{NAMESPACE}{name}-{sums[:32]}",
        "creationInfo": {"created": created, "creators": ["Tool: hyphos-packaging-sbom"]},
        "packages": list(packages.values()),
        "relationships": relations,
    }


def _relation(one: str, kind: str, other: str) -> dict[str, str]:
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} OUT FILE...")
    out, *files = map(Path, sys.argv[1:])
    kinds = {path.suffix for path in files}
    if len(kinds) != 1 or not kinds <= set(KINDS):
        sys.exit(f"{', '.join(map(str, files))}: give files of one kind: .deb, .whl or .tar.gz")
    artefacts = [KINDS[path.suffix](path) for path in sorted(files)]
    made = document(
        artefacts, out.name.removesuffix(".spdx.json"), int(os.environ["SOURCE_DATE_EPOCH"])
    )
    out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
