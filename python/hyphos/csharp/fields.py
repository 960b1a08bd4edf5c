"""C# code for one field of a message: declaration, size, write, read and clear."""

from __future__ import annotations

from dataclasses import dataclass, field

from google.protobuf.descriptor import FieldDescriptor as Field

from hyphos.csharp.naming import type_name

_RUNTIME = "global::Hyphos"
_SIZE = f"{_RUNTIME}.ProtoSize"
_LENGTH, _VARINT, _WIRE_64, _WIRE_32 = 2, 0, 1, 5


@dataclass(frozen=True)
class Scalar:
    """A protobuf scalar type. `{v}` stands for the value."""

    csharp: str
    wire: int
    size: str  # bytes of one value
    write: str
    read: str
    bulk: str = ""  # function that copies many values at once
    is_set: str = "{v} != 0"

    @property
    def fixed(self) -> bool:
        return self.size.isdigit()


def _varint(csharp: str, wide: str, read: str, is_set: str = "{v} != 0") -> Scalar:
    size = f"{_SIZE}.Varint({wide})"
    return Scalar(csharp, _VARINT, size, f"writer.Varint({wide})", read, is_set=is_set)


_NOT_ZERO = f"!{_SIZE}.IsZero({{v}})"
_ZIGZAG = f"{_SIZE}.ZigZag({{v}})"
SCALARS = {
    Field.TYPE_DOUBLE: Scalar(
        "double", _WIRE_64, "8", "writer.Double({v})", "reader.Double()", "Packed", _NOT_ZERO
    ),
    Field.TYPE_FLOAT: Scalar(
        "float", _WIRE_32, "4", "writer.Float({v})", "reader.Float()", "Packed", _NOT_ZERO
    ),
    Field.TYPE_INT64: _varint("long", "(ulong){v}", "(long)reader.Varint()"),
    Field.TYPE_UINT64: _varint("ulong", "{v}", "reader.Varint()"),
    Field.TYPE_INT32: _varint("int", "(ulong)(long){v}", "(int)reader.Varint()"),
    Field.TYPE_UINT32: _varint("uint", "(ulong){v}", "(uint)reader.Varint()"),
    Field.TYPE_SINT32: _varint("int", _ZIGZAG, "(int)reader.ZigZag()"),
    Field.TYPE_SINT64: _varint("long", _ZIGZAG, "reader.ZigZag()"),
    Field.TYPE_BOOL: _varint("bool", "{v} ? 1UL : 0UL", "reader.Varint() != 0", "{v}"),
    Field.TYPE_FIXED64: Scalar(
        "ulong", _WIRE_64, "8", "writer.Fixed64({v})", "reader.Fixed64()", "PackedFixed"
    ),
    Field.TYPE_FIXED32: Scalar(
        "uint", _WIRE_32, "4", "writer.Fixed32({v})", "reader.Fixed32()", "PackedFixed"
    ),
    Field.TYPE_SFIXED64: Scalar(
        "long", _WIRE_64, "8", "writer.Fixed64((ulong){v})", "(long)reader.Fixed64()", "PackedFixed"
    ),
    Field.TYPE_SFIXED32: Scalar(
        "int", _WIRE_32, "4", "writer.Fixed32((uint){v})", "(int)reader.Fixed32()", "PackedFixed"
    ),
}


@dataclass
class Parts:
    """Lines for each part of a class."""

    declare: list[str] = field(default_factory=list)
    size: list[str] = field(default_factory=list)
    write: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    clear: list[str] = field(default_factory=list)


def scalar_of(it: Field) -> Scalar | None:
    if it.enum_type is not None:
        name = type_name(it.enum_type)
        read = f"({name})(int)reader.Varint()"
        return _varint(name, "(ulong)(long)(int){v}", read)
    return SCALARS.get(it.type)


def _is_repeated(it: Field) -> bool:
    # protobuf replaced `label` by `is_repeated`.
    told = getattr(it, "is_repeated", None)
    return bool(getattr(it, "label", None) == Field.LABEL_REPEATED if told is None else told)


def _message_name(it: Field) -> str:
    assert it.message_type is not None
    return type_name(it.message_type)


def _key(it: Field, wire: int) -> int:
    return it.number << 3 | wire


def _key_size(it: Field) -> int:
    return (_key(it, 0).bit_length() + 6) // 7


def _text_like(it: Field, value: str) -> tuple[str, str, str, str, str]:
    """Type, size, write, read and condition of a text or bytes field.

    A text is compared with the previous one, because a new string would create garbage.
    """
    if it.type == Field.TYPE_STRING:
        size = f"{_SIZE}.Prefixed({_SIZE}.Utf8({value}))"
        full = f"!string.IsNullOrEmpty({value})"
        read = f"{value} = reader.Text(before{it.number}_);"
        return "string", size, f"writer.Text({value});", read, full
    size = f"{_SIZE}.Prefixed({value}.Count)"
    kind = f"{_RUNTIME}.Repeated<byte>"
    return kind, size, f"writer.Bytes({value});", f"reader.Bytes({value});", f"{value}.Count > 0"


