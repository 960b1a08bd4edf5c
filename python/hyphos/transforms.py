"""Coordinate frames in Python: transforms as values, and the tree of the robot's frames."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import TransformEdge
from hyphos._timeouts import to_ns
from hyphos.types import dense

Vector = npt.NDArray[np.float64]
Array = TypeVar("Array", bound=npt.NDArray[Any])

_FORMATS = {np.dtype(np.float32): False, np.dtype(np.float64): True}


class Transform:
    """The pose of frame `child` in frame `parent` at a time: `p_parent = R p_child + translation`.

    Immutable. Translations are in metres. The rotation is a unit quaternion x, y, z, w.
    """

    __slots__ = ("_core",)

    def __init__(
        self,
        parent: str,
        child: str,
        translation: Iterable[float] = (0.0, 0.0, 0.0),
        rotation: Iterable[float] | None = None,
        *,
        roll_pitch_yaw: Iterable[float] | None = None,
        stamp_ns: int = 0,
    ) -> None:
        """`rotation` is a quaternion x, y, z, w. Give `roll_pitch_yaw` in rad instead if you
        like. `stamp_ns` is in nanoseconds."""
        if rotation is not None and roll_pitch_yaw is not None:
            raise TypeError("give either a quaternion or roll_pitch_yaw")
        x, y, z = translation
        if roll_pitch_yaw is not None:
            roll, pitch, yaw = roll_pitch_yaw
            quaternion = _hyphos.Transform.quaternion(roll, pitch, yaw)
        else:
            qx, qy, qz, qw = (0.0, 0.0, 0.0, 1.0) if rotation is None else rotation
            quaternion = (float(qx), float(qy), float(qz), float(qw))
        self._core = _hyphos.Transform(
            parent, child, stamp_ns, (float(x), float(y), float(z)), quaternion
        )

    @classmethod
    def _wrap(cls, core: _hyphos.Transform) -> Self:
        made = cls.__new__(cls)
        made._core = core
        return made

    @classmethod
    def from_matrix(
        cls, parent: str, child: str, matrix: npt.ArrayLike, *, stamp_ns: int = 0
    ) -> Self:
        """From a homogeneous 4×4 matrix. Raises an error if it is not a rigid motion."""
        rows = np.ascontiguousarray(_real(matrix, "a matrix"), np.float64)
        if rows.shape != (4, 4):
            raise ValueError(f"a transform needs a 4×4 matrix, not the shape {rows.shape}")
        return cls._wrap(_hyphos.Transform.from_matrix(parent, child, stamp_ns, rows))

    @property
    def parent(self) -> str:
        """The name of the parent frame."""
        return self._core.parent

    @property
    def child(self) -> str:
        """The name of the child frame."""
        return self._core.child

    @property
    def stamp_ns(self) -> int:
        """The time of the pose in nanoseconds, or 0 if nothing between the frames moves."""
        return self._core.stamp_ns

    @property
    def translation(self) -> Vector:
        """x, y, z in metres, float64 (3,)."""
        return self._core.translation

    @property
    def rotation(self) -> Vector:
        """The unit quaternion x, y, z, w, float64 (4,)."""
        return self._core.rotation

    @property
    def roll_pitch_yaw(self) -> tuple[float, float, float]:
        """Rotations about x, then the fixed y, then the fixed z, in rad."""
        return self._core.roll_pitch_yaw

    @property
    def matrix(self) -> Vector:
        """The homogeneous matrix, float64 (4, 4)."""
        return self._core.matrix

    def inverse(self) -> Transform:
        """The pose of the parent in the child."""
        return Transform._wrap(self._core.inverse())

    def __matmul__(self, inner: Transform) -> Transform:
        """`a_in_b @ c_in_a` is the pose of c in b. ValueError if the frames do not join."""
        if not isinstance(inner, Transform):
            return NotImplemented
        if self.child != inner.parent:
            raise ValueError(
                f"'{self.child}' in '{self.parent}' and '{inner.child}' in '{inner.parent}' do not "
                f"join: '{self.child}' is not '{inner.parent}'"
            )
        return Transform._wrap(self._core.compose(inner._core))

    def apply(self, points: Array) -> Array:
        """Converts points of the child frame to the parent frame. Returns a new array.

        `points` has x, y, z first in its last axis ((3,), (n, 3), (n, 4) with intensity, (h, w, 3),
        …), as float32 or float64. It may also be a structured array with adjacent fields x, y and
        z, such as the result of cloud_to_numpy(). All other values are copied. The arithmetic uses
        double precision, in C++ and without the GIL.
        """
        given = _real(points, "points")
        if given.dtype.names is None and given.dtype not in _FORMATS:
            given = given.astype(np.float64)
        out = dense(given, copy=True)
        base, offset = _place_of_xyz(out)
        if out.dtype.names and (offset % base.itemsize or out.dtype.itemsize % base.itemsize):
            moved = self.apply(np.stack([out[name] for name in "xyz"], -1))  # packed, unaligned
            for i, name in enumerate("xyz"):
                out[name] = moved[..., i]
        elif out.size:
            self._core.move_in_place(
                out.reshape(-1).view(np.uint8),
                offset,
                out.dtype.itemsize if out.dtype.names else out.shape[-1] * out.dtype.itemsize,
                out.size if out.dtype.names else out.size // out.shape[-1],
                _FORMATS[base],
            )
        return out  # type: ignore[return-value]

    def __repr__(self) -> str:
        x, y, z = self.translation
        roll, pitch, yaw = np.degrees(self.roll_pitch_yaw)
        return (
            f"Transform('{self.child}' in '{self.parent}': {x:.4g}, {y:.4g}, {z:.4g} m, "
            f"roll {roll:.4g}°, pitch {pitch:.4g}°, yaw {yaw:.4g}°, stamp_ns={self.stamp_ns})"
        )


def _real(values: npt.ArrayLike, what: str) -> npt.NDArray[Any]:
    """An array of real numbers or of fields. TypeError for values that would lose a part."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise TypeError(f"{what} cannot have a mask: give array.filled(value)")
    array = np.asarray(values)
    if array.dtype.names is None and array.dtype.kind not in "biuf":
        raise TypeError(f"{what} need real numbers, not {array.dtype}")
    return array


