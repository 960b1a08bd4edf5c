"""Compares examples/robot.full.yaml with the parser: each key and each default."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hyphos
import pytest
import yaml
from helpers import Cli
from hyphos._hyphos import Plan

ROOT = Path(__file__).resolve().parents[3]
FULL_PLAN = ROOT / "examples/robot.full.yaml"

# Maps with fixed keys. `*` stands for a name of the user, `[]` for an item of a list.
SECTIONS = (
    "", "hosts.*", "processes.*", "processes.*.health", "nodes.*", "nodes.*.load", "channels.*",
    "groups.*", "channels.*.load", "network", "network.publisher", "network.subscribers.[]",
    "network.discovery", "network.curve", "network.faults", "data_graph", "clock", "record",
)  # fmt: skip
MINIMAL = """
hyphos: 1
nodes: {n: {python: "module:Class"}}
groups: {g: {nodes: [n]}}
channels: {c: {}, d: {load: {rate_hz: 1, size: 1}}}
network:
  publisher: {ip: "tcp://*:5570", channels: [c]}
  subscribers: {ip: "tcp://10.0.0.5:5570", channels: [d]}
  faults: {}
"""
# Keys whose default the JSON of a plan does not show as it is in the file.
NOT_PRINTED = {
    ".include", ".hosts", ".groups", "groups.*.process",
    ".processes", ".nodes", ".channels", ".network", ".clock", ".data_graph",
    ".record", ".shared_params", ".transport", "processes.*.replicas", "nodes.*.replicas",
    "processes.*.nodes", "processes.*.params", "processes.*.endpoint", "processes.*.health",
    "nodes.*.plugin",
    "nodes.*.python", "nodes.*.executable", "nodes.*.gateway", "nodes.*.builtin", "nodes.*.load",
    "channels.*.load", "channels.*.load.rate_hz", "network.publisher", "network.subscribers",
    "network.discovery", "network.curve", "network.faults", "data_graph.close_channels",
    "record.channels",
}  # fmt: skip
# Sections that are always there: the comments of their keys have the defaults.
WITHOUT_DEFAULT = {
    ".hosts", ".processes", ".nodes", ".channels", ".network", ".clock", ".data_graph",
    "network.discovery",
}  # fmt: skip


def matches(path: tuple[str, ...], section: str) -> bool:
    pattern = section.split(".") if section else []
    return len(path) == len(pattern) and all(
        want in ("*", have) for have, want in zip(path, pattern, strict=True)
    )


def maps_of(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(part, dict):
        yield path, part
        for key, value in part.items():
            yield from maps_of(value, (*path, str(key)))
    elif isinstance(part, list):
        for value in part:
            yield from maps_of(value, (*path, "[]"))


def written_keys(section: str) -> set[str]:
    """The keys of all maps of the file that are such a section."""
    whole = yaml.safe_load(FULL_PLAN.read_text())
    return {key for path, part in maps_of(whole) if matches(path, section) for key in part}


def known_keys(section: str, folder: Path) -> set[str]:
    """The keys that the parser lists when it refuses an unknown one."""
    whole = copy.deepcopy(yaml.safe_load(FULL_PLAN.read_text()))
    part = next(part for path, part in maps_of(whole) if matches(path, section))
    part["x" * 30] = 1
    file = folder / "robot.yaml"
    file.write_text(yaml.safe_dump(whole, sort_keys=False))
    with pytest.raises(hyphos.Error) as caught:
        Plan.load(str(file), [], False)
    listed = re.search(r"keys here are: ([\w, ]+)", str(caught.value))
    assert listed, caught.value
    return set(re.findall(r"\w+", listed[1]))


def test_the_full_plan_loads_without_warnings(hyphos_cli: Cli) -> None:
    assert Plan.load(str(FULL_PLAN), [], False).warnings == []
    code, out, err = hyphos_cli("plan", str(FULL_PLAN))
    assert (code, err) == (0, ""), out


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section or "top")
def test_the_full_plan_has_each_key_of_the_parser(section: str, tmp_path: Path) -> None:
    include = {"include"} if section == "" else set()  # the loader reads it, before the parser
    assert written_keys(section) == known_keys(section, tmp_path) | include


def test_the_full_plan_has_each_section_of_the_parser() -> None:
    """Finds the lists of keys in the source, so that no section is missing in SECTIONS."""
    in_code: set[str] = set()
    for path in sorted((ROOT / "plan").glob("build*.cpp")):
        for keys in re.findall(r"problems,\s*\{((?:\s*\"\w+\",?)+)\}", path.read_text()):
            in_code |= set(re.findall(r"\w+", keys))
    in_file = set().union(*(written_keys(section) for section in SECTIONS))
    assert len(in_code) > 70
    assert in_code - in_file == set()


# --- Defaults -------------------------------------------------------------------------------------


@cache
def comments() -> dict[str, str]:
    """The comment above the first appearance of each key, by section and key."""
    found: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    comment: list[str] = []
    for line in FULL_PLAN.read_text().splitlines():
        key = re.match(r"( *)(- )?([\w/]+):", line)
        if line.lstrip().startswith("#"):
            comment.append(line.strip("# "))
        elif key:
            indent = len(key[1]) + len(key[2] or "")
            while path and path[-1][0] >= indent:
                path.pop()
            names = tuple(name for _, name in path)
            for section in SECTIONS:
                plain = section.replace(".[]", "")
                if matches(names, plain) and comment:
                    found.setdefault(f"{plain}.{key[3]}", " ".join(comment))
            path.append((indent, key[3]))
            comment = []
        else:
            comment = []
    return found


def test_each_key_has_a_comment_with_its_default() -> None:
    for section in SECTIONS:
        for key in written_keys(section):
            name = f"{section.replace('.[]', '')}.{key}"
            if section == "network.subscribers.[]" and key != "server_key":
                continue  # as those of `publisher`
            if name in WITHOUT_DEFAULT:
                continue
            assert re.search(r"(Default: \S.*|Required)$", comments().get(name, "")), name


def printed(section: str, plan: Any) -> Any:
    """The object of the JSON of a plan that corresponds to a section of the file."""
    at = plan
    for name in section.split(".") if section else []:
        if name == "*":
            at = at[0]
        elif name in ("publisher", "subscribers"):
            at = at["publishers" if name == "publisher" else name][0]
        else:
            at = at[name]
    return at


def is_default(written: str, value: Any, folder: Path) -> bool:
    expected = yaml.safe_load(written)
    if written == "none":
        return value in ("", [], {}, None)
    if isinstance(value, str) and value.startswith(str(folder)):
        return bool(Path(value).resolve() == (folder / expected).resolve())
    if isinstance(value, list) and value and str(value[0]).startswith(str(folder)):
        return [Path(one).resolve() for one in value] == [
            (folder / one).resolve() for one in expected
        ]
    return bool(value == expected or (expected is False and value == ""))


def test_the_defaults_in_the_comments_are_those_of_the_parser(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(MINIMAL)
    plan = json.loads(Plan.load(str(file), [], False).json())
    compared = 0
    wrong = []
    for name, comment in comments().items():
        default = re.search(r"Default: (.*?)( \(.*\))?$", comment)
        if default is None or name in NOT_PRINTED:
            continue
        section, _, key = name.rpartition(".")
        if section == "channels.*.load":
            part = plan["channels"][1]["load"]
        else:
            part = printed(section, plan)
        if not is_default(default[1], part[key], tmp_path):
            wrong.append(f"{name}: {default[1]!r} in the file, {part[key]!r} in the plan")
        compared += 1
    assert wrong == []
    assert compared > 55
