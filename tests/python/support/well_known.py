"""Messages converted for Foxglove, and parsed with the schemas of its SDK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from hyphos.foxglove.convert import WELL_KNOWN, WellKnown

PUBLISHED_NS = 7_000_000_009


def well_known(message: Any) -> WellKnown:
    name = message.DESCRIPTOR.full_name
    return WELL_KNOWN[name, "attached" if (name, "attached") in WELL_KNOWN else "protobuf"]


def parser(known: WellKnown) -> Callable[[bytes], Any]:
    schema = known.schema
    assert schema.encoding == "protobuf"
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(schema.data).file:
        pool.Add(file)
    parse: Callable[[bytes], Any] = message_factory.GetMessageClass(
        pool.FindMessageTypeByName(schema.name)
    ).FromString
    return parse


def converted(message: Any, *buffers: Any) -> Any:
    """The well-known message."""
    known = well_known(message)
    return parser(known)(known.convert(message, buffers, PUBLISHED_NS))


def stamped(message: Any, frame: str = "map") -> Any:
    message.header.stamp_ns, message.header.frame_id = 1_500_000_000, frame
    return message
