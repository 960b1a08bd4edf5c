"""What ROS 1 knows a type by: the MD5 sum of its definition in a normal form.

wiki.ros.org/ROS/Technical Overview ("Message serialization and msg MD5 sums"): without comments
and needless spaces, constants first, and in place of every message type the sum of that type.
Packages and the lengths of arrays of messages are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import md5

from hyphos.ros.definition import Message, Name


def md5_sum(parts: Iterable[Message], of: Callable[[Name], str]) -> str:
    """Of a message, or of a service as its request and its response. `of` gives the sums of the
    messages that are fields."""
    text = "".join(normal_form(part, of) for part in parts)
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def normal_form(message: Message, of: Callable[[Name], str]) -> str:
    lines = [f"{one.primitive} {one.name}={one.text}" for one in message.constants]
    for field in message.fields:
        kind = field.type.text if field.type.message is None else of(field.type.message)
        lines.append(f"{kind} {field.name}")
    return "\n".join(lines).strip()
