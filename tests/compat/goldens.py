"""Kept descriptions ("goldens") of the public interfaces, one folder per version of Hyphos.

A golden is a listing: a JSON object from the name of each part of an interface to its description.
In every folder, nothing that is listed may change or disappear while the promise of its interface
holds. The folder of the present version also lists everything that exists, so an addition needs
`scripts/compat update`. A version is released if CHANGELOG.md has its date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/compat"
UPDATE = "scripts/compat update"

Listing = dict[str, Any]


class UpdateError(Exception):
    """An update that would break a promise. Its text names the remedy."""


def current_version(root: Path = ROOT) -> str:
    found = re.search(r'^version = "(.+)"', (root / "pyproject.toml").read_text(), re.MULTILINE)
    assert found, "pyproject.toml has no version"
    return found[1]


def is_released(version: str, changelog: str) -> bool:
    """True if the heading of the version has a date: `## [0.1.0] - 2027-01-31`."""
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}\s*$"
    return re.search(heading, changelog, re.MULTILINE) is not None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def versions(folder: Path = FOLDER) -> list[str]:
    """The versions with a folder, oldest first."""
    names = [path.name for path in folder.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", path.name)]
    return sorted(names, key=_numbers)


def same_line(one: str, other: str) -> bool:
    """True if no incompatible change of a versioned interface is allowed between two versions.
    Before 1.0.0 a minor version may change it, afterwards only a major version."""
    first, second = _numbers(one), _numbers(other)
    return first[: 1 if first[0] else 2] == second[: 1 if first[0] else 2]


@dataclass
class Difference:
    """The difference between a kept listing and the one of today, one line for each part."""

    broken: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.broken or self.new)

    def lines(self) -> list[str]:
        return self.broken + self.new


def compare(kept: Mapping[str, Any], today: Mapping[str, Any]) -> Difference:
    found = Difference()
    for name, value in kept.items():
        if name not in today:
            found.broken.append(f"removed: {name}")
        elif today[name] != value:
            found.broken.append(f"changed: {name}: {_text(value)} → {_text(today[name])}")
    found.new = [f"new: {name}: {_text(today[name])}" for name in today if name not in kept]
    return found


def _text(value: Any) -> str:
    text = _json(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def flat(value: Any, path: str = "") -> Listing:
    """The leaves of JSON data by their path: {"channels.0.depth": 10}. Empty lists and objects are
    leaves too."""
    if not isinstance(value, (dict, list)) or not value:
        return {path: value} if path else {}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    found: Listing = {}
    for key, part in parts:
        found |= flat(part, f"{path}.{key}" if path else str(key))
    return found


def read(path: Path) -> Listing:
    listing: Listing = json.loads(path.read_text(encoding="utf-8"))
    return listing


def write(path: Path, listing: Mapping[str, Any]) -> None:
    """One line for each part, so that a diff shows single parts. An object has a line for each of
    its members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = (f"{_json(name)}: {_lines(value)}" for name, value in listing.items())
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _lines(value: Any) -> str:
    if not isinstance(value, dict) or not value:
        return _json(value)
    return "{\n " + ",\n ".join(f"{_json(k)}: {_json(v)}" for k, v in value.items()) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
