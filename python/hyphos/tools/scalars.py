"""Parses scalars from text by their declared type, with the rules of plans and parameters.

ParamValue::as_integer, as_real and as_boolean in plan/plan.cpp follow the same rules.
"""

from __future__ import annotations

import base64
import binascii
import re

import numpy as np

_WHOLE = re.compile(r"[+-]?(?:[0-9]+|0[xX][0-9a-fA-F]+)")
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"([+-]?)(?:\.?inf|\.?Inf|\.?INF|Infinity)")
_NAN = re.compile(r"\.?(?:nan|NaN|NAN)")
_TRUE = ("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON")
_FALSE = ("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF")
_MOST_DIGITS = 80  # more than any type has, which bounds the time to parse
_GREATEST_FLOAT = float(np.finfo(np.float32).max)
_SHOWN = 60


def shown(text: str) -> str:
    return f"'{text}'" if len(text) <= _SHOWN else f"'{text[:_SHOWN]}…'"


def integer(text: str, least: int, greatest: int) -> int:
    """A whole number, decimal or 0x…. ValueError with the range if it does not fit."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"expected a whole number, found {shown(text)}")
    digits = text.lstrip("+-")
    value = (
        int(digits, 16 if digits[:2].lower() == "0x" else 10) if len(text) <= _MOST_DIGITS else None
    )
    if value is not None and text.startswith("-"):
        value = -value
    if value is None or not least <= value <= greatest:
        raise ValueError(f"{shown(text)} does not fit: {least} to {greatest}")
    return value


def real(text: str, *, single: bool) -> float:
    """A number, or .inf, -.inf, .nan and the words of JSON for them."""
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return float("-inf") if infinite[1] == "-" else float("inf")
    if _NAN.fullmatch(text):
        return float("nan")
    if not _REAL.fullmatch(text):
        raise ValueError(f"expected a number, found {shown(text)}")
    value = float(text)
    greatest = _GREATEST_FLOAT if single else float(np.finfo(np.float64).max)
    # A value that rounds to the largest number fits, one that rounds to infinity does not.
    with np.errstate(over="ignore"):
        fits = np.isfinite(np.float32(value)) if single else np.isfinite(value)
    if not fits:
        raise ValueError(f"{shown(text)} does not fit: {-greatest:g} to {greatest:g}")
    return value


def boolean(text: str) -> bool:
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ValueError(f"expected true or false, found {shown(text)}")


def data(text: str) -> bytes:
    """Bytes in base64, in the standard or the URL alphabet, as in JSON."""
    plain = text.translate(str.maketrans("-_", "+/", " \n"))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(f"expected bytes in base64, found {shown(text)}: {error}") from error


def shortest(value: float) -> float:
    """The number with the fewest digits that rounds to this float32."""
    return float(str(np.float32(value)))


def from_hex(text: str) -> bytes:
    """Hexadecimal digits, or the complete lines that `echo` prints for bytes.

    Raises ValueError with the reason.
    """
    lines = [line.removeprefix("# ").strip() for line in text.splitlines()]
    rows = [row for line in lines if (row := _DUMP.fullmatch(line))]
    if not rows:
        if (found := _JSON_BYTES.fullmatch(text.strip())) is not None:
            text = found[1]
        return bytes.fromhex(text)
    if any(_MORE.fullmatch(line) for line in lines):
        raise ValueError("the dump was shortened: print it with hyphos channel echo --full")
    out = bytearray()
    for row in rows:
        if int(row[1], 16) != len(out):
            raise ValueError(f"the line at {row[1]} does not follow the one before it")
        out += bytes.fromhex(row[2])
    return bytes(out)


_DUMP = re.compile(r"([0-9a-f]{8,})  ((?:[0-9a-f]{2} ){0,15}[0-9a-f]{2}) *(?:  .{0,16})?")
_MORE = re.compile(r"… [0-9,]+ more bytes")
_JSON_BYTES = re.compile(r'\{"bytes": "([0-9a-fA-F]*)"\}')
