"""Complete command lines that repair or convert a recording."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from hyphos._errors import Error
from hyphos.recording.opening import open_source
from hyphos.recording.source import is_mcap


def command(*words: object) -> str:
    return shlex.join(["hyphos", *map(str, words)])


def free_name(path: Path, mark: str, taken: Iterable[Path] = ()) -> Path:
    """An unused name beside `path`: run.mcap, run_2.mcap, …"""
    stem = path.stem if path.suffix else path.name
    used = set(taken)
    for number in range(1, 10_000):
        name = f"{stem}{mark}" + (f"_{number}" if number > 1 else "") + ".mcap"
        found = path.with_name(name)
        if not found.exists() and found not in used:
            return found
    return path.with_name(f"{stem}{mark}.mcap")


def require_mcap(path: Path) -> None:
    """Raises an error unless `path` is an MCAP file. The advice is the command that converts it."""
    if is_mcap(path):
        return
    source = open_source(path)  # raises an error if the file is not a recording
    kind = source.kind
    source.close()
    raise Error(
        "unsupported",
        f"this is a {kind}, not an MCAP file",
        str(path),
        command("bag", "convert", path, "-o", free_name(path, "")),
    )


def require_one_kind(paths: Sequence[Path], kinds: dict[Path, str], output: Path) -> None:
    """Raises an error if the files have several kinds, or one is not an MCAP file.

    Files of Hyphos, ROS 1 and ROS 2 have different message encodings. The advice has the commands
    that convert all to that of Hyphos.
    """
    if len(set(kinds.values())) <= 1 and all(map(is_mcap, paths)):
        return
    commands: list[str] = []
    merged: list[Path] = []
    for path in paths:
        if kinds[path].startswith("ROS"):
            made = free_name(path, "_hyphos", merged)
            commands.append(command("bag", "convert", path, "-o", made))
            merged.append(made)
        else:
            merged.append(path)
    found = ", ".join(f"{path} is {kind}" for path, kind in kinds.items())
    raise Error(
        "type_mismatch",
        f"only MCAP files of one kind can be merged: {found}",
        advice=" && ".join([*commands, command("bag", "merge", *merged, "-o", output)]),
    )


def kind_of(path: Path) -> str:
    """The kind of a recording that is not MCAP. Raises an error if it is not a recording."""
    source = open_source(path)
    source.close()
    return source.kind
