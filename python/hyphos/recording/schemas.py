"""The MCAP representation of a Hyphos channel: encodings, schemas, metadata. Format:
docs/reference/recording.md."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from hyphos.recording import attached
from hyphos.ros.typebook import TypeBook, descriptor_set


@dataclass
class ChannelSpec:
    """The entry of a channel in an MCAP file."""

    channel: str
    message_encoding: str
    schema_name: str | None = None  # None: no schema
    schema_encoding: str = ""
    schema_data: bytes = b""
    metadata: dict[str, str] = field(default_factory=dict)


class SchemaBook:
    """Creates the entry of a channel, with the descriptors of its type if they are known."""

    def __init__(self, book: TypeBook) -> None:
        self._book = book
        self._known: dict[tuple[str, str], tuple[str | None, str, bytes]] = {}
        self.unknown_types: set[str] = set()

    def spec(
        self,
        channel: str,
        type_name: str,
        encoding: str,
        type_hash: int,
        policy: dict[str, object],
    ) -> ChannelSpec:
        key = (type_name, encoding)
        if key not in self._known:
            self._known[key] = self._schema(type_name, encoding)
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

    def _schema(self, type_name: str, encoding: str) -> tuple[str | None, str, bytes]:
        if encoding == "bytes":
            return None, "", b""
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
