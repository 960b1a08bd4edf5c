"""The packages of one ROS version that the other one lacks, as definitions of the other version.

A gateway of either version then knows every type that a gateway of the other one knows. The rules
are those by which packages were ported: builtin_interfaces for times, lower case for names of
fields, no bounds and no default values in ROS 1. A type without an equivalent is left out, and so
is a package that exists in both versions: its definitions may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hyphos._errors import Error
from hyphos.ros.definition import Count, Field, Flavour, Interface, Message, Name, parse
from hyphos.ros.derived import IMPLIED
from hyphos.ros.sources import Source, find_sources, read_text

_TIMES = {
    "time": Name("builtin_interfaces", "msg", "Time"),
    "duration": Name("builtin_interfaces", "msg", "Duration"),
}
_TIME_OF = {name: primitive for primitive, name in _TIMES.items()}
# A `byte` is signed in ROS 1, and an octet in ROS 2.
_PRIMITIVES_1 = {"byte": "uint8", "char": "uint8"}
_PRIMITIVES_2 = {"byte": "int8", "char": "uint8"}
_FIELD_2 = re.compile(r"(?!.*__)(?!.*_$)[a-z][a-z0-9_]*")
_CONSTANT_2 = re.compile(r"(?!.*__)(?!.*_$)[A-Z][A-Z0-9_]*")
_MESSAGE_2 = re.compile(r"[A-Z][A-Za-z0-9]*")
_PARTS = ("Goal", "Result", "Feedback")
# Packages that exist in both versions with different definitions, of which only one is known here.
_IN_BOTH = ("controller_manager_msgs",)


def counterparts(folders: Mapping[Flavour, Sequence[Path]]) -> dict[Flavour, dict[Name, str]]:
    """The texts of the missing types of each version."""
    sources = {flavour: find_sources(paths) for flavour, paths in folders.items()}
    found = {}
    for flavour, other in ((Flavour.ROS1, Flavour.ROS2), (Flavour.ROS2, Flavour.ROS1)):
        known = sources[flavour]
        packages = {*_IN_BOTH, *(name.package for name in known)}
        absent = {n: s for n, s in sources[other].items() if n.package not in packages}
        made = {
            name: text
            for name, interface in _read(absent, other).items()
            if (text := _text(interface, flavour)) is not None
        }
        found[flavour] = _complete(made, set(known), flavour)
    return found


def write_counterparts(
    folders: Mapping[Flavour, Sequence[Path]], place: Path
) -> dict[Flavour, list[Path]]:
    """Writes them as packages below `place`. Returns the folders of the packages."""
    written: dict[Flavour, list[Path]] = {}
    for flavour, texts in counterparts(folders).items():
        for (package, kind, base), text in texts.items():
            file = place / flavour.value / package / kind / f"{base}.{kind}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        packages = {package for package, _, _ in texts}
        written[flavour] = [place / flavour.value / package for package in sorted(packages)]
    return written


def _read(sources: Mapping[Name, Source], flavour: Flavour) -> dict[Name, Interface]:
    """The interfaces of all files. Faults are left to the library, which reads the files again."""
    found: dict[Name, Interface] = {}
    for name, source in sources.items():
        with suppress(Error):
            found[name] = parse(read_text(source.path), name, flavour, str(source.path))
    return _joined(found) if flavour is Flavour.ROS1 else found


def _joined(found: dict[Name, Interface]) -> dict[Name, Interface]:
    """Packages of ROS 1 may contain an action as seven messages. They become one action."""
    joined = dict(found)
    for name in found:
        if name.folder != "msg" or not name.base.endswith("ActionGoal"):
            continue
        base = name.base.removesuffix("ActionGoal")
        parts = [found.get(Name(name.package, "msg", base + part)) for part in _PARTS]
        if not all(parts):
            continue
        action = Name(name.package, "action", base)
        messages = tuple(one.parts[0] for one in parts if one is not None)
        joined.setdefault(action, Interface(action, Flavour.ROS1, messages))
        for part in ("Action", *_PARTS, *(f"Action{part}" for part in _PARTS)):
            joined.pop(Name(name.package, "msg", base + part), None)
    return joined


def _text(interface: Interface, flavour: Flavour) -> str | None:
    if flavour is Flavour.ROS2 and not _MESSAGE_2.fullmatch(interface.name.base):
        return None
    parts = [_part(one, flavour) for one in interface.parts]
    return None if None in parts else "---\n".join(one for one in parts if one is not None)


def _part(message: Message, flavour: Flavour) -> str | None:
    lines = []
    for constant in message.constants:
        if flavour is Flavour.ROS2 and not _CONSTANT_2.fullmatch(constant.name):
            return None
        kind = _primitive(constant.primitive, flavour)
        if kind is None:
            return None
        lines.append(f"{kind} {constant.name}={constant.text}")
    names = set()
    for field in message.fields:
        line = _line(field, flavour)
        if line is None or line.rpartition(" ")[2] in names:
            return None
        names.add(line.rpartition(" ")[2])
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _line(field: Field, flavour: Flavour) -> str | None:
    type_ = field.type
    if type_.message is not None:
        time = _TIME_OF.get(type_.message) if flavour is Flavour.ROS1 else None
        kind: str | None = time or f"{type_.message.package}/{type_.message.base}"
    elif type_.primitive in _TIMES:
        name = _TIMES[type_.primitive]
        kind = f"{name.package}/{name.base}"
    else:
        kind = _primitive(type_.primitive, flavour)
    if kind is None:
        return None
    size = str(type_.size) if type_.count is Count.FIXED else ""
    array = "" if type_.count is Count.ONE else f"[{size}]"
    name_there = field.name
    if flavour is Flavour.ROS2 and not _FIELD_2.fullmatch(name_there):
        name_there = name_there.lower()
        if not _FIELD_2.fullmatch(name_there):
            return None
    return f"{kind}{array} {name_there}"


def _primitive(primitive: str, flavour: Flavour) -> str | None:
    if flavour is Flavour.ROS1:
        return None if primitive == "wstring" else _PRIMITIVES_1.get(primitive, primitive)
    return _PRIMITIVES_2.get(primitive, primitive)


def _complete(made: dict[Name, str], known: set[Name], flavour: Flavour) -> dict[Name, str]:
    """Those whose fields are all known there."""
    needs = {name: _needed(name, text, flavour) for name, text in made.items()}
    there = known | set(IMPLIED if flavour is Flavour.ROS2 else ())
    while True:
        lacking = [name for name, types in needs.items() if not types <= there | set(needs)]
        if not lacking:
            return {name: made[name] for name in needs}
        for name in lacking:
            del needs[name]


def _needed(name: Name, text: str, flavour: Flavour) -> set[Name]:
    parts: Iterable[Message] = parse(text, name, flavour, "counterpart").parts
    types = {field.type.message for part in parts for field in part.fields}
    return {one for one in types if one is not None}
