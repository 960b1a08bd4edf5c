"""hyphos msg list, and hyphos msg show for protobuf types"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from hyphos._errors import Error
from hyphos.observe import look
from hyphos.ros.definition import Flavour
from hyphos.ros.typebook import TypeBook
from hyphos.struct_layout import layout
from hyphos.tools.console import console, print_json, table
from hyphos.tools.value_kinds import is_repeated
from hyphos.types import Struct

_STEP = "  "
_KINDS = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}


@dataclass
class TypeOptions:
    domain: str
    proto_path: Sequence[Path]
    descriptors: Sequence[Path]
    as_json: bool

    def book(self) -> TypeBook:
        return TypeBook(self.proto_path, self.descriptors, self.domain)


def list_types(patterns: Sequence[str], options: TypeOptions, *, of_ros: bool) -> int:
    """Prints the types in reach: standard, given by options, announced by processes, and of ROS."""
    sources = options.book().sources()
    if of_ros:
        from hyphos.ros.known import names  # noqa: PLC0415 - reads all packages

        sources |= {name: ["ros"] for name in names()}
    chosen = {
        name: source
        for name, source in sources.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    used = _channels(options.domain)
    if options.as_json:
        print_json(
            [{"name": n, "sources": s, "channels": used.get(n, [])} for n, s in chosen.items()]
        )
        return 0
    if not chosen:
        raise Error(
            "not_found",
            f"no type in reach matches {', '.join(patterns)}",
            advice="give -I FOLDER or --descriptor FILE, or --ros for the types of ROS",
        )
    made = table("", ["type", "known from", "channels"], [])
    for name, source in chosen.items():
        made.add_row(name, ", ".join(source), ", ".join(used.get(name, [])))
    console().print(made)
    return 0


def _channels(domain: str) -> dict[str, list[str]]:
    """The channels of a domain by the name of their type."""
    found: dict[str, set[str]] = {}
    for _, end in look(domain).ends():
        found.setdefault(end.type_name, set()).add(end.channel)
    return {name: sorted(channels) for name, channels in found.items()}


def show_protobuf(name: str, options: TypeOptions) -> int:
    """Prints a protobuf type as in a .proto file, or the layout of a struct."""
    book = options.book()
    struct = book.struct(name) if book.find(name) is None else None
    if struct is not None:
        return _show_struct(struct, ", ".join(book.sources()[name]), as_json=options.as_json)
    descriptor = book.get(name).DESCRIPTOR
    source = ", ".join(book.sources().get(descriptor.full_name, []))
    if options.as_json:
        print_json(_as_dict(descriptor, source))
        return 0
    known = f", known from {source}" if source else ""
    print(f"// {descriptor.full_name}: {descriptor.file.name}{known}")
    print("\n".join(_message(descriptor)))
    return 0


def _show_struct(struct: Struct, source: str, *, as_json: bool) -> int:
    """Prints the layout of a struct."""
    form = json.loads(layout(struct.name, struct.dtype))
    if as_json:
        print_json({**form, "sources": source.split(", ")})
        return 0
    print(f"// {struct.name}: a struct, known from {source}")
    size = struct.dtype.itemsize
    fields = form.get("fields") or [{"name": "value", "offset": 0, **form}]
    print("\n".join(_struct_fields(f"struct {struct.name} {{", fields, size)))
    return 0


def _struct_fields(
    head: str, fields: list[dict[str, Any]], size: int, end: str = "}"
) -> Iterator[str]:
    yield f"{head}  // {size} bytes"
    for field in fields:
        shape = "".join(f"[{length}]" for length in field.get("shape", []))
        place = f"{field['name']}{shape};  // offset {field['offset']}"
        if "fields" in field:
            inner = _struct_fields("struct {", field["fields"], field["size"], f"}} {place}")
            yield from (_STEP + line for line in inner)
        else:
            yield f"{_STEP}{field['type'].lstrip('<|')} {place}"
    yield end


def show_ros(name: str, flavour: Flavour | None, *, as_json: bool) -> int:
    """Prints a type of ROS that this machine knows."""
    from hyphos.ros.importing import show_type  # noqa: PLC0415
    from hyphos.ros.known import known_folders  # noqa: PLC0415

    failure: Error | None = None
    for one in [flavour] if flavour is not None else [Flavour.ROS2, Flavour.ROS1]:
        try:
            return show_type(name, known_folders(one), one, as_json=as_json)
        except Error as error:
            if error.code != "not_found":
                raise
            failure = failure or error
    assert failure is not None
    raise Error(
        "not_found",
        failure.message.replace("in these paths", "on this machine"),
        advice="give the folder of its package: hyphos msg show PACKAGE/NAME PATH",
    )


def _kind(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        entry = field.message_type
        if entry.GetOptions().map_entry:
            key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
            return f"map<{_kind(key)}, {_kind(value)}>"
        return str(entry.full_name)
    return str(field.enum_type.full_name) if field.enum_type is not None else _KINDS[field.type]


def _is_list(field: FieldDescriptor) -> bool:
    return is_repeated(field) and not _kind(field).startswith("map<")


def _field(field: FieldDescriptor) -> str:
    word = "repeated " if _is_list(field) else ""
    oneof = field.containing_oneof
    if oneof is not None and oneof.name == f"_{field.name}":
        word = "optional "
    return f"{word}{_kind(field)} {field.name} = {field.number};"


def _message(message: Descriptor) -> Iterator[str]:
    yield f"message {message.name} {{"
    for enum in message.enum_types:
        yield from (_STEP + line for line in _enum(enum))
    for inner in message.nested_types:
        if not inner.GetOptions().map_entry:
            yield from (_STEP + line for line in _message(inner))
    shown: set[str] = set()
    for field in message.fields:
        oneof = field.containing_oneof
        if oneof is None or oneof.name == f"_{field.name}":
            yield _STEP + _field(field)
        elif oneof.name not in shown:
            shown.add(oneof.name)
            yield f"{_STEP}oneof {oneof.name} {{"
            yield from (2 * _STEP + _field(one) for one in oneof.fields)
            yield _STEP + "}"
    yield "}"


def _enum(enum: EnumDescriptor) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    yield from (f"{_STEP}{value.name} = {value.number};" for value in enum.values)
    yield "}"


def _as_dict(message: Descriptor, source: str) -> dict[str, Any]:
    return {
        "name": message.full_name,
        "file": message.file.name,
        "sources": source.split(", ") if source else [],
        "fields": [
            {
                "name": field.name,
                "number": field.number,
                "type": _kind(field),
                "repeated": _is_list(field),
            }
            for field in message.fields
        ],
    }