def parts_of(it: Field, name: str, rivals: list[str]) -> Parts:
    """The parts for one field. `rivals` are the other members of its oneof."""
    parts = Parts()
    if _is_repeated(it):
        if it.type == Field.TYPE_MESSAGE:
            _repeated_message(parts, it, name)
        elif (scalar := scalar_of(it)) is not None:
            _packed(parts, it, name, scalar)
        else:
            _repeated_text(parts, it, name)
    elif it.type == Field.TYPE_MESSAGE:
        _message(parts, it, name, rivals)
    elif it.containing_oneof is not None:
        _with_presence(parts, it, name, rivals)
    else:
        _plain(parts, it, name)
    return parts


def _plain(parts: Parts, it: Field, name: str) -> None:
    scalar = scalar_of(it)
    key = f"writer.Varint({_key(it, scalar.wire if scalar else _LENGTH)});"
    if scalar is not None:
        parts.declare.append(f"public {scalar.csharp} {name};")
        full = scalar.is_set.format(v=name)
        size, write = scalar.size.format(v=name), scalar.write.format(v=name) + ";"
        read = f"{name} = {scalar.read};"
        parts.clear.append(f"{name} = default({scalar.csharp});")
    else:
        kind, size, write, read, full = _text_like(it, name)
        if kind == "string":
            parts.declare += [f'public string {name} = "";', f"private string before{it.number}_;"]
            parts.clear.append(f'before{it.number}_ = {name}; {name} = "";')
        else:
            parts.declare.append(f"public readonly {kind} {name} = new {kind}();")
            parts.clear.append(f"{name}.Clear();")
    parts.size.append(f"if ({full}) size += {_key_size(it)} + {size};")
    parts.write.append(f"if ({full}) {{ {key} {write} }}")
    parts.read += [f"case {_key(it, scalar.wire if scalar else _LENGTH)}: {read} break;"]


def _presence(parts: Parts, name: str, rivals: list[str]) -> None:
    """`HasName`. In a oneof at most one of them is true."""
    if not rivals:
        parts.declare.append(f"public bool Has{name};")
        return
    others = " ".join(f"has{rival}_ = false;" for rival in rivals)
    parts.declare += [
        f"private bool has{name}_;",
        f"public bool Has{name}",
        "{",
        f"    get {{ return has{name}_; }}",
        f"    set {{ has{name}_ = value; if (value) {{ {others} }} }}",
        "}",
    ]


def _with_presence(parts: Parts, it: Field, name: str, rivals: list[str]) -> None:
    scalar = scalar_of(it)
    value = f"value{it.number}_"
    wire = scalar.wire if scalar else _LENGTH
    _presence(parts, name, rivals)
    if scalar is not None:
        kind, size = scalar.csharp, scalar.size.format(v=value)
        write, read = scalar.write.format(v=value) + ";", f"{value} = {scalar.read};"
        parts.clear.append(f"{value} = default({kind});")
    else:
        kind, size, write, read, _ = _text_like(it, value)
        if kind == "string":
            parts.declare.append(f"private string before{it.number}_;")
            parts.clear.append(f'before{it.number}_ = {value}; {value} = "";')
        else:
            parts.clear.append(f"{value}.Clear();")
    if kind.endswith("Repeated<byte>"):
        parts.declare += [
            f"private readonly {kind} {value} = new {kind}();",
            f"public {kind} {name} {{ get {{ return {value}; }} }}",
        ]
    else:
        start = ' = ""' if kind == "string" else ""
        parts.declare += [
            f"private {kind} {value}{start};",
            f"public {kind} {name}",
            "{",
            f"    get {{ return {value}; }}",
            f"    set {{ {value} = value; Has{name} = true; }}",
            "}",
        ]
    parts.size.append(f"if (Has{name}) size += {_key_size(it)} + {size};")
    parts.write.append(f"if (Has{name}) {{ writer.Varint({_key(it, wire)}); {write} }}")
    parts.read.append(f"case {_key(it, wire)}: {read} Has{name} = true; break;")
    parts.clear.append(f"Has{name} = false;")


