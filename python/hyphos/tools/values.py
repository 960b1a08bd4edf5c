"""Reads messages from text, by the declared type of each field. It accepts all that
hyphos.tools.value_text prints.

YAML (of which JSON is a part) defines only the structure. The field decides whether `yes`, `007` or
`.nan` is a text, a number or a truth value.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import yaml
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor

from hyphos._errors import Error
from hyphos.tools import scalars
from hyphos.tools.value_kinds import (
    MORE,
    OWN_FORM,
    PREFIX,
    REALS,
    SHORTENED,
    WRAPPER,
    F,
    has_own_form,
    is_map,
    is_repeated,
    map_fields,
)

_INTEGERS = {
    F.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    F.CPPTYPE_UINT32: (0, 2**32 - 1),
    F.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    F.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_NULLS = ("", "~", "null", "Null", "NULL")
_NOW = ("auto", "now")
_TAGS = {
    PREFIX + name
    for name in (
        "str",
        "int",
        "float",
        "bool",
        "null",
        "timestamp",
        "binary",
        "merge",
        "value",
        "map",
        "seq",
        "omap",
        "set",
        "pairs",
    )
}
_BUFFER = re.compile(r"^# buffer \d+: ([\d,]+) bytes$", re.MULTILINE)  # the format of echo
_DEEPEST = 100  # nesting limit of protobuf
_MOST_NODES = 10_000_000  # after expansion of aliases


@dataclass
class Read:
    """A message from text, and the further content of the text."""

    message: Any
    buffers: list[int] | None  # sizes of the attached buffers of a printed message
    stamped: bool  # contains `auto` or `now`: each message that is sent needs a new time


def read_message(cls: Any, text: str, now: Callable[[], int] = time.time_ns) -> Read:
    """The message that YAML or JSON describes. An error names the field and the accepted values."""
    reader = _Reader(cls.DESCRIPTOR, now)
    message = cls()
    try:
        root = _parse(text)
        if root is not None:
            reader.top(root, message)
    except RecursionError as error:
        raise Error("invalid_config", "the value is nested too deeply") from error
    sizes = [int(size.replace(",", "")) for size in _BUFFER.findall(text)]
    return Read(
        message, reader.buffers if reader.buffers is not None else sizes or None, reader.stamped
    )


def _parse(text: str) -> yaml.Node | None:
    if text.lstrip()[:1] in ("{", "["):
        try:  # JSON accepts keys of any length and surrogate pairs, unlike YAML
            return _node(_JSON.decode(text.strip()))
        except ValueError:
            pass
    try:
        documents = [
            one for one in yaml.compose_all(text, Loader=yaml.SafeLoader) if not _is_null(one)
        ]
    except yaml.YAMLError as error:
        raise Error("invalid_config", f"the value is neither YAML nor JSON: {error}") from error
    if len(documents) > 1:
        raise Error("invalid_config", f"the value has {len(documents)} messages: give one")
    return documents[0] if documents else None


class _Number(str):
    """A JSON number as it was written."""


class _Pairs(list[tuple[str, Any]]):
    """A JSON object, repeated keys included."""


_JSON = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=_Number,
    parse_float=_Number,
    parse_constant=_Number,
)


def _node(value: Any) -> yaml.Node:
    """Converts JSON to the nodes of YAML's composer."""
    if isinstance(value, _Pairs):
        pairs = [(_node(key), _node(inner)) for key, inner in value]
        return yaml.MappingNode(PREFIX + "map", pairs)
    if isinstance(value, list):
        return yaml.SequenceNode(PREFIX + "seq", [_node(inner) for inner in value])
    if isinstance(value, _Number):
        kind = "int" if value.lstrip("-").isdigit() else "float"
        return yaml.ScalarNode(PREFIX + kind, str(value))
    if isinstance(value, str):
        return yaml.ScalarNode(PREFIX + "str", value, style='"')
    text = {True: "true", False: "false", None: "null"}[value]
    return yaml.ScalarNode(PREFIX + ("null" if value is None else "bool"), text)


