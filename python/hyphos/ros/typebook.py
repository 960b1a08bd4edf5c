"""Types by name: hyphos.msgs, the user's files and descriptors, the types and structs that the
processes of a domain announce, and the types of ROS."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.message import DecodeError

from hyphos import _hyphos, msgs
from hyphos._errors import Error
from hyphos.ros.pool import Pool, well_known
from hyphos.ros.protos import compile_protos, read_set
from hyphos.struct_layout import layouts, read_layout
from hyphos.types import Struct

_PACKAGE = "hyphos.msgs"
# Packages of the types that `hyphos msg import` writes.
_OF_ROS = ("ros1.", "ros2.")
# The file in memory that a gateway keeps open, with the descriptors of its types.
_PUBLISHED = "/memfd:hyphos-types"


@dataclass(frozen=True)
class _Announced:
    """The types of one process."""

    process: str
    pid: int
    descriptors: bytes
    pool: Pool
    structs: list[Struct]

    def __str__(self) -> str:
        return f"'{self.process}' (pid {self.pid})" if self.pid else "the plan"


class TypeBook:
    """Finds message classes by full name, or by the bare name for hyphos.msgs.

    The user's files take precedence over the types that the processes of `domain` announce. ROS
    types that neither has come from the gateways of `domain`, then from the definitions on this
    machine.
    """

    def __init__(
        self,
        proto_paths: Sequence[Path] = (),
        descriptors: Sequence[Path] = (),
        domain: str | None = None,
    ) -> None:
        self._domain = domain
        self._given = Pool()
        for path in descriptors:
            self._given.add(read_set(path), str(path))
        if proto_paths:
            self._given.add(compile_protos(*proto_paths), ", ".join(map(str, proto_paths)))
        # One pool for each process, because two programs may use one name for different files.
        self._announced: dict[int, _Announced] = {}  # by participant
        self._of_ros = Pool()
        self._asked: set[str] = set()  # sources already read to find a type of ROS
        self._compared: set[str] = set()  # names of announced types that were found

    def find(self, name: str) -> Any | None:
        """The class of a type by its full name, or None."""
        package, _, bare = name.rpartition(".")
        if package == _PACKAGE and hasattr(vars(msgs).get(bare), "FromString"):
            return vars(msgs)[bare]
        for pool in self._pools(name):
            found = pool.find(name)
            if found is not None:
                if pool is not self._given and pool is not self._of_ros:
                    self._compare(name, lambda one: _shape(one.pool.find(name)))
                return found
        return well_known(name)

    def struct(self, name: str, type_hash: int | None = None) -> Struct | None:
        """The layout of a struct that a process announces, or None. Without the hash, which has the
        size, the first struct of the name counts."""

        def of(one: _Announced) -> Struct | None:
            same = (s for s in one.structs if s.name == name)
            return next((s for s in same if type_hash in (None, s.id.hash)), None)

        for _ in self._newly_announced():
            pass  # reads them
        found = next(filter(None, map(of, self._announced.values())), None)
        if found is not None:
            self._compare(name, lambda one: s.dtype if (s := of(one)) is not None else None)
        return found

    def _compare(self, name: str, shape: Callable[[_Announced], object]) -> None:
        """Warns once about two processes that announce different definitions of one type."""
        if name in self._compared:
            return
        self._compared.add(name)
        for _ in self._newly_announced():
            pass  # reads them
        first: _Announced | None = None
        for one in self._announced.values():
            here = shape(one)
            if here is None:
                continue
            if first is None:
                first, used = one, here
            elif here != used:
                print(
                    f"warning: {first} and {one} announce different definitions of {name}. The one "
                    f"of {first} is used: build both programs from one definition",
                    file=sys.stderr,
                    flush=True,
                )
                return

    def _pools(self, name: str) -> Iterator[Pool]:
        """The places to search, in the order of precedence. Each is read when it is needed."""
        yield self._given
        yield from [one.pool for one in self._announced.values()]
        yield from self._newly_announced()
        if name.startswith(_OF_ROS):
            yield self._of_ros
            for source, files in self._sources_of_ros():
                self._asked.add(source)
                self._of_ros.add_valid(FileDescriptorSet.FromString(files))
                yield self._of_ros

    def _newly_announced(self) -> Iterator[Pool]:
        if self._domain is None:
            return
        for types in _hyphos.announced_types(self._domain):
            known = self._announced.get(types.participant)
            if known is None or known.descriptors != types.descriptors:
                yield self.add(types.descriptors, types.process, types.participant, types.pid)

    def add(
        self, descriptors: bytes, process: str = "", participant: int = 0, pid: int = 0
    ) -> Pool:
        """Adds the valid types of a process, in place of its former ones. Without a process they
        are those of the plan."""
        pool = Pool()
        with suppress(DecodeError):  # another program wrote there
            pool.add_valid(FileDescriptorSet.FromString(descriptors))
        structs = []
        for text in layouts(descriptors):
            with suppress(ValueError, TypeError):
                structs.append(Struct(*read_layout(text)))
        self._announced[participant] = _Announced(process, pid, descriptors, pool, structs)
        return pool

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

    def sources(self) -> dict[str, list[str]]:
        """The known types by full name, each with its sources: "hyphos", "options", or the names of
        the processes that announce it. Without the types of ROS on this machine."""
        for _ in self._newly_announced():
            pass  # reads them
        found: dict[str, list[str]] = {}
        for value in vars(msgs).values():
            if hasattr(value, "FromString"):
                found[value.DESCRIPTOR.full_name] = ["hyphos"]
        named = [("options", self._given.names)]
        for one in self._announced.values():
            named.append((one.process, [*one.pool.names, *(s.name for s in one.structs)]))
        for source, names in named:
            for name in names:
                known = found.setdefault(name, [])
                if known != ["hyphos"] and source not in known:
                    known.append(source)
        return dict(sorted(found.items()))

    def get(self, name: str) -> Any:
        """The class of "Twist" or "my.package.Type". An error suggests a similar name."""
        found = self.find(name) or self.find(f"{_PACKAGE}.{name}")
        if found is not None:
            return found
        bare = {known.rpartition(".")[2]: known for known in self.sources()}
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


def _shape(cls: Any | None) -> dict[str, bytes] | None:
    """The definition of a type and of all types that it uses, without the files around them."""
    if cls is None:
        return None
    found: dict[str, bytes] = {}

    def add(message: Any) -> None:
        if message.full_name in found:
            return
        proto = DescriptorProto()
        message.CopyToProto(proto)
        for field in proto.field:
            field.ClearField("json_name")  # written by some programs, and always the same
        found[message.full_name] = proto.SerializeToString(deterministic=True)
        for field in message.fields:
            if field.message_type is not None:
                add(field.message_type)
            elif field.enum_type is not None:
                enum = EnumDescriptorProto()
                field.enum_type.CopyToProto(enum)
                found[field.enum_type.full_name] = enum.SerializeToString(deterministic=True)

    add(cls.DESCRIPTOR)
    return found


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