def _message(parts: Parts, it: Field, name: str, rivals: list[str]) -> None:
    kind, value, as_message = (
        _message_name(it),
        f"value{it.number}_",
        f"{_RUNTIME}.IMessage",
    )
    _presence(parts, name, rivals)
    parts.declare += [
        f"private {kind} {value};",
        f"public {kind} {name} {{ get {{ return {value} ?? ({value} = new {kind}()); }} }}",
        f"private int size{it.number}_;",
    ]
    # A message with content is present even if Has was not set. In a oneof only Has selects the
    # member.
    size = f"size{it.number}_"
    there = f"Has{name}" if rivals else f"Has{name} || {size} > 0"
    measure = f"{value} == null ? 0 : (({as_message}){value}).ByteSize()"
    parts.size += [
        f"{size} = {measure};",
        f"if ({there}) size += {_key_size(it)} + {_SIZE}.Prefixed({size});",
    ]
    parts.write.append(
        f"if ({there}) {{ writer.Varint({_key(it, _LENGTH)}); writer.Message({name}, {size}); }}"
    )
    parts.read.append(f"case {_key(it, _LENGTH)}: reader.Message({name}); Has{name} = true; break;")
    parts.clear += [f"if ({value} != null) (({as_message}){value}).Clear();", f"Has{name} = false;"]


def _packed(parts: Parts, it: Field, name: str, scalar: Scalar) -> None:
    kind = f"{_RUNTIME}.Repeated<{scalar.csharp}>"
    item = f"{name}.Items[i]"
    loop = f"for (int i = 0; i < {name}.Count; ++i)"
    parts.declare.append(f"public readonly {kind} {name} = new {kind}();")
    if scalar.fixed:
        bytes_of = f"{name}.Count * {scalar.size}"
    else:
        bytes_of = f"size{it.number}_"
        parts.declare.append(f"private int {bytes_of};")
        parts.size += [f"{bytes_of} = 0;", f"{loop} {bytes_of} += {scalar.size.format(v=item)};"]
    each = (
        f"writer.{scalar.bulk}({name});"
        if scalar.bulk
        else f"{loop} {scalar.write.format(v=item)};"
    )
    parts.size.append(
        f"if ({name}.Count > 0) size += {_key_size(it)} + {_SIZE}.Prefixed({bytes_of});"
    )
    parts.write += [
        f"if ({name}.Count > 0)",
        "{",
        f"    writer.Varint({_key(it, _LENGTH)});",
        f"    writer.Varint((ulong)({bytes_of}));",
        f"    {each}",
        "}",
    ]
    if scalar.bulk:
        parts.read.append(f"case {_key(it, _LENGTH)}: reader.{scalar.bulk}({name}); break;")
    else:
        parts.read += [
            f"case {_key(it, _LENGTH)}:",
            "    for (long end = reader.PackedEnd(); reader.Within(end);)",
            f"        {name}.Add({scalar.read});",
            "    break;",
        ]
    parts.read.append(f"case {_key(it, scalar.wire)}: {name}.Add({scalar.read}); break;")
    parts.clear.append(f"{name}.Clear();")


def _repeated_text(parts: Parts, it: Field, name: str) -> None:
    item = f"{name}.Items[i]"
    one, size, write, _, _ = _text_like(it, item)
    kind = f"{_RUNTIME}.Repeated<{one}>"
    loop = f"for (int i = 0; i < {name}.Count; ++i)"
    parts.declare.append(f"public readonly {kind} {name} = new {kind}();")
    parts.size.append(f"{loop} size += {_key_size(it)} + {size};")
    parts.write.append(f"{loop} {{ writer.Varint({_key(it, _LENGTH)}); {write} }}")
    last = f"{name}.Items[{name}.Count - 1]"
    parts.read += [f"case {_key(it, _LENGTH)}:", f"    {name}.Resize({name}.Count + 1);"]
    if one == "string":
        parts.read.append(f"    {last} = reader.Text({last});")
    else:
        parts.read.append(f"    reader.Bytes({last} ?? ({last} = new {one}()));")
    parts.read.append("    break;")
    parts.clear.append(f"{name}.Clear();")


def _repeated_message(parts: Parts, it: Field, name: str) -> None:
    kind = f"{_RUNTIME}.RepeatedMessages<{_message_name(it)}>"
    loop = f"for (int i = 0; i < {name}.Count; ++i)"
    item = f"(({_RUNTIME}.IMessage){name}[i])"
    parts.declare.append(f"public readonly {kind} {name} = new {kind}();")
    parts.size.append(f"{loop} size += {_key_size(it)} + {_SIZE}.Prefixed({item}.ByteSize());")
    parts.write.append(
        f"{loop} {{ writer.Varint({_key(it, _LENGTH)}); "
        f"writer.Message({name}[i], {item}.CachedSize); }}"
    )
    parts.read.append(f"case {_key(it, _LENGTH)}: reader.Message({name}.Add()); break;")
    parts.clear.append(f"{name}.Clear();")
