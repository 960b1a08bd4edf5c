"""The protobuf form of ROS types: one .proto per .msg, .srv and .action.

The rules are in proto/README.md, and for users in docs/reference/messages_ros.md. Data that only
the ROS wires need are options (proto/hyphos/ros/options.proto), not a separate file. So a
descriptor always carries them, to C++, Python and recordings alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from hyphos.ros.definition import Constant, Count, Field, Flavour, Interface, Message, Name
from hyphos.ros.derived import Service, messages, services
from hyphos.ros.library import Library
from hyphos.ros.literals import Value
from hyphos.ros.naming import Names, enum_key

OPTIONS = "hyphos/ros/options.proto"

# Messages of ROS 2 that become an int64 of nanoseconds as fields.
TIMES_2 = {
    Name("builtin_interfaces", "msg", "Time"): "TIME",
    Name("builtin_interfaces", "msg", "Duration"): "DURATION",
}
_SCALARS = {
    "bool": "bool",
    **dict.fromkeys(("int8", "int16", "int32"), "int32"),
    **dict.fromkeys(("char", "uint8", "uint16", "uint32"), "uint32"),
    "int64": "int64",
    "uint64": "uint64",
    "float32": "float",
    "float64": "double",
    "string": "string",
    "wstring": "string",
}
_BYTES = ("int8", "uint8", "byte", "char")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FIRST_RESERVED, _LAST_RESERVED = 19000, 19999  # field numbers of protobuf itself


def file_name(name: Name, flavour: Flavour) -> str:
    """The path of the .proto for a definition."""
    return f"{flavour.value}/{'/'.join(name)}.proto"


def full_name(name: Name, flavour: Flavour) -> str:
    return f"{flavour.value}.{'.'.join(name)}"


def write_proto(interface: Interface, library: Library) -> str:
    """The text of the .proto of one interface."""
    flavour, name = interface.flavour, interface.name
    all_messages = messages(interface)
    imports = {OPTIONS}
    for message in all_messages:
        for field in message.fields:
            if field.type.message is not None and field.type.message not in TIMES_2:
                imports.add(file_name(library.owner(field.type.message).name, flavour))
    imports.discard(file_name(name, flavour))
    lines = [
        f"// {flavour} {name.text(flavour)}, written by `hyphos msg import`. Changes are lost.",
        'syntax = "proto3";',
        "",
        f"package {flavour.value}.{name.package}.{name.folder};",
        "",
        *(f'import "{one}";' for one in sorted(imports)),
        "",
        *_options("interface", _interface_options(interface, library)),
    ]
    for message in all_messages:
        lines += ["", *_MessageWriter(message, library).lines()]
    for service in services(interface):
        lines += ["", *_service(service, library)]
    return "\n".join(lines) + "\n"


def _interface_options(interface: Interface, library: Library) -> Iterator[str]:
    yield f"flavour: {interface.flavour.name}"
    yield f"name: {quoted(interface.name.text(interface.flavour))}"
    if interface.kind == "action":
        yield f"type_hash: {quoted(library.type_hash(interface.name))}"


def _service(service: Service, library: Library) -> Iterator[str]:
    flavour = library.flavour
    request, response = (full_name(one.name, flavour) for one in service[1:])
    told = [f"name: {quoted(service.name.text(flavour))}", *_identity(service, library)]
    yield f"service {service.name.base} {{"
    yield from _indented(_options("service", told))
    yield f"  rpc Call(.{request}) returns (.{response});"
    yield "}"


def _identity(thing: Message | Service, library: Library) -> list[str]:
    if library.flavour is Flavour.ROS1:
        return [f"md5: {quoted(library.md5(thing))}"]
    return [f"type_hash: {quoted(library.type_hash(thing.name))}"]


class _MessageWriter:
    def __init__(self, message: Message, library: Library) -> None:
        self._message = message
        self._library = library
        self._base = message.name.base
        self._names = Names(self._base)

    def lines(self) -> Iterator[str]:
        message = self._message
        fields = [
            line for numbered in enumerate(message.fields, 1) for line in self._field(*numbered)
        ]
        yield from _comment(message.comment)
        yield f"message {self._base} {{"
        yield from _indented(_options("type", self._options()))
        yield from _indented(self._enum())
        yield from _indented(fields)
        yield "}"

    def _options(self) -> Iterator[str]:
        flavour = self._library.flavour
        yield f"name: {quoted(self._message.name.text(flavour))}"
        yield from _identity(self._message, self._library)
        if flavour is Flavour.ROS1 and self._message.text:
            yield "text:"
            yield from (f"  {quoted(one)}" for one in self._message.text.splitlines(keepends=True))
        for one in self._message.constants:
            told = f"name: {quoted(one.name)} type: {one.primitive.upper()}"
            yield f"constants: {{ {told} value: {quoted(value_text(one.value))} }}"

    def _field(self, number: int, field: Field) -> Iterator[str]:
        type_ = field.type
        time = _time(field)
        if type_.message is not None and not time:
            kind = "." + full_name(type_.message, self._library.flavour)
        else:
            kind = "int64" if time else _scalar(type_.primitive, self._library.flavour)
        several = type_.count is not Count.ONE
        if several and type_.primitive in _BYTES:
            kind, several = "bytes", False
        wanted = f"{field.name}_ns" if time else field.name
        name = self._names.field(wanted, kind, repeated=several)
        kind = f"repeated {kind}" if several else kind
        told = _field_options(field, time, name)
        options = f" [(.hyphos.ros.field) = {{ {' '.join(told)} }}]" if told else ""
        if number >= _FIRST_RESERVED:
            number += _LAST_RESERVED - _FIRST_RESERVED + 1
        yield from _comment(field.comment)
        yield f"{kind} {name} = {number}{options};"

    def _enum(self) -> Iterator[str]:
        """Gives integer constants a name in generated code. All constants are in the options."""
        numbers = sorted(_enum_numbers(self._message), key=lambda one: one[1] != 0)
        if not numbers:
            return
        name = self._names.other("Constant")
        values: list[tuple[str, int, tuple[str, ...]]] = []
        if numbers[0][1]:
            values.append((self._names.other("UNSET"), 0, ("proto3 begins with 0",)))
        seen = {enum_key(value, name) for value, _, _ in values}
        for one, number in numbers:
            key = enum_key(one.name, name)
            if key not in seen:
                seen.add(key)
                values.append((self._names.other(one.name), number, one.comment))
        yield f"enum {name} {{"
        if len({number for _, number, _ in values}) < len(values):
            yield "  option allow_alias = true;"
        for value, number, comment in values:
            yield from _indented(_comment(comment))
            yield f"  {value} = {number};"
        yield "}"


def _scalar(primitive: str, flavour: Flavour) -> str:
    if primitive == "byte":  # signed in ROS 1 only
        return "int32" if flavour is Flavour.ROS1 else "uint32"
    return _SCALARS[primitive]


def _time(field: Field) -> str:
    if field.type.message is not None:
        return TIMES_2.get(field.type.message, "")
    return field.type.primitive.upper() if field.type.primitive in ("time", "duration") else ""


def _field_options(field: Field, time: str, name: str) -> list[str]:
    type_ = field.type
    kind = time or type_.primitive.upper()
    told = [f"type: {kind}"] if kind else []
    if type_.count is not Count.ONE:
        told.append(f"count: {type_.count.name}")
    if type_.size:
        told.append(f"size: {type_.size}")
    if type_.string_size:
        told.append(f"string_size: {type_.string_size}")
    if name != field.name:
        told.append(f"name: {quoted(field.name)}")
    if field.default is not None:
        told.append(f"default_value: {quoted(json.dumps(field.default))}")
    return told


def _enum_numbers(message: Message) -> list[tuple[Constant, int]]:
    return [
        (one, one.value)
        for one in message.constants
        if type(one.value) is int and -(2**31) <= one.value < 2**31
    ]


def value_text(value: Value) -> str:
    """Text that parses back to the same value."""
    return value if isinstance(value, str) else json.dumps(value)


def _options(name: str, told: Iterable[str]) -> Iterator[str]:
    yield f"option (.hyphos.ros.{name}) = {{"
    yield from _indented(told)
    yield "};"


def _comment(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        shown = _CONTROL.sub(" ", line).rstrip()
        yield f"//{shown}" if shown[:1] in ("", " ") else f"// {shown}"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" if line else line for line in lines)


def quoted(text: str) -> str:
    """A protobuf string literal."""
    special = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    shown = "".join(
        special.get(one) or (one if one >= " " and one != "\x7f" else f"\\{ord(one):03o}")
        for one in text
    )
    return f'"{shown}"'
