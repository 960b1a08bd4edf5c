"""hyphos msg: writes ROS definitions as .proto files, or prints one of them."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.ros.definition import Field, Flavour, Interface, Message, Name
from hyphos.ros.derived import Service, services
from hyphos.ros.library import Library
from hyphos.ros.proto import OPTIONS, TIMES_2, file_name, value_text, write_proto

_KINDS = {"msg": "message", "srv": "service", "action": "action"}


def import_types(paths: Sequence[Path], out: Path, flavour: Flavour | None) -> int:
    library = Library.load(paths, flavour)
    interfaces = imported(library)
    write_files(proto_files(interfaces, library), out)
    _report(interfaces, library.flavour, out)
    return 0


def proto_files(interfaces: Sequence[Interface], library: Library) -> dict[str, str]:
    """The .proto files of interfaces, by path."""
    files = {file_name(one.name, library.flavour): write_proto(one, library) for one in interfaces}
    files[OPTIONS] = Path(__file__).with_name("options.proto").read_text()
    return files


def imported(library: Library) -> list[Interface]:
    """All requested interfaces and their dependencies."""
    asked = library.asked()
    # A time as a field is a number, and no program sends one alone.
    times = [one.name for one in asked if one.name in TIMES_2]
    return [one for one in library.needed(asked) if one.name not in TIMES_2 or one.name in times]


def write_files(files: dict[str, str], out: Path) -> None:
    """Writes all files, or none if an error occurs before all of them exist."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".hyphos-msg-", dir=out) as place:
            for name, text in files.items():
                draft = Path(place, name)
                draft.parent.mkdir(parents=True, exist_ok=True)
                draft.write_text(text)
            for name in files:
                (out / name).parent.mkdir(parents=True, exist_ok=True)
            for name in files:
                Path(place, name).replace(out / name)
    except OSError as error:
        raise Error(
            "io", f"cannot write: {error.strerror}", str(error.filename or out), "give another -o"
        ) from error


def _report(interfaces: Sequence[Interface], flavour: Flavour, out: Path) -> None:
    packages: dict[str, Counter[str]] = {}
    for one in interfaces:
        packages.setdefault(one.name.package, Counter())[one.kind] += 1
    for package, kinds in sorted(packages.items()):
        counts = (_counted(kinds[kind], word) for kind, word in _KINDS.items() if kinds[kind])
        print(f"{package}: {', '.join(counts)}")
    folder = out / flavour.value
    print(f"wrote {_counted(len(interfaces), 'file')} of {flavour} to {folder}")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def show_type(wanted: str, paths: Sequence[Path], flavour: Flavour | None, *, as_json: bool) -> int:
    library = Library.load(paths, flavour)
    interface = library.interface(_find(wanted, library))
    told = _told(interface, library)
    print(json.dumps(told, indent=2) if as_json else "\n".join(_lines(told)))
    return 0


def _find(wanted: str, library: Library) -> Name:
    """The full name for "Name", "package/Name" or "package/folder/Name"."""
    *package, base = wanted.split("/")
    found = [
        name
        for name in library.names()
        if name.base == base and package in ([], [name.package], [*name[:2]])
    ]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join("/".join(name) for name in found)
        raise Error(
            "invalid_config", f"'{wanted}' is ambiguous: {names}", advice="give the full name"
        )
    near = get_close_matches(base, [name.base for name in library.names()], 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise Error(
        "not_found",
        f"no definition '{wanted}' in these paths{hint}",
        advice="hyphos msg show PACKAGE/NAME PATH...",
    )


def _told(interface: Interface, library: Library) -> dict[str, Any]:
    flavour = interface.flavour
    told: dict[str, Any] = {
        "name": interface.name.text(flavour),
        "kind": _KINDS[interface.kind],
        "flavour": flavour.value,
    }
    if flavour is Flavour.ROS2:
        told["type_hash"] = library.type_hash(interface.name)
    else:
        things: list[Message | Service] = [*services(interface), *interface.parts]
        told["md5"] = library.md5(things[0])
    told["parts"] = [_part(one, library) for one in interface.parts]
    return told


def _part(message: Message, library: Library) -> dict[str, Any]:
    library.order(message)  # raises an error if a type is missing
    fields = [_field(one, library.flavour) for one in message.fields]
    constants = [
        {"type": one.primitive, "name": one.name, "value": one.value} for one in message.constants
    ]
    return {
        "name": message.name.text(library.flavour), "constants": constants, "fields": fields,
    }  # fmt: skip


def _field(field: Field, flavour: Flavour) -> dict[str, Any]:
    name = field.type.message
    bounds = "[" + field.type.text.partition("[")[2] if "[" in field.type.text else ""
    kind = field.type.text if name is None else name.text(flavour) + bounds
    told: dict[str, Any] = {"type": kind, "name": field.name}
    if field.default is not None:
        told["default"] = field.default
    return told


def _lines(told: dict[str, Any]) -> list[str]:
    flavour = Flavour(told["flavour"])
    lines = [f"{told['name']}: {told['kind']} of {flavour}"]
    lines += [f"{key} {told[key]}" for key in ("md5", "type_hash") if key in told]
    for part in told["parts"]:
        lines += ["", part["name"]] if len(told["parts"]) > 1 else [""]
        for one in part["constants"]:
            lines.append(f"  {one['type']} {one['name']} = {value_text(one['value'])}")
        for one in part["fields"]:
            default = f" {value_text(one['default'])}" if "default" in one else ""
            lines.append(f"  {one['type']} {one['name']}{default}")
    return lines
