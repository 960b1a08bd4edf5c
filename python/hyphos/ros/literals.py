"""Values in ROS interface definitions: constants, and default values of ROS 2."""

from __future__ import annotations

import re

Scalar = bool | int | float | str
Value = Scalar | list[Scalar]

_DECIMAL = re.compile(r"[+-]?[0-9]+")
_OTHER_BASE = re.compile(r"[+-]?0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_TRUE, _FALSE = ("true", "1"), ("false", "0")


def scalar_value(primitive: str, text: str, ros2: bool, string_size: int = 0) -> Scalar:
    """Parses a value. ValueError has the reason if `text` is not valid."""
    if primitive in ("string", "wstring"):
        return _string(text, string_size) if ros2 else text
    if primitive in ("float32", "float64"):
        return _float(text)
    if primitive == "bool":
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(f"'{text}' is neither true nor false")
        return text.lower() in _TRUE
    return _integer(primitive, text, ros2)


def array_value(primitive: str, text: str, string_size: int = 0) -> list[Scalar]:
    """Parses [1, 2, 3] or ["a", 'b, c']. ROS 2 only."""
    if not (text.startswith("[") and text.endswith("]")) or len(text) < 2:
        raise ValueError(f"'{text}' is not a list of values: write [1, 2]")
    inner = text[1:-1].strip()
    return [scalar_value(primitive, one, True, string_size) for one in _elements(inner)]


def bounds(primitive: str, ros2: bool) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    # A byte is an int8 in ROS 1 and an octet in ROS 2. A char is a uint8 in both.
    alias = {"byte": "uint8" if ros2 else "int8", "char": "uint8"}.get(primitive, primitive)
    bits = int(alias.removeprefix("u").removeprefix("int"))
    return (0, 2**bits - 1) if alias.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _integer(primitive: str, text: str, ros2: bool) -> int:
    # genmsg reads only decimal numbers. The limit of digits bounds the time to parse.
    if len(text) > 80 or not (_DECIMAL.fullmatch(text) or (ros2 and _OTHER_BASE.fullmatch(text))):
        raise ValueError(f"'{text[:80]}' is not a whole number")
    value = int(text) if _DECIMAL.fullmatch(text) else int(text, 0)
    least, greatest = bounds(primitive, ros2)
    if not least <= value <= greatest:
        raise ValueError(f"{value} does not fit into {primitive}: {least} to {greatest}")
    return value


def _float(text: str) -> float:
    try:
        if "_" in text:  # Python allows it, ROS does not
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a number") from None


def _string(text: str, longest: int) -> str:
    """Removes the quotes, which keep spaces at the ends."""
    quote = text[:1]
    if quote in ("'", '"') and len(text) > 1 and text.endswith(quote):
        text = text[1:-1]
        if re.search(rf"(?<!\\){quote}", text):
            raise ValueError(f"a {quote} inside the string needs a \\ before it")
        text = text.replace(f"\\{quote}", quote)
    if longest and len(text) > longest:
        raise ValueError(f"the string has {len(text)} characters, but {longest} are allowed")
    return text


def _elements(text: str) -> list[str]:
    """The parts between commas outside of strings."""
    if not text:
        return []
    found, quote, start = [], "", 0
    for place, char in enumerate(text):
        if quote:
            if char == quote and text[place - 1] != "\\":
                quote = ""
        elif char in "'\"" and not text[start:place].strip():
            quote = char
        elif char == ",":
            found.append(text[start:place].strip())
            start = place + 1
    if quote:
        raise ValueError(f"a string is not closed with {quote}")
    return [*found, text[start:].strip()]
