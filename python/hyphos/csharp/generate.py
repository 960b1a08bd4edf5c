"""hyphos msg csharp: classes that encode and decode without allocating."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos import msgs
from hyphos._errors import Error
from hyphos.csharp.fields import Parts, parts_of
from hyphos.csharp.naming import member_names, namespace, source_name, value_names
from hyphos.ros.importing import write_files

_STEP = "    "
# Those of the client's own package, and what only compilers look at.
_NOT_OURS = ("hyphos.msgs", "hyphos.ros", "google.protobuf")


def generate(folders: Sequence[Path], descriptors: Sequence[Path], out: Path) -> int:
    """The types of the user's files; without any, the standard messages."""
    if folders or descriptors:
        files = [file for file in _own_files(folders, descriptors) if file.package not in _NOT_OURS]
        if not files:
            raise Error("not_found", "there is no type but the standard ones", str(folders[0]))
    else:
        files = standard_files()
    sources = {source_name(file): source_of(file) for file in files}
    write_files(sources, out)
    count = sum(len(file.message_types_by_name) for file in files)
    print(f"wrote {count} messages in {len(sources)} files to {out}")
    return 0


def standard_files() -> list[FileDescriptor]:
    found = {
        value.DESCRIPTOR.file.name: value.DESCRIPTOR.file
        for value in vars(msgs).values()
        if hasattr(value, "FromString")
    }
    return [found[name] for name in sorted(found)]


def _own_files(folders: Sequence[Path], descriptors: Sequence[Path]) -> list[FileDescriptor]:
    from hyphos.tools.typebook import compile_protos, read_set  # noqa: PLC0415

    pool = descriptor_pool.DescriptorPool()
    sets: list[tuple[FileDescriptorSet, Path]] = [(read_set(path), path) for path in descriptors]
    sets += [(compile_protos(folder), folder) for folder in folders]
    files: dict[str, Any] = {}
    for one, where in sets:
        for proto in one.file:
            if proto.name in files:
                continue
            if proto.syntax != "proto3" and proto.package not in _NOT_OURS:
                raise Error("unsupported", f"{proto.name} is not proto3", str(where))
            try:
                pool.AddSerializedFile(proto.SerializeToString())
            except TypeError as error:
                raise Error("invalid_config", f"{proto.name}: {error}", str(where)) from error
            files[proto.name] = pool.FindFileByName(proto.name)
    return list(files.values())


def source_of(file: FileDescriptor) -> str:
    """The text of its C# file."""
    lines = [
        f"// Made by `hyphos msg csharp` from {file.name}; changes will be lost.",
        f"namespace {namespace(file)}",
        "{",
    ]
    for enum in file.enum_types_by_name.values():
        lines += _indent(_enum(enum))
    for message in file.message_types_by_name.values():
        lines += _indent(_class(message))
    return "\n".join([*lines, "}", ""])


def _indent(lines: Iterable[str]) -> list[str]:
    return [_STEP + line if line else line for line in lines]


def _enum(enum: EnumDescriptor) -> list[str]:
    names = value_names(enum)
    values = [f"{name} = {value.number}," for name, value in zip(names, enum.values, strict=True)]
    return [f"public enum {enum.name}", "{", *_indent(values), "}", ""]


def _class(message: Descriptor) -> list[str]:
    names = member_names(message)
    whole = Parts()
    for field in message.fields:
        oneof = field.containing_oneof
        rivals = (
            [names[other.number] for other in oneof.fields if other is not field] if oneof else []
        )
        parts = parts_of(field, names[field.number], rivals)
        for part in ("declare", "size", "write", "read", "clear"):
            getattr(whole, part).extend(getattr(parts, part))
    body = [*whole.declare, "", *_functions(message.full_name, whole)]
    inner = [line for enum in message.enum_types for line in _enum(enum)]
    inner += [line for nested in message.nested_types for line in _class(nested)]
    if inner:
        body += ["", "public static class Types", "{", *_indent(inner), "}"]
    head = f"public sealed class {message.name} : global::Hyphos.IMessage"
    return [head, "{", *_indent(body), "}", ""]


def _functions(full_name: str, parts: Parts) -> list[str]:
    runtime = "global::Hyphos"
    owner = f"{runtime}.IMessage"
    return [
        "private int cached_;",
        f'string {owner}.TypeName {{ get {{ return "{full_name}"; }} }}',
        f"int {owner}.CachedSize {{ get {{ return cached_; }} }}",
        "",
        f"int {owner}.ByteSize()",
        "{",
        *_indent(["int size = 0;", *parts.size, "return cached_ = size;"]),
        "}",
        "",
        f"void {owner}.Write(ref {runtime}.ProtoWriter writer)",
        "{",
        *_indent(parts.write),
        "}",
        "",
        f"void {owner}.Read(ref {runtime}.ProtoReader reader)",
        "{",
        *_indent(
            [
                "uint key;",
                "while (reader.Next(out key))",
                "{",
                "    switch (key)",
                "    {",
                *_indent(_indent([*parts.read, "default: reader.Skip(); break;"])),
                "    }",
                "}",
            ]
        ),
        "}",
        "",
        f"void {owner}.Clear()",
        "{",
        *_indent(parts.clear),
        "}",
    ]
