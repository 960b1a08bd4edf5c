"""The MCAP representation of a Hyphos channel: encodings, schemas, metadata. Format:
docs/reference/recording.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from hyphos._errors import Error
from hyphos._hyphos import Policy, TypeId
from hyphos.node import Runtime
from hyphos.recording import attached
from hyphos.recording.source import Track
from hyphos.ros.typebook import TypeBook, descriptor_set
from hyphos.struct_layout import layout


@dataclass
class ChannelSpec:
    """The entry of a channel in an MCAP file."""

    channel: str
    message_encoding: str
    schema_name: str | None = None  # None: no schema
    schema_encoding: str = ""
    schema_data: bytes = b""
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Conversion:
    """Replaces a type by a protobuf type of another family of schemas."""

    schema_name: str
    schema_data: bytes  # FileDescriptorSet
    # (payload, attached buffers, publish time in ns) → encoded message. A message that has no form
    # in the schema raises one of NOT_CONVERTIBLE.
    convert: Callable[[Any, Sequence[Any], int], bytes]

    def spec(self, channel: str, policy: dict[str, object]) -> ChannelSpec:
        """The entry of a channel with this type."""
        metadata = {
            "hyphos.type": self.schema_name,
            "hyphos.encoding": "protobuf",
            "hyphos.type_hash": f"{TypeId(self.schema_name, 'protobuf').hash:016x}",
            "hyphos.policy": json.dumps(policy),
        }
        return ChannelSpec(
            channel, "protobuf", self.schema_name, "protobuf", self.schema_data, metadata
        )


NOT_CONVERTIBLE = (ValueError, TypeError, OverflowError, DecodeError)
# (type name, encoding) → its conversion, or None if the type keeps its own schema.
Conversions = Callable[[str, str], Conversion | None]


def recorded_policy(policy: Policy) -> dict[str, object]:
    """The metadata `hyphos.policy` of a channel. Newer keys are written only if they are in use, so
    that older readers find nothing unknown."""
    made: dict[str, object] = {
        "reliability": policy.reliability,
        "overflow": policy.overflow,
        "latched": policy.latched,
        "depth": policy.depth,
    }
    if policy.latched_depth > 1:
        made["latched_depth"] = policy.latched_depth
    if policy.lifespan_ms:
        made["lifespan_ms"] = policy.lifespan_ms
    return made


class SchemaBook:
    """Creates the entry of a channel, with the descriptors of its type if they are known."""

    def __init__(self, book: TypeBook) -> None:
        self._book = book
        self._known: dict[tuple[str, str, int], tuple[str | None, str, bytes]] = {}
        self.unknown_types: set[str] = set()

    def spec(
        self,
        channel: str,
        type_name: str,
        encoding: str,
        type_hash: int,
        policy: dict[str, object],
    ) -> ChannelSpec:
        key = (type_name, encoding, type_hash)
        if key not in self._known:
            self._known[key] = self._schema(*key)
        protobuf = encoding in ("protobuf", "attached")
        return ChannelSpec(
            channel,
            "protobuf" if protobuf else f"hyphos.{encoding}",
            *self._known[key],
            {
                "hyphos.type": type_name,
                "hyphos.encoding": encoding,
                "hyphos.type_hash": f"{type_hash:016x}",
                "hyphos.policy": json.dumps(policy),
            },
        )

    def _schema(
        self, type_name: str, encoding: str, type_hash: int
    ) -> tuple[str | None, str, bytes]:
        if encoding == "bytes":
            return None, "", b""
        if encoding == "struct":
            struct = self._book.struct(type_name, type_hash)
            data = layout(struct.name, struct.dtype).encode() if struct is not None else b""
            return type_name, "hyphos.struct", data
        if encoding not in ("protobuf", "attached"):
            return type_name, f"hyphos.{encoding}", b""
        cls = self._book.find(type_name)
        if cls is None:
            self.unknown_types.add(type_name)
            return type_name, "", b""
        files = descriptor_set(cls)
        if encoding == "attached":
            files = attached.extend_schema(files, type_name)
        return type_name, "protobuf", files.SerializeToString(deterministic=True)


def announce(runtime: Runtime, track: Track) -> None:
    """Announces the types of a track that this process plays. A damaged schema is left out."""
    if track.descriptors:
        with suppress(ValueError, Error):
            runtime.announce_types(attached.restrict_schema(track.descriptors))


def without_schema(types: Iterable[str]) -> list[str]:
    """One line for each type that a recording has without its definition."""
    return [
        f"warning: {name} is recorded without its schema, because no process announces it: "
        "give --proto-path or --descriptor, or `protos:` in the plan"
        for name in sorted(types)
    ]
