"""Converts values to structs without loss: a value that a field cannot hold is an error.

NumPy assigns structured arrays by position, wraps integers, cuts texts and drops fractions. This
module matches fields by name and raises an error for a value that a field cannot hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# kind of the field → kinds of values that may fit. An equality test then decides.
_FITTING = {
    "b": "biuf",
    "i": "biuf",
    "u": "biuf",
    "f": "biuf",
    "c": "biufc",
    "S": "SU",
    "U": "SU",
    "M": "M",
    "m": "m",
}


def struct_bytes(value: Any, dtype: np.dtype[Any], what: str) -> Array:
    """The bytes of one value of `dtype`. Bytes of the right length are taken unchanged."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError(f"{what}: cannot publish the mask of an array: give array.filled(value)")
    if isinstance(value, bytes | bytearray | memoryview):
        value = np.frombuffer(value, np.uint8)
    base, shape = dtype.subdtype or (dtype, ())
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        raw = array.dtype == np.uint8 and array.nbytes == dtype.itemsize
        same = array.dtype == base and array.nbytes == dtype.itemsize
        if raw or same:
            return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        if not array.dtype.names and (base.names or array.size != dtype.itemsize // base.itemsize):
            raise TypeError(f"{what}: this value has {array.nbytes} bytes of {array.dtype}")
        if not shape and array.size == 1:
            value = array.reshape(())
    place = np.zeros(shape, base)
    put(place, value, what)
    return place.reshape(-1).view(np.uint8)


def put(place: Array, given: Any, where: str) -> None:
    """Writes `given` to `place`, a view of a field or of a whole value. `where` is for errors."""
    if not place.dtype.names:
        _put_plain(place, given, where)
        return
    if place.ndim:
        if not isinstance(given, np.ndarray | list | tuple) or len(given) != len(place):
            raise TypeError(f"{where}: needs {len(place)} values")
        for i, one in enumerate(given):
            put(place[i, ...], one, f"{where}[{i}]")
        return
    for name, value in _fields(place.dtype, given, where).items():
        put(place[name], value, f"{where}: field '{name}'")


def _fields(dtype: np.dtype[Any], given: Any, where: str) -> dict[str, Any]:
    names = dtype.names or ()
    if isinstance(given, tuple):
        if len(given) != len(names):
            raise TypeError(f"{where}: {len(given)} values given for the fields {', '.join(names)}")
        return dict(zip(names, given, strict=True))
    if isinstance(given, dict):
        unknown = [str(name) for name in given if name not in names]
        if unknown:
            raise TypeError(f"{where} has no field '{unknown[0]}'. Fields: {', '.join(names)}")
        return given
    array = np.asarray(given)
    if not array.dtype.names or array.size != 1:
        raise TypeError(f"{where}: needs the fields {', '.join(names)}, not {given!r}")
    if set(array.dtype.names) != set(names):
        raise TypeError(
            f"{where} needs the fields {', '.join(names)}, not {', '.join(array.dtype.names)}"
        )
    one = array.reshape(())
    return {name: one[name] for name in names}


def _put_plain(place: Array, given: Any, where: str) -> None:
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise TypeError(f"{where}: cannot publish the mask of an array")
    array = np.asarray(given)
    kind = place.dtype.kind
    same = array.dtype == place.dtype
    if not (same if kind == "V" else array.dtype.kind in _FITTING.get(kind, "")):
        raise TypeError(f"{where} is {place.dtype} and cannot hold {given!r}")
    if array.ndim and array.shape != place.shape:
        raise TypeError(f"{where} needs the shape {place.shape}, not {array.shape}")
    try:
        with np.errstate(all="ignore"):
            place[...] = array.astype(place.dtype) if kind != "V" else array
            kept = _same(place, np.broadcast_to(array, place.shape))
    except UnicodeError:  # a field of kind S holds ASCII
        kept = False
    if not kept:
        raise ValueError(f"{where} is {place.dtype} and cannot hold {given!r}")


def _same(held: Array, given: Array) -> bool:
    """True if `held` equals the given value. A float may be rounded, but not become infinite."""
    kind = held.dtype.kind
    if kind in "fc":
        return bool(np.array_equal(np.isfinite(held), np.isfinite(given)))
    if kind in "mM":
        return bool(((held == given) | (np.isnat(held) & np.isnat(given))).all())
    if kind in "SU":
        return bool(held.tolist() == given.astype(kind).tolist())
    return kind == "V" or bool(held.tolist() == given.tolist())
