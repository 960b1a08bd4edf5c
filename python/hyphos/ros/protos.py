"""Reads .proto files and descriptor sets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos._errors import Error
from hyphos.run_program import run_program


def message_class(descriptor: Descriptor) -> Any:
    """The class of a message type."""
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return _factory(descriptor.file.pool).GetPrototype(descriptor)  # protobuf 3.21 of Debian 12


@cache
def _factory(pool: Any) -> Any:
    """One factory for each pool, so that a type has one class."""
    return message_factory.MessageFactory(pool)


def read_set(path: Path) -> FileDescriptorSet:
    try:
        return FileDescriptorSet.FromString(path.read_bytes())
    except Exception as error:
        raise Error(
            "corrupt",
            f"not a FileDescriptorSet: {error}",
            str(path),
            "protoc --include_imports -o FILE my.proto",
        ) from error


def compile_protos(folder: Path) -> FileDescriptorSet:
    """All .proto files below a folder, with their imports."""
    missing = Error(
        "unsupported",
        "--proto-path needs protoc, which is not installed",
        str(folder),
        "apt install protobuf-compiler, or give --descriptor",
    )
    protos = sorted(_relative(folder, folder.rglob("*.proto")))
    if not protos:
        raise Error("not_found", "no .proto file in this folder", str(folder))
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "set.pb"
        words = ["-I", str(folder), "--include_imports", "-o", str(out), *protos]
        run_program("protoc", words, missing=missing, code="invalid_config", where=str(folder))
        return read_set(out)


def _relative(folder: Path, paths: Iterable[Path]) -> Iterable[str]:
    return (str(path.relative_to(folder)) for path in paths)
