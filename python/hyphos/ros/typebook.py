"""Protobuf types by name: hyphos.msgs and the types of the user's .proto files and descriptors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos import _hyphos, msgs
from hyphos._errors import Error
from hyphos.ros.protos import compile_protos, message_class, read_set

_PACKAGE = "hyphos.msgs"
# Packages of the types that `hyphos msg import` writes.
_OF_ROS = ("ros1.", "ros2.")
# The file in memory that a gateway keeps open, with the descriptors of its types.
_PUBLISHED = "/memfd:hyphos-types"


class TypeBook:
    """Finds message classes by full name, or by the bare name for hyphos.msgs.

    ROS types that no argument provides come from the gateways of `domain`, then from the
    definitions on this machine.
    """

    def __init__(
        self,
        proto_paths: Sequence[Path] = (),
        descriptors: Sequence[Path] = (),
        domain: str | None = None,
    ) -> None:
        self._domain = domain
        self._asked: set[str] = set()  # sources already read to find a type
        self._pool = descriptor_pool.DescriptorPool()
        self._names: list[str] = []
        for value in vars(msgs).values():
            if hasattr(value, "FromString"):
                self._names.append(value.DESCRIPTOR.full_name)
        for path in descriptors:
            self._add(read_set(path), str(path))
        for path in proto_paths:
            self._add(compile_protos(path), str(path))

    def _add(self, files: FileDescriptorSet, where: str) -> None:
        known = {}
        for file in files.file:
            if file.name in known:
                continue
            known[file.name] = file
            try:
                self._pool.AddSerializedFile(file.SerializeToString())
            except TypeError as error:
                raise Error("invalid_config", f"{file.name}: {error}", where) from error
            prefix = f"{file.package}." if file.package else ""
            self._names += [prefix + message.name for message in file.message_type]

    def find(self, name: str) -> Any | None:
        """The class of a type by its full name, or None."""
        package, _, bare = name.rpartition(".")
        if package == _PACKAGE and hasattr(vars(msgs).get(bare), "FromString"):
            return vars(msgs)[bare]
        found = self._find(name)
        if found is not None or not name.startswith(_OF_ROS):
            return found
        for source, files in self._sources_of_ros():
            self._add_late(files, source)
            found = self._find(name)
            if found is not None:
                return found
        return None

    def _find(self, name: str) -> Any | None:
        try:
            return message_class(self._pool.FindMessageTypeByName(name))
        except KeyError:
            return None

    def _sources_of_ros(self) -> Iterator[tuple[str, bytes]]:
        """Serialized descriptor sets that were not read yet, with the key of each."""
        if self._domain is not None:
            for place in published_types(self._domain):
                if place not in self._asked:
                    with suppress(OSError):  # the gateway has ended
                        yield place, Path(place).read_bytes()
        if "here" not in self._asked:
            from hyphos.ros.known import descriptors  # noqa: PLC0415 - for types of ROS only

            with suppress(Error):  # without protoc there are only the types of gateways
                yield "here", descriptors()

    def _add_late(self, files: bytes, source: str) -> None:
        """Adds the types that do not contradict the known ones."""
        self._asked.add(source)
        for file in FileDescriptorSet.FromString(files).file:
            with suppress(TypeError):
                self._pool.AddSerializedFile(file.SerializeToString())

    def get(self, name: str) -> Any:
        """The class of "Twist" or "my.package.Type". An error suggests a similar name."""
        found = self.find(name) or self.find(f"{_PACKAGE}.{name}")
        if found is not None:
            return found
        bare = {known.rpartition(".")[2]: known for known in self._names}
        near = get_close_matches(name.rpartition(".")[2], list(bare), 1)
        hint = f"; did you mean '{bare[near[0]]}'?" if near else ""
        advice = "give your own types with --proto-path or --descriptor"
        if name.startswith(_OF_ROS):
            advice = (
                "give its package to the gateway with --ros, or run "
                "`hyphos msg descriptors --ros PATH -o FILE` and give --descriptor FILE"
            )
        raise Error("not_found", f"unknown protobuf type '{name}'{hint}", advice=advice)


def published_types(domain: str) -> Iterator[str]:
    """Files with the descriptors of the types of a domain's gateways."""
    for process in _hyphos.inspect(domain):
        folder = Path(f"/proc/{process.pid}/fd")
        with suppress(OSError):  # the process has ended, or belongs to another user
            for entry in folder.iterdir():
                with suppress(OSError):
                    if str(entry.readlink()).startswith(_PUBLISHED):
                        yield str(entry)


def descriptor_set(cls: Any) -> FileDescriptorSet:
    """The file that defines a class and all files that it imports, imports first."""
    result = FileDescriptorSet()
    seen: set[str] = set()

    def add(file: Any) -> None:
        if file.name in seen:
            return
        seen.add(file.name)
        for needed in file.dependencies:
            add(needed)
        file.CopyToProto(result.file.add())

    add(cls.DESCRIPTOR.file)
    return result
