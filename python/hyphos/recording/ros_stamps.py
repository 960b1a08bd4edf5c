"""Stamps in messages of ROS 1 and ROS 2. Both have 32 bits of seconds: unsigned in ROS 1, signed in
ROS 2. `rosbags` reads both as int32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_TIME = "builtin_interfaces/msg/Time"
_SIGN = 1 << 31

Seconds = Callable[[Any], Iterator[int]]


class UnholdableError(ValueError):
    """A value that the target format cannot hold. All such messages have the same text."""


AFTER_2038 = "a stamp is after 2038, which ROS 2 cannot hold"
BEFORE_1970 = "a stamp is before 1970, which ROS 1 cannot hold"


def unsigned(seconds: int) -> int:
    """Seconds of ROS 1 that were read as signed."""
    return seconds & 0xFFFFFFFF


def as_read(seconds: int, *, ros1: bool) -> int:
    """Seconds as `rosbags` writes them. UnholdableError if the format has no such stamp."""
    if ros1:
        if not 0 <= seconds < 2 * _SIGN:
            raise UnholdableError(
                BEFORE_1970 if seconds < 0 else "a stamp is after 2106, which ROS 1 cannot hold"
            )
        return seconds - 2 * _SIGN if seconds >= _SIGN else seconds
    if not -_SIGN <= seconds < _SIGN:
        raise UnholdableError(
            AFTER_2038 if seconds > 0 else "a stamp is before 1901, which ROS 2 cannot hold"
        )
    return seconds


def make_seconds(ros_type: str, fields: Any) -> Seconds | None:
    """A function that yields the seconds of all stamps in a message. None if the type has none."""
    if ros_type == _TIME:
        return lambda message: iter((message.sec,))
    from rosbags.interfaces import Nodetype  # noqa: PLC0415
    from rosbags.typesys.base import normalize_fieldname  # noqa: PLC0415

    parts: list[Seconds] = []
    for field, (kind, detail) in fields[ros_type][1]:
        name = normalize_fieldname(field)
        is_list = kind in (Nodetype.ARRAY, Nodetype.SEQUENCE)
        inner_kind, inner = detail[0] if is_list else (kind, detail)
        below = make_seconds(inner, fields) if inner_kind == Nodetype.NAME else None
        if below is not None:
            parts.append(_each(name, below) if is_list else _one(name, below))
    if not parts:
        return None

    def every(message: Any) -> Iterator[int]:
        for part in parts:
            yield from part(message)

    return every


def _one(name: str, below: Seconds) -> Seconds:
    return lambda message: below(getattr(message, name))


def _each(name: str, below: Seconds) -> Seconds:
    def every(message: Any) -> Iterator[int]:
        for one in getattr(message, name):
            yield from below(one)

    return every
