"""The stamps of messages, for Node.synchronize()."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hyphos.types import Attached, Codec

if TYPE_CHECKING:
    from hyphos._hyphos import Buffer


def header_stamp(message: Any) -> int:
    """The field `stamp_ns` of a message or of its header. Raises TypeError if there is none."""
    value = message.head if isinstance(message, Attached) else message
    for part in (getattr(value, "header", None), value):
        if (stamp := getattr(part, "stamp_ns", None)) is not None:
            return int(stamp)
    raise TypeError(
        f"{type(value).__name__} has no stamp: neither it nor its header has a field stamp_ns. "
        "Give synchronize() a function: stamp=lambda message: ..."
    )


def stamped(
    codec: Codec, stamp: Callable[[Any], int]
) -> Callable[[Buffer, list[Buffer]], tuple[int, Any]]:
    """A decoder that returns the stamp of the value as well."""

    def decode(payload: Buffer, buffers: list[Buffer]) -> tuple[int, Any]:
        value = codec.decode(payload, buffers)
        return stamp(value), value

    return decode
