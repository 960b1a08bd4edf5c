"""Messages as text. One reader, by the declared type of each field, and one printer, whose text the
reader takes: what any command prints, every command reads.

YAML (of which JSON is a part) gives the structure only. Whether `yes`, `007` or `.nan` is a text, a
number or a truth value is decided by the field that it is for.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import yaml
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from hyphos._errors import Error
from hyphos.tools import scalars

F = FieldDescriptor
_INTEGERS = {
    F.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    F.CPPTYPE_UINT32: (0, 2**32 - 1),
    F.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    F.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_WIDE = (F.CPPTYPE_INT64, F.CPPTYPE_UINT64)
_REALS = (F.CPPTYPE_FLOAT, F.CPPTYPE_DOUBLE)
_NULLS = ("", "~", "null", "Null", "NULL")
_NOW = ("auto", "now")
_PREFIX = "tag:yaml.org,2002:"
_TAGS = {
    _PREFIX + name
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
_SHORTENED = "!shortened"
_BUFFER = re.compile(r"^# buffer \d+: ([\d,]+) bytes$", re.MULTILINE)  # as echo prints it
_MORE = re.compile(r"… \d+ more")
_BREAKS = re.compile("[\x00-\x1f\x85\u2028\u2029\ufeff]")  # which only quotes keep
_DEEPEST = 100  # as protobuf reads
_MOST_NODES = 10_000_000  # after expansion of aliases
_SHORT_LIST = 12  # longer arrays are shortened on request
_SHORT_TEXT = 256
_LONG_LINE = 80
# Types of google.protobuf with a form of their own in JSON.
_OWN_FORM = {
    f"google.protobuf.{name}"
    for name in ("Timestamp", "Duration", "FieldMask", "Any", "Struct", "Value", "ListValue")
}
_UNTYPED = {f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue")}
_WRAPPER = re.compile(r"google\.protobuf\.(Double|Float|U?Int(32|64)|Bool|String|Bytes)Value")


@dataclass
class Read:
    """A message from text, and what the text has besides."""

    message: Any
    buffers: list[int] | None  # sizes of attached buffers that a printed message had
    stamped: bool  # `auto` or `now` was there: a message that is sent again needs a new time


def read_message(cls: Any, text: str, now: Callable[[], int] = time.time_ns) -> Read:
    """The message that YAML or JSON describes. Error names the field and what fits there."""
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
        try:  # JSON has no limit on the length of a key, and pairs of surrogates
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
        raise Error("invalid_config", f"the value has {len(documents)} messages; give one")
    return documents[0] if documents else None


class _Number(str):
    """A number of JSON as it was written."""


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON, repeated keys included."""


_JSON = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=_Number,
    parse_float=_Number,
    parse_constant=_Number,
)