def _is_null(node: yaml.Node | None) -> bool:
    return node is None or (
        isinstance(node, yaml.ScalarNode) and not node.style and node.value in _NULLS
    )


class _Reader:
    def __init__(self, descriptor: Descriptor, now: Callable[[], int]) -> None:
        self._root = descriptor
        self._now = now
        self._nodes = 0
        self.buffers: list[int] | None = None
        self.stamped = False

    def top(self, node: yaml.Node, message: Any) -> None:
        if not isinstance(node, yaml.MappingNode) and not has_own_form(self._root):
            name = self._root.full_name
            raise Error(
                "invalid_config", f"the value must be a map of fields of {name}, e.g. '{{x: 1}}'"
            )
        self._message(node, message, "", 0)

    def _fail(self, where: str, reason: str, advice: str = "") -> Error:
        return Error(
            "invalid_config",
            f"{where}: {reason}" if where else reason,
            self._root.full_name,
            advice,
        )

    def _count(self, where: str) -> None:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise self._fail(where, "the value has too many parts")

    def _message(self, node: yaml.Node, message: Any, where: str, depth: int) -> None:
        descriptor = message.DESCRIPTOR
        self._count(where)
        if depth > _DEEPEST:
            raise self._fail(where, f"the value is nested more than {_DEEPEST} deep")
        own_form = descriptor.full_name in OWN_FORM and descriptor.name != "Timestamp"
        is_now = isinstance(node, yaml.ScalarNode) and not node.style and node.value in _NOW
        if is_now and not own_form and not WRAPPER.fullmatch(descriptor.full_name):
            self._stamp(message, where)
        elif WRAPPER.fullmatch(descriptor.full_name) and not isinstance(node, yaml.MappingNode):
            self._field(descriptor.fields_by_name["value"], node, message, where, depth)
        elif descriptor.full_name in OWN_FORM and (
            not isinstance(node, yaml.MappingNode) or descriptor.name in ("Any", "Struct", "Value")
        ):
            self._own_form(node, message, where)
        elif isinstance(node, yaml.MappingNode):
            self._fields(node, message, where, depth)
        else:
            raise self._fail(where, f"expected a map of fields of {descriptor.full_name}")

    def _stamp(self, message: Any, where: str) -> None:
        descriptor = message.DESCRIPTOR
        if descriptor.full_name == "google.protobuf.Timestamp":
            message.FromNanoseconds(self._now())
        elif descriptor.name == "Header" and "stamp_ns" in descriptor.fields_by_name:
            message.stamp_ns = self._now()
        else:
            reason = f"'auto' fills headers and stamps, not a {descriptor.full_name}"
            raise self._fail(where, reason, "write its fields, e.g. {header: auto}")
        self.stamped = True

    def _fields(self, node: yaml.MappingNode, message: Any, where: str, depth: int) -> None:
        descriptor = message.DESCRIPTOR
        names = {field.json_name: field for field in descriptor.fields}
        names |= descriptor.fields_by_name
        seen: dict[str, str] = {}
        for key, value in self._pairs(node, where):
            field = names.get(key)
            if field is None:
                if not where and key in ("attached_buffers", "_meta"):
                    self._printed(key, value)
                    continue
                raise self._unknown(descriptor, key, where)
            group = field.containing_oneof
            for one in (field.name, f"oneof {group.name}" if group is not None else ""):
                if one and one in seen:
                    raise self._fail(where, f"both {seen[one]} and {key} are given: give one")
                seen[one] = key
            path = f"{where}.{field.name}" if where else field.name
            self._field(field, value, message, path, depth)

    def _unknown(self, descriptor: Descriptor, key: str, where: str) -> Error:
        known = [field.name for field in descriptor.fields]
        near = get_close_matches(key, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        fields = f"fields: {', '.join(known)}" if known else "the type has no fields"
        return self._fail(
            where, f"{descriptor.full_name} has no field {scalars.shown(key)}{hint}", fields
        )

    def _pairs(self, node: yaml.MappingNode, where: str) -> Iterator[tuple[str, yaml.Node]]:
        """Keys as text, each once. A key of the map itself overrides one that `<<` merges."""
        merged: list[tuple[str, yaml.Node]] = []
        own = set()
        for key, value in node.value:
            self._count(where)
            if not isinstance(key, yaml.ScalarNode):
                raise self._fail(where, "a key must be a name, not a list or a map")
            if key.value == "<<" and not key.style:
                maps = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for one in maps:
                    if not isinstance(one, yaml.MappingNode):
                        raise self._fail(where, "'<<' can only merge maps")
                    merged += self._pairs(one, where)
                continue
            name = self._text(key, where)
            if name in own:
                raise self._fail(where, f"the key {scalars.shown(name)} is given twice")
            own.add(name)
            yield name, value
        for name, value in merged:
            if name not in own:
                own.add(name)
                yield name, value

    def _printed(self, key: str, value: yaml.Node) -> None:
        """Reads the content that `echo --json` prints in addition to the fields."""
        if key == "attached_buffers":
            items = value.value if isinstance(value, yaml.SequenceNode) else []
            try:
                self.buffers = [scalars.integer(one.value, 0, 2**63 - 1) for one in items]
            except (TypeError, ValueError) as error:
                raise self._fail(
                    key, "expected a list of sizes, in the format of echo --json"
                ) from error

    def _field(self, field: F, node: yaml.Node, message: Any, where: str, depth: int) -> None:
        if is_map(field):
            self._map(field, node, getattr(message, field.name), where, depth)
        elif is_repeated(field):
            self._list(field, node, getattr(message, field.name), where, depth)
        elif field.message_type is not None:
            if _is_null(node) and field.message_type.name != "Value":
                return
            inner = getattr(message, field.name)
            inner.SetInParent()
            self._message(node, inner, where, depth + 1)
        elif not (_is_null(node) and not _takes_null(field)):
            setattr(message, field.name, self._scalar(field, node, where))

    def _list(self, field: F, node: yaml.Node, items: Any, where: str, depth: int) -> None:
        if _is_null(node):
            return
        if not isinstance(node, yaml.SequenceNode):
            raise self._fail(where, "expected a list, e.g. [1, 2]")
        for i, one in enumerate(node.value):
            path = f"{where}[{i}]"
            if isinstance(one, yaml.ScalarNode) and not one.style and MORE.fullmatch(one.value):
                raise self._shortened(path)
            if field.message_type is not None:
                self._message(one, items.add(), path, depth + 1)
            else:
                items.append(self._scalar(field, one, path))

    def _map(self, field: F, node: yaml.Node, items: Any, where: str, depth: int) -> None:
        if _is_null(node):
            return
        if not isinstance(node, yaml.MappingNode):
            raise self._fail(where, "expected a map, e.g. {a: 1}")
        key_field, value_field = map_fields(field)
        for text, value in self._pairs(node, where):
            path = f"{where}[{text}]"
            key = self._convert(key_field, text, path)
            if key in items:
                raise self._fail(where, f"the key {text} is given twice")
            if value_field.message_type is not None:
                items[key].SetInParent()
                self._message(value, items[key], path, depth + 1)
            else:
                items[key] = self._scalar(value_field, value, path)

    def _scalar(self, field: F, node: yaml.Node, where: str) -> Any:
        self._count(where)
        if field.type == F.TYPE_BYTES and isinstance(node, yaml.SequenceNode):
            return self._byte_list(node, where)
        if not isinstance(node, yaml.ScalarNode):
            kind = "a list" if isinstance(node, yaml.SequenceNode) else "a map"
            raise self._fail(where, f"expected {_word(field)}, found {kind}")
        if field.type == F.TYPE_INT64 and field.name == "stamp_ns" and node.value in _NOW:
            self.stamped = True
            return self._now()
        if field.cpp_type == F.CPPTYPE_BOOL and node.style:
            raise self._fail(where, f"expected true or false without quotes, found '{node.value}'")
        return self._convert(field, self._text(node, where), where)

    def _byte_list(self, node: yaml.SequenceNode, where: str) -> bytes:
        """Reads [1, 255], or [-1, 100] from an int8[] of ROS."""
        values = []
        for i, one in enumerate(node.value):
            self._count(where)
            try:
                values.append(scalars.integer(one.value, -128, 255) & 0xFF)
            except (TypeError, ValueError) as error:
                raise self._fail(f"{where}[{i}]", f"expected a byte: {error}") from error
        return bytes(values)

    def _text(self, node: yaml.ScalarNode, where: str) -> str:
        if node.tag == SHORTENED:
            raise self._shortened(where)
        if node.tag not in _TAGS and node.tag != "!":
            raise self._fail(where, f"the tag {node.tag} is not supported")
        try:
            # JSON writes a character beyond 16 bits as two halves, and YAML reads each half alone.
            text: str = node.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise self._fail(where, "the text has half of a surrogate pair") from error
        return text

    def _shortened(self, where: str) -> Error:
        return self._fail(where, "the printed text was shortened", "print it with --full")

    def _convert(self, field: F, text: str, where: str) -> Any:
        try:
            if field.cpp_type in _INTEGERS:
                return scalars.integer(text, *_INTEGERS[field.cpp_type])
            if field.cpp_type in REALS:
                return scalars.real(text, single=field.cpp_type == F.CPPTYPE_FLOAT)
            if field.cpp_type == F.CPPTYPE_BOOL:
                return scalars.boolean(text)
            if field.enum_type is not None:
                return _enum(field.enum_type, text)
            return scalars.data(text) if field.type == F.TYPE_BYTES else text
        except ValueError as error:
            raise self._fail(where, str(error)) from error

    def _own_form(self, node: yaml.Node, message: Any, where: str) -> None:
        try:
            json_format.ParseDict(self._plain(node, where), message)
        except json_format.Error as error:
            raise self._fail(where, str(error).splitlines()[0]) from error

    def _plain(self, node: yaml.Node, where: str) -> Any:
        """A value without a declared type, with the rules of JSON."""
        self._count(where)
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(one, where) for one in node.value]
        if isinstance(node, yaml.MappingNode):
            return {key: self._plain(value, where) for key, value in self._pairs(node, where)}
        assert isinstance(node, yaml.ScalarNode)
        text = self._text(node, where)
        kind = node.tag.removeprefix(PREFIX)
        try:
            if kind == "null":
                return None
            if kind == "bool":
                return scalars.boolean(text)
            if kind == "int":
                return scalars.integer(text, -(2**63), 2**64 - 1)
            return scalars.real(text, single=False) if kind == "float" else text
        except ValueError as error:
            raise self._fail(where, str(error)) from error


def _takes_null(field: F) -> bool:
    """True if `null` is a text of the field, so it is not absent."""
    return field.type == F.TYPE_STRING


def _word(field: F) -> str:
    if field.cpp_type in _INTEGERS:
        return "a whole number"
    if field.cpp_type in REALS:
        return "a number"
    if field.cpp_type == F.CPPTYPE_BOOL:
        return "true or false"
    if field.enum_type is not None:
        return f"a name of {field.enum_type.full_name}"
    return "bytes in base64" if field.type == F.TYPE_BYTES else "a text"


def _enum(kind: EnumDescriptor, text: str) -> int:
    value = kind.values_by_name.get(text)
    if value is not None:
        return int(value.number)
    names = ", ".join(kind.values_by_name)
    try:
        number = scalars.integer(text, -(2**31), 2**31 - 1)
    except ValueError as error:
        if "does not fit" in str(error):
            raise
        near = get_close_matches(text, list(kind.values_by_name), 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise ValueError(f"{scalars.shown(text)} is not one of {names}{hint}") from error
    if kind.is_closed and number not in kind.values_by_number:
        raise ValueError(f"{number} is not the number of one of {names}")
    return number
