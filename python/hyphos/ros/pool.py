"""A set of .proto files, and the message classes of their types."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from hyphos._errors import Error
from hyphos.ros.protos import message_class

# Folders of the files that are part of the Python packages `hyphos` and `protobuf`.
_STANDARD = ("google/protobuf/", "hyphos/msgs/", "hyphos/ros/")
_WELL_KNOWN = ("any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers")


class Pool:
    """Types by name. Imports of standard files need not be among the added files."""

    def __init__(self) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        self._files: set[str] = set()
        self.names: list[str] = []  # of the messages outside of others, without standard files

    def add(self, files: FileDescriptorSet, where: str) -> None:
        """Adds the files that have no namesake here. Raises an error for the first invalid one."""
        self._add(files, where, strict=True)

    def add_valid(self, files: FileDescriptorSet) -> None:
        """The same, but leaves out invalid files and those that contradict the present ones."""
        self._add(files, "", strict=False)

    def _add(self, files: FileDescriptorSet, where: str, *, strict: bool) -> None:
        by_name = {file.name: file for file in reversed(files.file)}  # the first of a name counts

        def add(name: str) -> None:
            if name in self._files:
                return
            self._files.add(name)
            file = _standard(name) or by_name.get(name)
            if file is None:
                return
            for needed in file.dependency:
                add(needed)
            try:
                self._pool.AddSerializedFile(file.SerializeToString())
            except TypeError as error:
                if strict:
                    raise Error("invalid_config", f"{name}: {error}", where) from error
                return
            if not name.startswith(_STANDARD):
                prefix = f"{file.package}." if file.package else ""
                self.names += [prefix + message.name for message in file.message_type]

        for name in by_name:
            add(name)

    def find(self, name: str) -> Any | None:
        """The class of a type by its full name, or None."""
        try:
            return message_class(self._pool.FindMessageTypeByName(name))
        except KeyError:
            return None


def well_known(name: str) -> Any | None:
    """The class of "google.protobuf.Timestamp" and the like."""
    package, _, bare = name.rpartition(".")
    if package != "google.protobuf":
        return None
    for module in _WELL_KNOWN:
        found = getattr(import_module(f"google.protobuf.{module}_pb2"), bare, None)
        if found is not None:
            return found
    return None


def _standard(name: str) -> FileDescriptorProto | None:
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    if not name.startswith(_STANDARD) or not all(map(str.isidentifier, module.split("."))):
        return None
    with suppress(ImportError):
        file = FileDescriptorProto()
        import_module(module).DESCRIPTOR.CopyToProto(file)
        return file
    return None
