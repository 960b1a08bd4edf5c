"""Prints messages as text that read_message() of hyphos.tools.values accepts."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import yaml
from google.protobuf import json_format

from hyphos.tools import scalars
from hyphos.tools.value_kinds import (
    MORE,
    OWN_FORM,
    PREFIX,
    REALS,
    SHORTENED,
    UNTYPED,
    WIDE,
    WRAPPER,
    F,
    is_map,
    is_repeated,
    map_fields,
)

_BREAKS = re.compile("[\x00-\x1f\x85\u2028\u2029\ufeff]")  # only quoted text keeps them
_SHORT_LIST = 12  # longer arrays are shortened on request
_SHORT_TEXT = 256
_LONG_LINE = 80


def to_plain(message: Any, *, as_json: bool) -> Any:
    """The fields that are set, as values for print_yaml() or json."""
    descriptor = message.DESCRIPTOR
    if WRAPPER.fullmatch(descriptor.full_name):
        return _plain_scalar(descriptor.fields_by_name["value"], message.value, as_json)
    if descriptor.full_name in UNTYPED:
        return _plain_untyped(message)
    if descriptor.full_name in OWN_FORM:
        try:
            return json_format.MessageToDict(message, preserving_proto_field_name=True)
        except (json_format.Error, ValueError, TypeError):
            pass  # a value that JSON cannot hold, or an Any of an unknown type: print the fields
    out: dict[str, Any] = {}
    for field, value in message.ListFields():
        if not field.is_extension:
            out[field.name] = plain_field(field, value, as_json=as_json)
    return out


def plain_field(field: F, value: Any, *, one: bool = False, as_json: bool) -> Any:
    """The value of a field, as in to_plain(). With `one`, an element of a repeated field."""
    if not one and is_map(field):
        return _plain_map(field, value, as_json)
    if not one and is_repeated(field):
        return [_plain_value(field, element, as_json) for element in value]
    return _plain_value(field, value, as_json)


def _plain_untyped(message: Any) -> Any:
    """A google.protobuf.Value, Struct or ListValue. Numbers may be NaN: ParseDict accepts it."""
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
    key_field, value_field = map_fields(field)
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
    if field.cpp_type in REALS:
        number = scalars.shortest(value) if field.cpp_type == F.CPPTYPE_FLOAT else float(value)
        if as_json and not abs(number) < float("inf"):
            return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"  # noqa: PLR0124
        return number
    if as_json and field.cpp_type in WIDE:
        return str(value)  # JSON numbers are exact up to 2^53
    return value


class _Cut(str):
    """A shortened text. The reader refuses it."""


class _Mark(str):
    """Stands for the rest of a list."""


def shorten(value: Any) -> Any:
    """Shortens long lists and texts, with marks that the reader refuses."""
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
    return dumper.represent_sequence(PREFIX + "seq", value, flow_style=flat)


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    quoted = MORE.fullmatch(value) or len(value) > _LONG_LINE or _BREAKS.search(value)
    return dumper.represent_scalar(PREFIX + "str", value, style='"' if quoted else None)


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(_Cut, lambda d, v: d.represent_scalar(SHORTENED, str(v), style='"'))
_Dumper.add_representer(_Mark, lambda d, v: d.represent_scalar(PREFIX + "str", str(v)))


def print_yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text.rstrip("\n").removesuffix("\n...")


def print_json(value: Any) -> str:
    # YAML, with which the reader parses JSON, accepts DEL only as an escape.
    return json.dumps(value).replace("\x7f", "\\u007f")