def _place_of_xyz(array: npt.NDArray[Any]) -> tuple[np.dtype[Any], int]:
    """The dtype of a coordinate, and the byte offset of x in an element."""
    if array.dtype.names is None:
        if array.ndim == 0 or array.shape[-1] < 3:
            raise ValueError(f"points need x, y, z in the last axis, not the shape {array.shape}")
        return array.dtype, 0
    fields: Any = array.dtype.fields or {}
    if any(name not in fields for name in "xyz"):
        raise ValueError(f"points need fields x, y and z, not {', '.join(array.dtype.names)}")
    (dx, x), (dy, y), (dz, z) = (fields[name][:2] for name in "xyz")
    if not (dx == dy == dz and dx in _FORMATS):
        raise ValueError("x, y and z must all be float32 or all float64, in native byte order")
    if not (y - x == z - y == dx.itemsize):
        raise ValueError("x, y and z must be adjacent")
    return dx, int(x)


class Transforms:
    """The robot's coordinate frames, shared by all its processes. See `node.transforms()`.

    There is one tree per process and prefix. Thread-safe. Functions raise `hyphos.Error`, whose
    `code` is `not_found` (no such frame), `disconnected` (the frames are in two trees),
    `out_of_range` (not known at that time), `invalid_config` (set() with an invalid value or a
    cycle) or `timeout`.
    """

    def __init__(self, core: _hyphos.Transforms) -> None:
        self._core = core

    def set(self, *transforms: Transform) -> None:
        """Publishes poses of moving frames. Several are published as one message. If some are
        refused, the others are set and the error is that of the first."""
        self._core.set([transform._core for transform in transforms], False)

    def set_static(self, *transforms: Transform) -> None:
        """Publishes poses that never change. Set them once: processes that start later get them."""
        self._core.set([transform._core for transform in transforms], True)

    def get(
        self, target: str, source: str, time_ns: int = 0, *, timeout_ms: float = 0.0
    ) -> Transform:
        """Returns the transform from coordinates in `source` to coordinates in `target`.

        `time_ns` 0 is the newest time at which the whole chain is known. With `timeout_ms` the call
        blocks until the transform is known, with the GIL released.
        """
        timeout_ns = to_ns(max(0, timeout_ms))
        return Transform._wrap(self._core.get(target, source, time_ns, timeout_ns))

    def get_between(
        self, target: str, target_time_ns: int, source: str, source_time_ns: int, fixed_frame: str
    ) -> Transform:
        """The pose of `source` at one time, seen from `target` at another time. `fixed_frame`, such
        as the world, did not move between the two times."""
        return Transform._wrap(
            self._core.get_between(target, target_time_ns, source, source_time_ns, fixed_frame)
        )

    def wait(
        self, target: str, source: str, time_ns: int = 0, *, timeout_ms: float
    ) -> Future[Transform]:
        """Like get(), as a future. A thread of the pool sets the future.

        In asyncio use `await asyncio.wrap_future(transforms.wait(...))`. In a callback use
        `get(timeout_ms=...)`, which blocks, or the future's add_done_callback(), which does not.
        `result()` would block the thread of the pool that must set the future.
        """
        future: Future[Transform] = Future()
        future.set_running_or_notify_cancel()

        def done(core: _hyphos.Transform | None, error: Error | None) -> None:
            if core is not None:
                future.set_result(Transform._wrap(core))
            else:
                future.set_exception(error)

        self._core.wait(target, source, time_ns, to_ns(max(0, timeout_ms)), done)
        return future

    def chain(self, target: str, source: str) -> tuple[list[str], int]:
        """The frames from `source` to `target`, and the index of their common ancestor."""
        return self._core.chain(target, source)

    def edges(self) -> list[TransformEdge]:
        """All frames with a parent, in the order in which the frames were first named."""
        return self._core.edges()

    def counters(self) -> dict[str, int]:
        """Counters of the transforms that were received or set: accepted, duplicates, stale,
        refused. Of the accepted: replaced, reparented. Also shortened histories and
        clock_jumps."""
        return self._core.counters()

    def clear(self) -> None:
        """Clears the history of all moving frames."""
        self._core.clear()

    @property
    def channel(self) -> str:
        """The channel of moving transforms: "tf", or "PREFIX/tf"."""
        return self._core.channel


def open_transforms(
    node: _hyphos.Node,
    prefix: str,
    history_ms: float,
    max_samples: int,
    max_frames: int,
    clock_jump_ms: float,
) -> Transforms:
    """The tree of Node.transforms(), after a check of its options."""
    for option, value, least in (
        ("history_ms", history_ms, 1e-3),
        ("max_samples", max_samples, 1),
        ("max_frames", max_frames, 1),
        ("clock_jump_ms", clock_jump_ms, 0),
    ):
        if not least <= value <= 1e12:
            raise Error(
                "invalid_config", f"transforms(): {option} is {value}; give {least:g} or more"
            )
    return Transforms(
        _hyphos.open_transforms(
            node,
            prefix,
            round(history_ms * 1e6),
            max_samples,
            max_frames,
            round(clock_jump_ms * 1e6),
        )
    )