def _node(value: Any) -> yaml.Node:
    """JSON as YAML's composer would give it."""
    if isinstance(value, _Pairs):
        pairs = [(_node(key), _node(inner)) for key, inner in value]
        return yaml.MappingNode(_PREFIX + "map", pairs)
    if isinstance(value, list):
        return yaml.SequenceNode(_PREFIX + "seq", [_node(inner) for inner in value])
    if isinstance(value, _Number):
        kind = "int" if value.lstrip("-").isdigit() else "float"
        return yaml.ScalarNode(_PREFIX + kind, str(value))
    if isinstance(value, str):
        return yaml.ScalarNode(_PREFIX + "str", value, style='"')
    text = {True: "true", False: "false", None: "null"}[value]
    return yaml.ScalarNode(_PREFIX + ("null" if value is None else "bool"), text)


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
        if not isinstance(node, yaml.MappingNode) and not _has_own_form(self._root):
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
        own_form = descriptor.full_name in _OWN_FORM and descriptor.name != "Timestamp"
        is_now = isinstance(node, yaml.ScalarNode) and not node.style and node.value in _NOW
        if is_now and not own_form and not _WRAPPER.fullmatch(descriptor.full_name):
            self._stamp(message, where)
        elif _WRAPPER.fullmatch(descriptor.full_name) and not isinstance(node, yaml.MappingNode):
            self._field(descriptor.fields_by_name["value"], node, message, where, depth)
        elif descriptor.full_name in _OWN_FORM and (
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
            reason = f"'auto' fills headers and stamps, this is a {descriptor.full_name}"
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
                    raise self._fail(where, f"{key} is given besides {seen[one]}; give one")
                seen[one] = key
            path = f"{where}.{field.name}" if where else field.name
            self._field(field, value, message, path, depth)

    def _unknown(self, descriptor: Descriptor, key: str, where: str) -> Error:
        known = [field.name for field in descriptor.fields]
        near = get_close_matches(key, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        fields = f"its fields are {', '.join(known)}" if known else "it has no fields"
        return self._fail(
            where, f"{descriptor.full_name} has no field {scalars.shown(key)}{hint}", fields
        )

    def _pairs(self, node: yaml.MappingNode, where: str) -> Iterator[tuple[str, yaml.Node]]:
        """Keys as text, each once; what `<<` merges comes where the map itself has no such key."""
        merged: list[tuple[str, yaml.Node]] = []
        own = set()
        for key, value in node.value:
            self._count(where)
            if not isinstance(key, yaml.ScalarNode):
                raise self._fail(where, "a key is a name, not a list or a map")
            if key.value == "<<" and not key.style:
                maps = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for one in maps:
                    if not isinstance(one, yaml.MappingNode):
                        raise self._fail(where, "'<<' merges maps")
                    merged += self._pairs(one, where)
                continue
            name = self._text(key, where)
            if name in own:
                raise self._fail(where, f"the key {scalars.shown(name)} stands twice")
            own.add(name)
            yield name, value
        for name, value in merged:
            if name not in own:
                own.add(name)
                yield name, value

    def _printed(self, key: str, value: yaml.Node) -> None:
        """What `echo --json` prints besides the fields."""
        if key == "attached_buffers":
            items = value.value if isinstance(value, yaml.SequenceNode) else []
            try:
                self.buffers = [scalars.integer(one.value, 0, 2**63 - 1) for one in items]
            except (TypeError, ValueError) as error:
                raise self._fail(key, "expected sizes, as echo --json prints them") from error

    def _field(self, field: F, node: yaml.Node, message: Any, where: str, depth: int) -> None:
        if _is_map(field):
            self._map(field, node, getattr(message, field.name), where, depth)
        elif _is_repeated(field):
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
            raise self._fail(where, "expected a list, as in [1, 2]")
        for i, one in enumerate(node.value):
            path = f"{where}[{i}]"
            if isinstance(one, yaml.ScalarNode) and not one.style and _MORE.fullmatch(one.value):
                raise self._shortened(path)
            if field.message_type is not None:
                self._message(one, items.add(), path, depth + 1)
            else:
                items.append(self._scalar(field, one, path))

    def _map(self, field: F, node: yaml.Node, items: Any, where: str, depth: int) -> None:
        if _is_null(node):
            return
        if not isinstance(node, yaml.MappingNode):
            raise self._fail(where, "expected a map, as in {a: 1}")
        key_field, value_field = _map_fields(field)
        for text, value in self._pairs(node, where):
            path = f"{where}[{text}]"
            key = self._convert(key_field, text, path)
            if key in items:
                raise self._fail(where, f"the key {text} stands twice")
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
        """[1, 255], or [-1, 100] as a map of ROS has it."""
        values = []
        for i, one in enumerate(node.value):
            self._count(where)
            try:
                values.append(scalars.integer(one.value, -128, 255) & 0xFF)
            except (TypeError, ValueError) as error:
                raise self._fail(f"{where}[{i}]", f"expected a byte: {error}") from error
        return bytes(values)

    def _text(self, node: yaml.ScalarNode, where: str) -> str:
        if node.tag == _SHORTENED:
            raise self._shortened(where)
        if node.tag not in _TAGS and node.tag != "!":
            raise self._fail(where, f"the tag {node.tag} has no meaning here")
        try:
            # JSON writes what is beyond 16 bits as two halves, and YAML reads them one by one.
            text: str = node.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise self._fail(where, "the text has half of a surrogate pair") from error
        return text

    def _shortened(self, where: str) -> Error:
        return self._fail(
            where, "this was shortened when it was printed", "hyphos channel echo --full"
        )

    def _convert(self, field: F, text: str, where: str) -> Any:
        try:
            if field.cpp_type in _INTEGERS:
                return scalars.integer(text, *_INTEGERS[field.cpp_type])
            if field.cpp_type in _REALS:
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
        """A value without a declared type: as JSON has it."""
        self._count(where)
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(one, where) for one in node.value]
        if isinstance(node, yaml.MappingNode):
            return {key: self._plain(value, where) for key, value in self._pairs(node, where)}
        assert isinstance(node, yaml.ScalarNode)
        text = self._text(node, where)
        kind = node.tag.removeprefix(_PREFIX)
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


def _has_own_form(descriptor: Descriptor) -> bool:
    name = descriptor.full_name
    return name in _OWN_FORM or _WRAPPER.fullmatch(name) is not None


def _is_repeated(field: F) -> bool:
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    old: Any = field  # protobuf before 6.31
    return bool(old.label == F.LABEL_REPEATED)


def _map_fields(field: F) -> tuple[F, F]:
    assert field.message_type is not None
    fields = field.message_type.fields_by_name
    return fields["key"], fields["value"]


def _is_map(field: F) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _takes_null(field: F) -> bool:
    """Whether `null` is a value of the field: it is a text, and nothing else."""
    return field.type == F.TYPE_STRING


def _word(field: F) -> str:
    if field.cpp_type in _INTEGERS:
        return "a whole number"
    if field.cpp_type in _REALS:
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
        raise ValueError(f"{scalars.shown(text)} is none of {names}{hint}") from error
    if kind.is_closed and number not in kind.values_by_number:
        raise ValueError(f"{number} is the number of none of {names}")
    return number


def to_plain(message: Any, *, as_json: bool) -> Any:
    """The fields that are set, as values that print_yaml() or json writes."""
    descriptor = message.DESCRIPTOR
    if _WRAPPER.fullmatch(descriptor.full_name):
        return _plain_scalar(descriptor.fields_by_name["value"], message.value, as_json)
    if descriptor.full_name in _UNTYPED:
        return _plain_untyped(message)
    if descriptor.full_name in _OWN_FORM:
        try:
            return json_format.MessageToDict(message, preserving_proto_field_name=True)
        except (json_format.Error, ValueError, TypeError):
            pass  # a value that the form cannot hold, or an Any of an unknown type: its fields
    out: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.is_extension:
            continue
        if _is_map(field):
            out[field.name] = _plain_map(field, value, as_json)
        elif _is_repeated(field):
            out[field.name] = [_plain_value(field, one, as_json) for one in value]
        else:
            out[field.name] = _plain_value(field, value, as_json)
    return out


def _plain_untyped(message: Any) -> Any:
    """A google.protobuf.Value, Struct or ListValue. A number may be NaN, which ParseDict takes."""
    name = message.DESCRIPTOR.name
    if name == "Struct":
        return {key: _plain_untyped(message.fields[key]) for key in sorted(message.fields)}
    if name == "ListValue":
        return [_plain_untyped(one) for one in message.values]
    kind = message.WhichOneof("kind")
    if kind in (None, "null_value"):
        return None
    inner = getattr(message, kind)
    if kind in ("struct_value", "list_value"):
        return _plain_untyped(inner)
    return int(inner) if kind == "number_value" and _is_whole(inner) else inner


def _is_whole(number: float) -> bool:
    return number.is_integer() and abs(number) < 2**53 and (number != 0 or str(number) == "0.0")


def _plain_map(field: F, items: Any, as_json: bool) -> dict[Any, Any]:
    key_field, value_field = _map_fields(field)
    out = {}
    for key in sorted(items):
        name = key
        if as_json or key_field.cpp_type == F.CPPTYPE_BOOL:
            name = str(key).lower() if isinstance(key, bool) else str(key)
        out[name] = _plain_value(value_field, items[key], as_json)
    return out


def _plain_value(field: F, value: Any, as_json: bool) -> Any:
    if field.message_type is not None:
        return to_plain(value, as_json=as_json)
    return _plain_scalar(field, value, as_json)


def _plain_scalar(field: F, value: Any, as_json: bool) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else int(value)
    if field.type == F.TYPE_BYTES:
        return base64.b64encode(value).decode()
    if field.cpp_type in _REALS:
        number = scalars.shortest(value) if field.cpp_type == F.CPPTYPE_FLOAT else float(value)
        if as_json and not abs(number) < float("inf"):
            return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"  # noqa: PLR0124
        return number
    if as_json and field.cpp_type in _WIDE:
        return str(value)  # JSON's numbers end at 2^53
    return value


class _Cut(str):
    """A text that was shortened: of no use to the reader."""


class _Mark(str):
    """Stands for the rest of a list."""


def shorten(value: Any) -> Any:
    """Long lists and texts without their ends, marked so that the reader refuses them."""
    if isinstance(value, dict):
        return {key: shorten(inner) for key, inner in value.items()}
    if isinstance(value, list):
        kept = value if len(value) <= _SHORT_LIST else value[: _SHORT_LIST - 2]
        rest = [_Mark(f"… {len(value) - len(kept)} more")] if len(kept) < len(value) else []
        return [shorten(inner) for inner in kept] + rest
    if isinstance(value, str) and len(value) > _SHORT_TEXT:
        return _Cut(f"{value[:_SHORT_TEXT]}… {len(value) - _SHORT_TEXT} more")
    return value


class _Dumper(yaml.SafeDumper):
    """Block style for structure, one line for lists of numbers."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _represent_list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.Node:
    flat = all(not isinstance(inner, dict | list) for inner in value)
    return dumper.represent_sequence(_PREFIX + "seq", value, flow_style=flat)


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    quoted = _MORE.fullmatch(value) or len(value) > _LONG_LINE or _BREAKS.search(value)
    return dumper.represent_scalar(_PREFIX + "str", value, style='"' if quoted else None)


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(_Cut, lambda d, v: d.represent_scalar(_SHORTENED, str(v), style='"'))
_Dumper.add_representer(_Mark, lambda d, v: d.represent_scalar(_PREFIX + "str", str(v)))


def print_yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text.rstrip("\n").removesuffix("\n...")


def print_json(value: Any) -> str:
    # YAML, which the reader takes JSON for, has no DEL but as an escape.
    return json.dumps(value).replace("\x7f", "\\u007f")
