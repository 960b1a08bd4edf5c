"""Makes a wheel of a given tag from that of scikit-build-core, with the same bits each time."""

from __future__ import annotations

import base64
import hashlib
import re
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

# A wheel of the stable ABI serves all later versions, so two wheels cover CPython 3.11 and newer.
TAGS = {"3.11": ("cp311", "cp311"), "3.13": ("cp312", "abi3")}


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _retagged(text: str, tag: str) -> str:
    """The file WHEEL with one tag."""
    lines = [line for line in text.splitlines() if line and not line.startswith("Tag:")]
    return "\n".join([*lines, f"Tag: {tag}"]) + "\n"


def _with_licences(text: str, names: list[str]) -> str:
    """The file METADATA with these further licence files."""
    head, separator, rest = text.partition("\n\n")
    lines = head.splitlines()
    last = max(
        (at for at, line in enumerate(lines) if line.startswith("License-File:")), default=-1
    )
    if last < 0:
        raise ValueError("METADATA names no License-File: set license-files in pyproject.toml")
    lines[last + 1 : last + 1] = [f"License-File: {name}" for name in names]
    return "\n".join(lines) + separator + rest


def _is_program(data: bytes) -> bool:
    return data.startswith((b"\x7fELF", b"#!"))


def repack(
    raw: Path,
    out: Path,
    *,
    tag: str,
    licences: Mapping[str, bytes],
    epoch: int,
    added: Mapping[str, bytes] | None = None,
) -> None:
    """Writes the content of `raw` and the licences to `out`, sorted and with one time.

    `tag` is PYTHON-ABI-PLATFORM. `licences` maps names below the folder of licences to texts, and
    `added` names below the folder of metadata. `epoch` is the time of all files, in seconds since
    1970.
    """
    with zipfile.ZipFile(raw) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    [info] = {name.split("/")[0] for name in files if re.match(r"[^/]+\.dist-info/WHEEL$", name)}
    files.pop(f"{info}/RECORD")
    files.update({f"{info}/licenses/{name}": text for name, text in licences.items()})
    files.update({f"{info}/{name}": data for name, data in (added or {}).items()})
    wheel, metadata = f"{info}/WHEEL", f"{info}/METADATA"
    files[wheel] = _retagged(files[wheel].decode(), tag).encode()
    files[metadata] = _with_licences(files[metadata].decode(), sorted(licences)).encode()

    # The order that PEP 427 recommends: the metadata last, RECORD at the very end.
    names = sorted(files, key=lambda name: (name.startswith(f"{info}/"), name))
    record = [f"{name},sha256={digest(files[name])},{len(files[name])}" for name in names]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()

    moment = time.gmtime(epoch)[:6]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in [*names, f"{info}/RECORD"]:
            entry = zipfile.ZipInfo(name, date_time=moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if _is_program(files[name]) else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3  # Unix
            archive.writestr(entry, files[name])
