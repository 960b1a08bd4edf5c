"""The ROS 1 identity of a type: the MD5 sum of its definition in a normal form.

See wiki.ros.org/ROS/Technical Overview ("Message serialization and msg MD5 sums"). The normal form
has no comments and no needless spaces, has constants first, and has the sum of each message type in
place of its name. Packages and the lengths of message arrays are not part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import md5

from hyphos.ros.definition import Message, Name


def md5_sum(parts: Iterable[Message], of: Callable[[Name], str]) -> str:
    """The sum of a message, or of a service given as request and response. `of` returns the sums of
    the messages that are fields."""
    text = "".join(normal_form(part, of) for part in parts)
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def normal_form(message: Message, of: Callable[[Name], str]) -> str:
    lines = [f"{one.primitive} {one.name}={one.text}" for one in message.constants]
    for field in message.fields:
        kind = field.type.text if field.type.message is None else of(field.type.message)
        lines.append(f"{kind} {field.name}")
    return "\n".join(lines).strip()
