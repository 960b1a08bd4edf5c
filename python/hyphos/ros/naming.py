"""Protobuf names for the fields and constants of a ROS message.

They equal the ROS names, except where protoc would refuse them or generated code would not compile.
That affects names that differ only in case or underscores, and accessors that collide with those of
another field (`ranges_size` beside an array `ranges`) or of every message (`descriptor`). protoc
itself handles keywords of C++ and Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

_OF_EVERY_MESSAGE = (
    "default_instance",
    "descriptor",
    "internal_default_instance",
    "mutable_unknown_fields",
    "unknown_fields",
)
_OWNED = ("mutable_", "release_", "set_allocated_")


class Names:
    """The names of one message."""

    def __init__(self, message: str) -> None:
        self._exact = {message}
        self._folded: set[str] = set()
        self._accessors = set(_OF_EVERY_MESSAGE)

    def field(self, wanted: str, kind: str, *, repeated: bool) -> str:
        """A free name for a field. `kind` is the field's type in protobuf."""

        def take(name: str) -> bool:
            folded = name.replace("_", "").lower()
            accessors = set(_accessors(name.lower(), kind, repeated=repeated))
            if name in self._exact or folded in self._folded or accessors & self._accessors:
                return False
            self._exact.add(name)
            self._folded.add(folded)
            self._accessors |= accessors
            return True

        return _first_free(wanted, "_field", take)

    def other(self, wanted: str) -> str:
        """A free name for an enum or one of its values."""

        def take(name: str) -> bool:
            free = name not in self._exact and name not in self._accessors
            self._exact.add(name)
            return free

        return _first_free(wanted, "_", take)


def _first_free(wanted: str, suffix: str, take: Callable[[str], bool]) -> str:
    name, number = wanted, 1
    while not take(name):
        name = f"{wanted}{suffix}{number if number > 1 else ''}"
        number += 1
    return name


def _accessors(name: str, kind: str, *, repeated: bool) -> Iterator[str]:
    """The accessors in generated C++, which are in lower case."""
    yield from (name, f"clear_{name}")
    if repeated:
        yield from (f"add_{name}", f"set_{name}", f"mutable_{name}", f"{name}_size")
    elif kind.startswith("."):
        yield from (f"has_{name}", *(before + name for before in _OWNED))
    else:
        yield f"set_{name}"
        if kind in ("string", "bytes"):
            yield from (before + name for before in _OWNED)


def enum_key(value: str, enum: str) -> str:
    """The form by which protoc compares enum values: Pascal case, without the enum's name."""
    left, place = enum.replace("_", "").lower(), 0
    while left and place < len(value) and value[place].lower() in ("_", left[0]):
        left = left.removeprefix(value[place].lower())
        place += 1
    rest = value[place:].lstrip("_") if not left else ""
    words = (rest or value).split("_")
    return "".join(word[:1].upper() + word[1:].lower() for word in words)
