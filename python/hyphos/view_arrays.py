"""Arrays of positions, rotations and colours as the parts of messages to draw.

`call` in these functions is the call of the user, as text. Errors begin with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hyphos._errors import Error
from hyphos.convert import plain_array
from hyphos.msgs import ColorRGBA, Point, Pose, Quaternion
from hyphos.transforms import Transform

Array = npt.NDArray[Any]
Color = str | Sequence[float] | Array

_NAMES = {
    "black": (0, 0, 0),
    "blue": (66, 133, 244),
    "cyan": (0, 188, 212),
    "gray": (140, 140, 140),
    "green": (67, 160, 71),
    "magenta": (216, 67, 170),
    "orange": (255, 152, 0),
    "red": (229, 57, 53),
    "white": (255, 255, 255),
    "yellow": (253, 216, 53),
}
_HEX_DIGITS = (7, 9)  # "#rrggbb", "#rrggbbaa"


def numbers(call: str, what: str, values: npt.ArrayLike) -> Array:
    """The values as an array of numbers. TypeError for texts, complex numbers and objects."""
    try:
        array = plain_array(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{call}: {what} is not an array: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{call}: {what} needs numbers, found {_found(array)}")
    return array


def _found(array: Array) -> str:
    return f"the shape {array.shape} of {array.dtype}"


def places(call: str, what: str, values: npt.ArrayLike, *, grid: bool = False) -> Array:
    """Positions as an array (n, 3). Accepts (3,), (2,), (n, 3), (n, 2), and with `grid` also
    (height, width, 3). A missing z is 0. Keeps the dtype of (n, 3)."""
    array = numbers(call, what, values)
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 3), np.float32)
    if array.ndim == 1:
        array = array[np.newaxis]
    if array.ndim == 3 and grid:
        array = array.reshape(-1, array.shape[2])
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        wanted = "(n, 3) or (n, 2)" + (" or (height, width, 3)" if grid else "")
        hint = ""
        if array.ndim == 2 and array.shape[0] in (2, 3):
            hint = f". Its transpose fits: {what}.T"
        raise ValueError(f"{call}: {what} needs the shape {wanted}, found {_found(array)}{hint}")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array), array.dtype)])
    return array


def one_per(call: str, what: str, values: npt.ArrayLike, count: int, width: int = 1) -> Array:
    """`values` as (count,) or (count, width): one for each point. ValueError for another number."""
    array = numbers(call, what, values)
    if width == 1 and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    wanted = (count,) if width == 1 else (count, width)
    if array.shape != wanted:
        raise ValueError(
            f"{call}: {what} needs one row for each of the {count} points, the shape {wanted}, "
            f"found {_found(array)}"
        )
    return array


def colors(call: str, values: Color, count: int) -> Array:
    """Colours as uint8 (count, 4). One colour is for all."""
    rows = _color_rows(call, values)
    if rows.shape[0] == 1:
        return np.broadcast_to(rows, (count, 4))
    if rows.shape[0] != count:
        raise ValueError(
            f"{call}: found {rows.shape[0]} colours for {count} points. Give one, or one for each"
        )
    return rows


def _color_rows(call: str, values: Color) -> Array:
    if isinstance(values, str):
        return np.array([_named(call, values)], np.uint8)
    array = numbers(call, "color", values)
    rows = array[np.newaxis] if array.ndim == 1 else array.reshape(-1, *array.shape[-1:])
    if rows.ndim != 2 or rows.shape[1] not in (3, 4):
        raise ValueError(
            f"{call}: a colour has 3 or 4 numbers (red, green, blue, alpha), found {_found(array)}"
        )
    most = 1 if array.dtype.kind == "f" else 255
    if rows.size and not (np.nanmin(rows) >= 0 and np.nanmax(rows) <= most):
        raise ValueError(
            f"{call}: colours are integers from 0 to 255 or floats from 0 to 1, found "
            f"{np.nanmin(rows):g} to {np.nanmax(rows):g} of {array.dtype}"
        )
    if array.dtype.kind == "f":
        rows = np.nan_to_num(rows) * 255 + 0.5
    made = np.full((len(rows), 4), 255, np.uint8)
    made[:, : rows.shape[1]] = rows
    return made


def _named(call: str, text: str) -> tuple[int, ...]:
    if text in _NAMES:
        return (*_NAMES[text], 255)
    if text.startswith("#") and len(text) in _HEX_DIGITS:
        try:
            return (*bytes.fromhex(text[1:]), 255)[:4]
        except ValueError:
            pass
    raise ValueError(
        f"{call}: unknown colour '{text}'. Give #rrggbb, #rrggbbaa, or one of {', '.join(_NAMES)}"
    )


def color_message(row: Array) -> ColorRGBA:
    red, green, blue, alpha = (int(value) / 255 for value in row)
    return ColorRGBA(r=red, g=green, b=blue, a=alpha)


def color_messages(rows: Array) -> list[ColorRGBA]:
    return [color_message(row) for row in rows]


def point_messages(rows: Array) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in np.asarray(rows, np.float64).tolist()]


def rotations(
    call: str, orientation: npt.ArrayLike | None, yaw: npt.ArrayLike | None, count: int
) -> list[Quaternion]:
    """Rotations from quaternions x, y, z, w, (4,) or (count, 4), or from yaws in rad, () or
    (count,). One is for all, None is no rotation. Quaternions are normalised."""
    if orientation is not None and yaw is not None:
        raise ValueError(f"{call}: give either orientation or yaw")
    if yaw is not None:
        half = numbers(call, "yaw", yaw).astype(np.float64) / 2
        if half.shape not in ((), (count,)):
            raise ValueError(
                f"{call}: yaw needs one number for all or for each of the {count} poses, found "
                f"{_found(half)}"
            )
        half = np.atleast_1d(half)
        zero = np.zeros_like(half)
        array = np.column_stack([zero, zero, np.sin(half), np.cos(half)])
    elif orientation is None:
        return [Quaternion(w=1)] * count
    else:
        array = numbers(call, "orientation", orientation).astype(np.float64)
        if array.shape not in ((4,), (count, 4)):
            raise ValueError(
                f"{call}: orientation needs a quaternion (x, y, z, w) for all or for each of the "
                f"{count} poses, found {_found(array)}"
            )
        array = np.atleast_2d(array)
    length = np.linalg.norm(array, axis=1, keepdims=True)
    if not (np.isfinite(length).all() and (length > 0).all()):
        raise ValueError(f"{call}: a rotation is zero or not finite")
    made = [Quaternion(x=x, y=y, z=z, w=w) for x, y, z, w in (array / length).tolist()]
    return made * count if len(made) != count else made


def poses(
    call: str,
    what: str,
    values: npt.ArrayLike,
    orientation: npt.ArrayLike | None,
    yaw: npt.ArrayLike | None,
) -> list[Pose]:
    """Poses from positions as places(), or from matrices (4, 4) or (n, 4, 4)."""
    array = numbers(call, what, values)
    if array.shape[-2:] == (4, 4):
        if orientation is not None or yaw is not None:
            raise ValueError(f"{call}: a 4×4 matrix has a rotation, so give no orientation")
        return [_pose_of_matrix(call, matrix) for matrix in array.reshape(-1, 4, 4)]
    at = places(call, what, array)
    turned = rotations(call, orientation, yaw, len(at))
    return [
        Pose(position=point, orientation=turn)
        for point, turn in zip(point_messages(at), turned, strict=True)
    ]


def _pose_of_matrix(call: str, matrix: Array) -> Pose:
    try:
        pose = Transform.from_matrix("parent", "child", matrix)
    except (Error, ValueError) as error:
        raise ValueError(f"{call}: {error}") from None
    x, y, z = pose.translation.tolist()
    qx, qy, qz, qw = pose.rotation.tolist()
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
