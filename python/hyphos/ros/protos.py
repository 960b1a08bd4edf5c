"""Reads .proto files and descriptor sets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos._errors import Error
from hyphos.run_program import run_program

# Files of folders that hold generated or installed .proto files.
_NOT_SOURCES = ("CMakeCache.txt", "pyvenv.cfg")


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


def compile_protos(*folders: Path) -> FileDescriptorSet:
    """All .proto files below the folders, with their imports. They may import each other's files,
    and those of Hyphos. Of two files with one path below their folders, the first one counts."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "set.pb"
        _run_protoc(folders, ["--include_imports", "-o", str(out)], place)
        return read_set(out)


def python_modules(folders: Sequence[Path], out: Path) -> list[Path]:
    """Writes the Python modules of all .proto files below the folders. Returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    words = [f"--python_out={out.absolute()}", f"--pyi_out={out.absolute()}"]
    with tempfile.TemporaryDirectory() as place:
        protos = _run_protoc(folders, words, place)
    stems = [name.removesuffix(".proto").replace("-", "_").replace(".", "/") for name in protos]
    return [out / f"{stem}_pb2.py" for stem in stems]


def _run_protoc(folders: Sequence[Path], words: Sequence[str], place: str) -> list[str]:
    """Runs protoc on all .proto files below the folders. Returns their names.

    `place` is an empty folder, because protoc reads a name as a path of its folder first.
    """
    where = ", ".join(map(str, folders))
    missing = Error(
        "unsupported",
        ".proto files need protoc, which is not installed",
        where,
        "apt install protobuf-compiler, or give --descriptor",
    )
    roots = [folder.absolute() for folder in folders]
    protos: dict[str, None] = {}
    for root, folder in zip(roots, folders, strict=True):
        found = sorted(proto_files(root, roots))
        if not found and not any(proto_files(root)):
            raise Error("not_found", "no .proto file in this folder", str(folder))
        protos |= dict.fromkeys(found)
    paths = [word for root in [*roots, standard_protos()] for word in ("-I", str(root))]
    run_program(
        "protoc",
        [*paths, *words, *protos],
        missing=missing,
        code="invalid_config",
        where=where,
        folder=place,
    )
    return list(protos)


def descriptors_of(places: Sequence[Path]) -> bytes:
    """A serialized FileDescriptorSet of folders of .proto files and of files of descriptors."""
    whole = FileDescriptorSet()
    folders = [place for place in places if place.is_dir()]
    sets = [read_set(place) for place in places if not place.is_dir()]
    for one in [*sets, *([compile_protos(*folders)] if folders else [])]:
        whole.file.extend(one.file)
    return whole.SerializeToString()


def standard_protos() -> Path:
    """The folder of Hyphos' own .proto files: `import "hyphos/msgs/std.proto"`."""
    return Path(__file__).absolute().parent.parent / "proto"


def proto_files(folder: Path, roots: Sequence[Path] = ()) -> Iterator[str]:
    """The .proto files below a folder, relative to it. Hidden folders, builds, environments of
    Python and the folders among `roots` are left out."""
    for place, inner, names in os.walk(folder):
        here = Path(place)
        kept = [one for one in inner if not one.startswith(".") and here / one not in roots]
        inner[:] = [one for one in kept if not any((here / one / f).exists() for f in _NOT_SOURCES)]
        yield from (str((here / n).relative_to(folder)) for n in names if n.endswith(".proto"))
