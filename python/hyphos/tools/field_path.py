"""One field of a message by its path: pose.position.x, ranges[3], points[0].z."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from hyphos._errors import Error
from hyphos.tools.value_kinds import is_map, is_repeated, map_fields
from hyphos.tools.value_text import plain_field

_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)((?:\[[^\[\]]+\])*)")
_KEY = re.compile(r"\[([^\[\]]+)\]")


class FieldPath:
    """The path of a field, checked against a message type before the first message."""

    def __init__(self, text: str, descriptor: Any) -> None:
        self._text = text
        self._steps: list[tuple[Any, Sequence[str]]] = []  # field, then index or key
        for number, word in enumerate(text.split(".")):
            step = _STEP.fullmatch(word)
            if step is None:
                raise Error(
                    "invalid_config",
                    f"--field {text}: '{word}' is not a field name",
                    advice="write it as pose.position.x, or ranges[3]",
                )
            if descriptor is None:
                before = ".".join(text.split(".")[:number])
                raise Error("invalid_config", f"--field {text}: '{before}' has no fields")
            field = descriptor.fields_by_name.get(step.group(1))
            if field is None:
                raise self._unknown(step.group(1), descriptor)
            keys = _KEY.findall(step.group(2))
            self._check_keys(field, keys, is_last=number == text.count("."))
            self._steps.append((field, keys))
            value = map_fields(field)[1] if is_map(field) else field
            descriptor = value.message_type

    def _unknown(self, name: str, descriptor: Any) -> Error:
        names = [field.name for field in descriptor.fields]
        near = get_close_matches(name, names, 1)
        more = f"did you mean '{near[0]}'?" if near else f"its fields: {', '.join(names)}"
        return Error(
            "not_found", f"--field {self._text}: {descriptor.full_name} has no '{name}'; {more}"
        )

    def _check_keys(self, field: Any, keys: Sequence[str], *, is_last: bool) -> None:
        if not is_repeated(field) and not is_map(field):
            if keys:
                raise Error("invalid_config", f"--field {self._text}: '{field.name}' is no list")
            return
        if len(keys) > 1 or (not keys and not is_last):
            raise Error(
                "invalid_config",
                f"--field {self._text}: '{field.name}' is a list",
                advice=f"give one index: {field.name}[0]",
            )
        if keys and not is_map(field) and re.fullmatch(r"-?[0-9]{1,9}", keys[0]) is None:
            raise Error(
                "invalid_config", f"--field {self._text}: '{keys[0]}' is not an index of a list"
            )

    def of(self, message: Any, *, as_json: bool) -> Any:
        """The value as for print_yaml() or json. None if a list or map has no such element."""
        value = message
        for field, keys in self._steps:
            value = getattr(value, field.name)
            if not keys:
                continue
            if is_map(field):
                value = _entry(value, keys[0])
            else:
                at = int(keys[0])
                value = value[at] if -len(value) <= at < len(value) else None
            if value is None:
                return None
        field, keys = self._steps[-1]
        if keys and is_map(field):
            field = map_fields(field)[1]
        return plain_field(field, value, one=bool(keys), as_json=as_json)


def _entry(entries: Any, key: str) -> Any:
    """The value of a map's key in its text form, or None."""
    for one in entries:
        text = str(one).lower() if isinstance(one, bool) else str(one)
        if text == key:
            return entries[one]
    return None
