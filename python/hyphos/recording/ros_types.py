"""The types of ROS recordings, each from its own definition.

An unreadable definition affects only the channels of its type. Types share nothing, and an error
becomes the reason to omit the channel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rosbags.interfaces import Msgdef, Nodetype
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.msg import normalize_msgtype
from rosbags.typesys.store import Typestore

_SEPARATOR = re.compile(r"^={20,}[ \t]*$", re.MULTILINE)
_PART = re.compile(r"\s*(MSG|IDL): *([A-Za-z0-9_/]+)[ \t]*(?:\n|$)")
_SERVICE = re.compile(r"^---", re.MULTILINE)
_WIDE = re.compile(r"^[ \t]*wstring\b", re.MULTILINE)
_ENCODINGS = ("ros1msg", "ros2msg", "ros2idl")
_MOST_UNROLLED = 4096  # limit of elements of a fixed array with code for each element


@dataclass
class RosType:
    """A type for reading messages, or the reason why it cannot be used."""

    name: str
    store: Any = None
    problem: str = ""


class _Text(bytes):
    """Decodes like ROS, which does not check UTF-8: each wrong byte becomes U+FFFD."""

    def decode(self, _encoding: str = "utf-8", _errors: str = "replace") -> str:
        return bytes(self).decode("utf-8", "replace")


class LenientStore(Typestore):
    """A store whose functions read texts that are not UTF-8."""

    def get_msgdef(self, typename: str) -> Msgdef[object]:
        known = typename in self.cache
        found = super().get_msgdef(typename)
        if not known:
            for read in (
                found.deserialize_cdr_le,
                found.deserialize_cdr_be,
                found.deserialize_ros1,
            ):
                # These functions are generated, and each has its own module.
                read.__globals__["bytes"] = _Text
        return found


@lru_cache(maxsize=1024)
def understand(name: str, encoding: str, text: str, digest: str, *, ros1: bool) -> RosType:
    """The type `name` of a connection, from its definition. Without a definition, the type of this
    name in ROS."""
    top = normalize_msgtype(name) if name else ""
    try:
        problem = _refusal(name, encoding, text)
        if problem:
            return RosType(top, None, problem)
        if text.strip() or encoding:
            found = _parse(top, encoding, text)
        else:
            found = _standard(ros1)
            if top not in found:
                return RosType(top, None, f"the recording has no definition of {name}")
        types, missing = _closure(top, found)
        if missing and not (types := _completed(top, found, missing, digest, ros1=ros1)):
            return RosType(top, None, f"its definition lacks {', '.join(missing)}")
        return _compiled(top, types)
    except Exception as error:  # noqa: BLE001 - parser and compiler fail in many ways
        said = (str(error) or type(error).__name__).splitlines()[0]
        return RosType(top, None, f"its definition is not understood: {said[:120]}")


def _refusal(name: str, encoding: str, text: str) -> str:
    if not name:
        return "it has no schema with its type"
    if encoding and encoding not in _ENCODINGS:
        return f"its definition has the encoding '{encoding}'"
    if encoding != "ros2idl" and _SERVICE.search(_SEPARATOR.split(_normal(text))[0]):
        return "its definition is that of a service (---)"
    if encoding != "ros2idl" and _WIDE.search(text):
        return "it has wide strings (wstring)"
    return ""


def _normal(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.rstrip("\0")


def _parts(top: str, encoding: str, text: str) -> Iterator[tuple[str, str, str]]:
    """(kind, name, text) of each part of a definition. The first part may have no heading."""
    for number, part in enumerate(_SEPARATOR.split(_normal(text))):
        heading = _PART.match(part)
        if heading is not None:
            yield heading[1], normalize_msgtype(heading[2]), part[heading.end() :]
        elif number == 0 and (part.strip() or encoding != "ros2idl"):
            yield "IDL" if encoding == "ros2idl" else "MSG", top, part


def _parse(top: str, encoding: str, text: str) -> dict[str, Any]:
    """The types of all readable parts. Raises if that of `top` is not readable."""
    types: dict[str, Any] = {}
    for kind, name, part in _parts(top, encoding, text):
        try:
            if kind == "IDL":
                types |= get_types_from_idl(part)
            else:
                types[name] = get_types_from_msg(part, name)[name]
        except Exception:
            if name == top:
                raise
    if top not in types:
        raise ValueError(f"it does not define {top}")
    return types


def _standard(ros1: bool) -> dict[str, Any]:
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.LATEST)
    return dict(store.fielddefs)


def _named(fields: Any) -> Iterator[str]:
    for _, (kind, detail) in fields:
        if kind == Nodetype.NAME:
            yield detail
        elif kind in (Nodetype.ARRAY, Nodetype.SEQUENCE) and detail[0][0] == Nodetype.NAME:
            yield detail[0][1]


def _closure(top: str, found: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The types that `top` needs, and the names of the missing ones."""
    times = get_typestore(Stores.EMPTY).fielddefs
    types: dict[str, Any] = {}
    missing: list[str] = []
    waiting = [top]
    while waiting:
        name = waiting.pop()
        if name in types or name in missing:
            continue
        if name in found:
            types[name] = found[name]
            waiting += _named(found[name][1])
        elif name not in times:
            missing.append(name)
    return types, missing


def _completed(
    top: str, found: dict[str, Any], missing: list[str], digest: str, *, ros1: bool
) -> dict[str, Any]:
    """The types, completed by those of ROS if they match the checksum of the recording. Else {}."""
    standard = _standard(ros1)
    if not digest or any(name not in standard for name in missing):
        return {}
    types, still = _closure(top, standard | found)
    if still:
        return {}
    store = LenientStore()
    store.register({**get_typestore(Stores.EMPTY).fielddefs, **types})
    made = store.generate_msgdef(top)[1] if ros1 else store.hash_rihs01(top)
    return types if made == digest else {}


def _compiled(top: str, types: dict[str, Any]) -> RosType:
    for name, (_, fields) in types.items():
        for field, (kind, detail) in fields:
            if kind != Nodetype.ARRAY or detail[1] <= _MOST_UNROLLED:
                continue
            if detail[0][0] == Nodetype.NAME or detail[0][1][0] == "string":
                problem = f"{name}.{field} is an array of {detail[1]:,} elements"
                return RosType(top, None, problem)
    if top in (stack := _recursive(top, types)):
        return RosType(top, None, f"{stack[0]} contains itself")
    store = LenientStore()
    store.register({**get_typestore(Stores.EMPTY).fielddefs, **types})
    store.get_msgdef(top)
    return RosType(top, store)


def _recursive(top: str, types: dict[str, Any]) -> list[str]:
    """[top] if a type below `top` contains itself: it cannot be compiled."""
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> bool:
        if name in above:
            return True
        if name in done or name not in types:
            return False
        if any(visit(inner, (*above, name)) for inner in _named(types[name][1])):
            return True
        done.add(name)
        return False

    return [top] if visit(top, ()) else []


def damage_in(data: bytes, error: Exception) -> str:
    """The reason why a message cannot be read, equal for all messages with the same reason."""
    said = str(error)
    if not data:
        return "it is empty"
    if "encapsulation" in said:
        return "it does not begin like CDR"
    if "size mismatch" in said:
        return "it is longer than its type"
    if any(word in said for word in ("length", "requires", "buffer", "terminator", "offset")):
        return "it is cut off or damaged"
    return "the message cannot be parsed"
