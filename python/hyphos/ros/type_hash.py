"""The ROS 2 identity of a type: RIHS01, the SHA-256 sum of its description (REP-2016).

The description is a type_description_interfaces/TypeDescription as JSON in one exact form, without
default values. It has the fields of the type, and those of all nested types, sorted by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from hyphos.ros.definition import INTEGERS, Count, Field, Flavour, Message, Name, Type

# type_description_interfaces/FieldType. A `char` of a .msg file is a uint8, a `byte` an octet.
_NESTED, _BOUNDED_STRING, _BOUNDED_WSTRING = 1, 21, 22
_IDS = {name: number for number, name in enumerate(INTEGERS, 2)}
_IDS |= {"float32": 10, "float64": 11, "bool": 15, "byte": 16, "string": 17, "wstring": 18}
_IDS["char"] = _IDS["uint8"]
_OFFSETS = {Count.ONE: 0, Count.FIXED: 48, Count.AT_MOST: 96, Count.ANY: 144}

# IDL has no struct without members.
_EMPTY = (Field(Type("uint8", "uint8"), "structure_needs_at_least_one_member"),)


def type_hash(message: Message, find: Callable[[Name], Message]) -> str:
    """The hash of a message. `find` returns the messages that are fields."""
    return hash_of(describe(message, find))


def describe(message: Message, find: Callable[[Name], Message]) -> dict[str, Any]:
    below: dict[str, Message] = {}
    waiting = [message]
    while waiting:
        for field in waiting.pop().fields:
            name = field.type.message
            if name is not None and "/".join(name) not in below:
                below["/".join(name)] = find(name)
                waiting.append(below["/".join(name)])
    return {
        "type_description": _individual(message),
        "referenced_type_descriptions": [_individual(one) for _, one in sorted(below.items())],
    }


def hash_of(description: dict[str, Any]) -> str:
    return "RIHS01_" + sha256(json.dumps(description).encode()).hexdigest()


def _individual(message: Message) -> dict[str, Any]:
    fields = message.fields or _EMPTY
    return {
        "type_name": message.name.text(Flavour.ROS2),
        "fields": [{"name": one.name, "type": _field_type(one.type)} for one in fields],
    }


def _field_type(type_: Type) -> dict[str, Any]:
    number = _NESTED if type_.message is not None else _IDS[type_.primitive]
    if type_.string_size:
        number = _BOUNDED_STRING if type_.primitive == "string" else _BOUNDED_WSTRING
    return {
        "type_id": number + _OFFSETS[type_.count],
        "capacity": type_.size,
        "string_capacity": type_.string_size,
        "nested_type_name": "" if type_.message is None else type_.message.text(Flavour.ROS2),
    }
