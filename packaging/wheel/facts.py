"""The promises of a wheel that its file alone can prove. Needs readelf of binutils."""

from __future__ import annotations

import csv
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

from repack import digest

# Libraries of the system that manylinux allows and that a wheel of Hyphos uses.
SYSTEM = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
    "libresolv.so.2", "libstdc++.so.6", "libz.so.1", "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}  # fmt: skip
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
NEEDED_FILES = (
    "hyphos/py.typed", "hyphos/libhyphos.so.0", "hyphos/hyphos-host", "hyphos/__init__.py",
)  # fmt: skip
NAME = re.compile(
    r"hyphos-(?P<version>[^-]+)-(?P<python>cp3\d+)-(?P<abi>[^-]+)"
    r"-manylinux_2_(?P<glibc>\d+)_(?P<arch>x86_64|aarch64)\.whl"
)


def problems(wheel: Path) -> list[str]:
    """The broken promises of a wheel, one sentence each."""
    name = NAME.fullmatch(wheel.name)
    if name is None:
        return [f"{wheel.name} is no name of a manylinux wheel"]
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        entries = archive.infolist()
    info = f"hyphos-{name['version']}.dist-info"
    found = [f"{path} is missing" for path in NEEDED_FILES if path not in files]
    found += _metadata(files, info, "-".join(wheel.stem.split("-")[2:]))
    found += _record(files, info)
    if len({entry.date_time for entry in entries}) != 1:
        found.append("the files have several times")
    suffix = "abi3" if name["abi"] == "abi3" else f"cpython-{name['python'][2:]}"
    modules = [
        path for path in files if path.startswith("hyphos/_hyphos.") and path.endswith(".so")
    ]
    if len(modules) != 1 or f"._hyphos.{suffix}".lstrip(".") not in modules[0]:
        found.append(f"the modules {modules} do not match the tag {name['abi']}")
    inside = {Path(path).name for path in files}
    for path, data in files.items():
        if data.startswith(b"\x7fELF"):
            found += [
                f"{path}: {text}" for text in _elf(data, name["arch"], int(name["glibc"]), inside)
            ]
    return found


def _metadata(files: dict[str, bytes], info: str, tag: str) -> list[str]:
    found = []
    tags = re.findall(r"^Tag: (.*)$", files[f"{info}/WHEEL"].decode(), re.MULTILINE)
    if tags != [tag]:
        found.append(f"WHEEL has the tags {tags}, but the name has {tag}")
    entries = files[f"{info}/entry_points.txt"]
    if b"hyphos = hyphos.program:main" not in entries:
        found.append("the command hyphos is missing")
    if b"[pytest11]\nhyphos.testing.plugin = hyphos.testing.plugin" not in entries:
        found.append("the plug-in of pytest is missing")
    text = files[f"{info}/METADATA"].decode()
    listed = re.findall(r"^License-File: (.*)$", text, re.MULTILINE)
    found += [
        f"the licence {name} is missing"
        for name in listed
        if f"{info}/licenses/{name}" not in files
    ]
    if not any(name.startswith("THIRD-PARTY/") for name in listed):
        found.append("the licences of the libraries are missing")
    return found


def _record(files: dict[str, bytes], info: str) -> list[str]:
    rows = {row[0]: row[1:] for row in csv.reader(files[f"{info}/RECORD"].decode().splitlines())}
    found = [f"{path} is not in RECORD" for path in files if path not in rows]
    for path, (written, size) in rows.items():
        if path == f"{info}/RECORD":
            continue
        data = files.get(path)
        if data is None or written != f"sha256={digest(data)}" or int(size) != len(data):
            found.append(f"RECORD is wrong about {path}")
    return found


def _elf(data: bytes, arch: str, glibc: int, inside: set[str]) -> list[str]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        words = ["readelf", "--wide", "--file-header", "--dynamic", "--version-info", file.name]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = []
    if MACHINES[arch] not in text:
        found.append(f"is not for {arch}")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    found += [f"needs {name}, which is not inside" for name in sorted(needed - SYSTEM - inside)]
    for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text):
        if any(part and not part.startswith("$ORIGIN") for part in path.split(":")):
            found.append(f"searches libraries in {path}")
    newest = max((int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", text)), default=0)
    if newest > glibc:
        found.append(f"needs glibc 2.{newest}")
    return found
