"""The values of `--vary KEY=VALUES`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from hyphos._errors import Error

MOST_VALUES = 1000  # of a key
MOST_CELLS = 10_000
_OPTION = "--vary"
_KEY = re.compile(r"[^=\s]+")
_FORMS = "ranges such as 2..10 or 0.1..0.5..0.1 and lists such as 1,2,5"


@dataclass(frozen=True)
class Axis:
    """A key of the scenario and its values, each as text in YAML."""

    key: str
    values: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        return all(number(value) is not None for value in self.values)


def number(text: str) -> float | None:
    """The number that a value is, if it is one."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def plain(text: str) -> str | float:
    """The value as a number, a whole one without a fraction, or as its text."""
    if re.fullmatch(r"[+-]?\d{1,15}", text):
        return int(text)
    found = number(text)
    return text if found is None else found


def read(texts: Sequence[str]) -> list[Axis]:
    """Reads the options. Raises Error if one of them is wrong."""
    if not texts:
        raise _wrong("nothing is varied", "--vary robots=2..10 --vary radio.tx_power_dbm=10,16,20")
    axes = [_axis(text) for text in texts]
    keys = [axis.key for axis in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise _wrong(f"{key} is varied twice", f"{_OPTION} {key}=… once, with all values")
    cells = math.prod(len(axis.values) for axis in axes)
    if cells > MOST_CELLS:
        raise _wrong(
            f"{cells:,} combinations of values", f"vary less: at most {MOST_CELLS:,} combinations"
        )
    return axes


def combinations(axes: Sequence[Axis]) -> Iterator[dict[str, str]]:
    """Every combination of values. The last key changes fastest."""
    for values in itertools.product(*(axis.values for axis in axes)):
        yield dict(zip((axis.key for axis in axes), values, strict=True))


def _axis(text: str) -> Axis:
    key, equal, values = text.partition("=")
    if not equal or not _KEY.fullmatch(key):
        raise _wrong(
            f"expected KEY=VALUES, found '{text}'", f"{_OPTION} robots=2..10, with {_FORMS}"
        )
    if key == "seed":
        raise _wrong("seeds are not a key of a sweep", "--seeds N runs every combination N times")
    found = [value for item in _items(key, values) for value in _values(key, item)]
    if len(found) > MOST_VALUES:
        raise _too_many(key, len(found))
    known = [plain(value) for value in found]  # 1 and 1.0 are equal
    for value in found:
        if known.count(plain(value)) > 1:
            raise _wrong(f"{key}: the value {value} occurs twice", f"remove one {value}")
    return Axis(key, tuple(found))


def _items(key: str, text: str) -> list[str]:
    """Splits at commas that are outside of brackets and quotes."""
    items = [""]
    depth, quote = 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not quote:
            items.append("")
        else:
            items[-1] += letter
    items = [item.strip() for item in items]
    if depth != 0 or quote:
        raise _wrong(f"{key}: a bracket or a quote has no end in '{text}'", f"values are {_FORMS}")
    if not all(items):
        raise _wrong(f"{key}: a value is missing in '{text}'", f"values are {_FORMS}")
    if any("\t" in item or "\n" in item for item in items):
        raise _wrong(f"{key}: a value contains a tab or a line break", "use spaces")
    return items


def _values(key: str, item: str) -> list[str]:
    if ".." not in item or item[0] in "[{\"'":
        return [item]
    parts = item.split("..")
    try:
        numbers = [Decimal(part) for part in parts]
    except InvalidOperation:
        numbers = []
    if len(numbers) not in (2, 3) or not all(one.is_finite() for one in numbers):
        raise _wrong(
            f"{key}: '{item}' is not a range of numbers", "FIRST..LAST or FIRST..LAST..STEP"
        )
    first, last = numbers[:2]
    step = numbers[2] if len(numbers) == 3 else Decimal(1 if last >= first else -1)
    return _range(key, item, first, last, step)


def _range(key: str, item: str, first: Decimal, last: Decimal, step: Decimal) -> list[str]:
    if step == 0 or (last - first) * step < 0:
        raise _wrong(
            f"{key}: the step {step} does not lead from {first} to {last}",
            f"{first}..{last}..{-step if step else 1}",
        )
    count = (last - first) / step
    if count >= MOST_VALUES:
        raise _too_many(key, int(min(count, Decimal(10**12))) + 1)
    if count != int(count):
        nearest = first + int(count) * step
        raise _wrong(
            f"{key}: '{item}' does not reach {last} in steps of {step}",
            f"{first}..{nearest}..{step}, or another step: {first}..{last}..STEP",
        )
    # Exact decimals, so that 0.1..0.5..0.1 has the values 0.1, 0.2, 0.3 and so on.
    return [f"{first + i * step:f}" for i in range(int(count) + 1)]


def _too_many(key: str, count: int) -> Error:
    return _wrong(f"{key}: {count:,} values", f"at most {MOST_VALUES:,}: give a larger step")


def _wrong(text: str, advice: str) -> Error:
    return Error("invalid_config", text, _OPTION, advice)
