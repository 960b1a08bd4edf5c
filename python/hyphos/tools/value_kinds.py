"""Kinds of protobuf fields, for the reader and the printer of values."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

F = FieldDescriptor
WIDE = (F.CPPTYPE_INT64, F.CPPTYPE_UINT64)
REALS = (F.CPPTYPE_FLOAT, F.CPPTYPE_DOUBLE)
PREFIX = "tag:yaml.org,2002:"
SHORTENED = "!shortened"  # the tag of a shortened text
MORE = re.compile(r"… \d+ more")  # in place of the rest of a list
# Types of google.protobuf with a special JSON format.
OWN_FORM = {
    f"google.protobuf.{name}"
    for name in ("Timestamp", "Duration", "FieldMask", "Any", "Struct", "Value", "ListValue")
}
UNTYPED = {f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue")}
WRAPPER = re.compile(r"google\.protobuf\.(Double|Float|U?Int(32|64)|Bool|String|Bytes)Value")


def has_own_form(descriptor: Descriptor) -> bool:
    name = descriptor.full_name
    return name in OWN_FORM or WRAPPER.fullmatch(name) is not None


def is_repeated(field: F) -> bool:
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    old: Any = field  # protobuf before 6.31
    return bool(old.label == F.LABEL_REPEATED)


def map_fields(field: F) -> tuple[F, F]:
    assert field.message_type is not None
    fields = field.message_type.fields_by_name
    return fields["key"], fields["value"]


def is_map(field: F) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry
