"""A message with every kind of protobuf field, and values for it."""

from __future__ import annotations

import random
import struct
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    "double": Field.TYPE_DOUBLE,
    "float": Field.TYPE_FLOAT,
    "int64": Field.TYPE_INT64,
    "uint64": Field.TYPE_UINT64,
    "int32": Field.TYPE_INT32,
    "fixed64": Field.TYPE_FIXED64,
    "fixed32": Field.TYPE_FIXED32,
    "bool": Field.TYPE_BOOL,
    "string": Field.TYPE_STRING,
    "bytes": Field.TYPE_BYTES,
    "uint32": Field.TYPE_UINT32,
    "enum": Field.TYPE_ENUM,
    "sfixed32": Field.TYPE_SFIXED32,
    "sfixed64": Field.TYPE_SFIXED64,
    "sint32": Field.TYPE_SINT32,
    "sint64": Field.TYPE_SINT64,
}
KEYS = ("int64", "uint64", "int32", "uint32", "bool", "string", "sint64")
GOOGLE = (
    "Timestamp",
    "Duration",
    "Struct",
    "Value",
    "ListValue",
    "FieldMask",
    "DoubleValue",
    "Int64Value",
    "StringValue",
    "BoolValue",
    "BytesValue",
    "FloatValue",
)
# Texts that YAML reads as another type, or that are hard to write.
TEXTS = [
    "", " ", "yes", "no", "on", "off", "y", "true", "False", "NULL", "null", "~", "1", "007",
    "0x1f", "1e3", "-1", "1_000", "1:30", "2024-01-01", "2024-01-01T00:00:00Z", ".nan",
    ".inf", "-.inf", "NaN", "Infinity", "auto", "now", "a: b",
    "- a", "? a", "#a", "a #b", "{a: 1}", "[1]", "&a",
    "*a", "!a", "!!str a", "%a", "@a", "`a", "|", ">", "'", '"', "'a'", '"a"', "\\", "\\n", "=",
    "<<", "---", "...", "a\nb", "\n", " a", "a ", "a\n", "\na", "a\n\nb", "\t", "\r", "a\r\nb",
    "\0", "\x07", "\x1b[1m", "\x7f", "\x80", "\x85", "\xa0", "é", "ü: ö", "日本語",
    "\u2028",
    "\ufeff", "\ufffd", "😀", "𝄞 a: b", "… 3 more",
    "x… 3 more", "-", ",", "a, b", "x" * 90, "word " * 60,
    " lead\n  more\n\n trail ", "é" * 300, "# 3 bytes", "00000000  61", "key: 'v' # c",
]  # fmt: skip


def _enum() -> descriptor_pb2.EnumDescriptorProto:
    kind = descriptor_pb2.EnumDescriptorProto(name="Mode")
    for number, name in enumerate(("UNSET", "ON", "NO", "NULL", "FAST")):
        kind.value.add(name=name, number=number)
    kind.value.add(name="BACK", number=-7)
    return kind


def make_class() -> Any:
    """The class of values.All, in a separate pool."""
    file = descriptor_pb2.FileDescriptorProto(
        name="values.proto", package="values", syntax="proto3"
    )
    file.enum_type.append(_enum())
    one = file.message_type.add(name="All")
    number = 0

    def add(name: str, kind: int, label: int = Field.LABEL_OPTIONAL, type_name: str = "") -> Any:
        nonlocal number
        number += 1
        named = type_name or (".values.Mode" if kind == Field.TYPE_ENUM else "")
        made = one.field.add(name=name, number=number, type=kind, label=label)
        if named:
            made.type_name = named
        return made

    for name, kind in SCALARS.items():
        add(f"one_{name}", kind)
        add(f"many_{name}", kind, Field.LABEL_REPEATED)
        made = add(f"maybe_{name}", kind)
        made.proto3_optional = True
    one.oneof_decl.add(name="choice")
    for name in ("string", "int64", "double", "bool"):
        add(f"pick_{name}", SCALARS[name]).oneof_index = 0
    for made in (field for field in one.field if field.proto3_optional):
        made.oneof_index = len(one.oneof_decl)
        one.oneof_decl.add(name=f"_{made.name}")
    for key in KEYS:
        for value in ("double", "string", "uint64", "bytes", "enum", "All"):
            entry = one.nested_type.add(name=f"Map{key.title()}{value.title()}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=SCALARS[key], label=Field.LABEL_OPTIONAL)
            inner = entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL)
            inner.type = SCALARS.get(value, Field.TYPE_MESSAGE)
            if value in ("All", "enum"):
                inner.type_name = ".values.All" if value == "All" else ".values.Mode"
            add(
                f"map_{key}_{value.lower()}",
                Field.TYPE_MESSAGE,
                Field.LABEL_REPEATED,
                f".values.All.{entry.name}",
            )
    add("one_all", Field.TYPE_MESSAGE, type_name=".values.All")
    add("many_all", Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".values.All")
    for name in GOOGLE:
        add(f"google_{name.lower()}", Field.TYPE_MESSAGE, type_name=f".google.protobuf.{name}")
    pool = descriptor_pool.DescriptorPool()
    default = descriptor_pool.Default()
    from google.protobuf import (  # noqa: F401, PLC0415  # they register themselves
        duration_pb2,
        field_mask_pb2,
        struct_pb2,
        timestamp_pb2,
        wrappers_pb2,
    )

    for part in ("timestamp", "duration", "struct", "field_mask", "wrappers"):
        name = f"google/protobuf/{part}.proto"
        file.dependency.append(name)
        pool.AddSerializedFile(default.FindFileByName(name).serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("values.All"))


def some_value(rng: random.Random, kind: str) -> Any:  # noqa: PLR0911
    """A value of the kind, often at a limit."""
    if kind in ("double", "float"):
        edges = [
            0.0,
            -0.0,
            float("nan"),
            float("inf"),
            float("-inf"),
            1e22,
            -1e-7,
            0.1,
            2.0**53,
            5e-324,
        ]
        if kind == "double":
            return rng.choice([*edges, 1.7976931348623157e308, rng.uniform(-1e3, 1e3)])
        bits = rng.getrandbits(32).to_bytes(4, "little")
        value = struct.unpack("<f", bits)[0]
        value = value if value == value else float("nan")  # text has one NaN  # noqa: PLR0124
        return rng.choice([*edges, 3.4028234663852886e38, 1e-45, value])
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "string":
        return rng.choice([*TEXTS, "".join(map(chr, rng.choices(range(1, 0xD7FF), k=5)))])
    if kind == "bytes":
        return rng.choice([b"", b"\0", bytes(range(256)), rng.randbytes(rng.randint(0, 400))])
    if kind == "enum":
        return rng.choice([0, 1, 2, 3, 4, -7, 99, -(2**31)])
    size = 64 if "64" in kind else 32
    least, most = (0, 2**size - 1) if kind[0] in "uf" else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)
    return rng.choice([least, most, 0, 1, most - 1, rng.randint(least, most), min(most, 2**53 + 1)])


def some_message(rng: random.Random, cls: Any, depth: int = 0) -> Any:
    """A message with some of the fields set."""
    message = cls()
    for name in SCALARS:
        if rng.random() < 0.25:
            setattr(message, f"one_{name}", some_value(rng, name))
        if rng.random() < 0.1:
            setattr(message, f"maybe_{name}", some_value(rng, name))
        if rng.random() < 0.25:
            values = [some_value(rng, name) for _ in range(rng.randint(0, 5))]
            getattr(message, f"many_{name}").extend(values)
    if rng.random() < 0.3:
        name = rng.choice(["string", "int64", "double", "bool"])
        setattr(message, f"pick_{name}", some_value(rng, name))
    for key in KEYS:
        for value in ("double", "string", "uint64", "bytes", "enum"):
            if rng.random() < 0.1:
                getattr(message, f"map_{key}_{value}")[some_value(rng, key)] = some_value(
                    rng, value
                )
    if depth < 3:
        if rng.random() < 0.4:
            message.one_all.CopyFrom(some_message(rng, cls, depth + 1))
        if rng.random() < 0.3:
            message.many_all.add().CopyFrom(some_message(rng, cls, depth + 1))
            message.many_all.add()
        if rng.random() < 0.2:
            message.map_string_all[some_value(rng, "string")].CopyFrom(
                some_message(rng, cls, depth + 1)
            )
    _google(rng, message)
    return message


def _google(rng: random.Random, message: Any) -> None:
    if rng.random() < 0.2:
        message.google_timestamp.FromNanoseconds(rng.randint(0, 4 * 10**18))
        message.google_duration.FromNanoseconds(rng.randint(-(10**15), 10**15))
        message.google_fieldmask.paths.append("one.two")
    if rng.random() < 0.2:
        message.google_struct.update({"a": 1.5, "b": ["yes", None, True], "null": {"~": "007"}})
        message.google_value.string_value = some_value(rng, "string")
        message.google_struct["number"] = some_value(rng, "double")
        message.google_listvalue.extend([1.0, "x", False])
    if rng.random() < 0.2:
        message.google_doublevalue.value = some_value(rng, "double")
        message.google_floatvalue.value = some_value(rng, "float")
        message.google_int64value.value = some_value(rng, "int64")
        message.google_stringvalue.value = some_value(rng, "string")
        message.google_boolvalue.value = some_value(rng, "bool")
        message.google_bytesvalue.value = some_value(rng, "bytes")
