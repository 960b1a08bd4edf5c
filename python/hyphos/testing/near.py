"""Compares two messages field by field, with a tolerance for numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyphos.tools.value_kinds import F, is_map, is_repeated, map_fields
from hyphos.types import Attached

_NUMBERS = {
    F.CPPTYPE_DOUBLE,
    F.CPPTYPE_FLOAT,
    F.CPPTYPE_INT32,
    F.CPPTYPE_INT64,
    F.CPPTYPE_UINT32,
    F.CPPTYPE_UINT64,
}


@dataclass(frozen=True)
class Near:
    """The largest difference of two numbers, and the fields that do not count."""

    tolerance: float = 0.0
    ignore: Sequence[str] = ()

    def differences(self, one: Any, other: Any) -> Iterator[str]:
        """One line for each different field: "pose.x: 1.5 instead of 1.25"."""
        if isinstance(one, Attached) and isinstance(other, Attached):
            yield from self._messages(one.head, other.head, "")
            yield from self._buffers(one.buffers, other.buffers)
        elif hasattr(one, "DESCRIPTOR"):
            yield from self._messages(one, other, "")
        elif isinstance(one, np.void) and one.dtype.names:
            for name in one.dtype.names:
                if name not in self.ignore and not self._arrays(one[name], other[name]):
                    yield f"{name}: {one[name]} instead of {other[name]}"
        elif isinstance(one, np.ndarray):
            yield from self._buffers([one], [other])
        elif one != other:
            yield f"{one!r} instead of {other!r}"

    def _buffers(self, ones: Sequence[Any], others: Sequence[Any]) -> Iterator[str]:
        """Buffers of bytes: the tolerance has no meaning for them."""
        sizes, wanted = [len(one) for one in ones], [len(one) for one in others]
        if sizes != wanted:
            yield f"buffers of {sizes} bytes instead of {wanted}"
            return
        for number, (one, other) in enumerate(zip(ones, others, strict=True)):
            different = int(np.count_nonzero(np.asarray(one) != np.asarray(other)))
            if different:
                yield f"buffer {number}: {different:,} of {len(one):,} bytes differ"

    def _messages(self, one: Any, other: Any, where: str) -> Iterator[str]:
        for field in one.DESCRIPTOR.fields:
            name = f"{where}{field.name}"
            if name in self.ignore:
                continue
            a, b = getattr(one, field.name), getattr(other, field.name)
            if is_map(field):
                yield from self._maps(field, a, b, name)
            elif is_repeated(field):
                yield from self._lists(field, a, b, name)
            elif field.message_type is not None:
                if one.HasField(field.name) or other.HasField(field.name):
                    yield from self._messages(a, b, f"{name}.")
            elif not self._same(field, a, b):
                yield f"{name}: {a!r} instead of {b!r}"

    def _lists(self, field: F, ones: Any, others: Any, name: str) -> Iterator[str]:
        if len(ones) != len(others):
            yield f"{name}: {len(ones):,} values instead of {len(others):,}"
            return
        for index, (a, b) in enumerate(zip(ones, others, strict=True)):
            if field.message_type is not None:
                yield from self._messages(a, b, f"{name}[{index}].")
            elif not self._same(field, a, b):
                yield f"{name}[{index}]: {a!r} instead of {b!r}"

    def _maps(self, field: F, ones: Any, others: Any, name: str) -> Iterator[str]:
        value = map_fields(field)[1]
        for key in sorted({*ones, *others}, key=str):
            if key not in ones or key not in others:
                yield f"{name}[{key!r}]: {'missing' if key in others else 'not expected'}"
            elif value.message_type is not None:
                yield from self._messages(ones[key], others[key], f"{name}[{key!r}].")
            elif not self._same(value, ones[key], others[key]):
                yield f"{name}[{key!r}]: {ones[key]!r} instead of {others[key]!r}"

    def _same(self, field: F, one: Any, other: Any) -> bool:
        if field.cpp_type not in _NUMBERS:
            return bool(one == other)
        return self._numbers(one, other)

    def _numbers(self, one: float, other: float) -> bool:
        both_nan = isinstance(one, float) and math.isnan(one) and math.isnan(other)
        return both_nan or one == other or abs(one - other) <= self.tolerance

    def _arrays(self, one: Any, other: Any) -> bool:
        if np.issubdtype(np.asarray(one).dtype, np.number):
            return bool(np.allclose(one, other, rtol=0, atol=self.tolerance, equal_nan=True))
        return bool(np.array_equal(one, other))
