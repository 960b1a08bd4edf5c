"""Values that several converters share: stamps, vectors, rotations and poses."""

from __future__ import annotations

from typing import Any

from foxglove import messages as fox

NS = 1_000_000_000
_LAST_S = 2**32 - 1  # Foxglove's stamps are unsigned


def time(stamp_ns: int, published_ns: int) -> fox.Timestamp:
    """The stamp, or the publish time if the stamp is not set."""
    seconds, rest = divmod(stamp_ns or published_ns, NS)
    if not 0 <= seconds <= _LAST_S:
        raise ValueError(f"the stamp {stamp_ns} ns is before 1970 or after 2106")
    return fox.Timestamp(seconds, rest)


def stamp(head: Any, published_ns: int) -> dict[str, Any]:
    header = head.header
    return {"timestamp": time(header.stamp_ns, published_ns), "frame_id": header.frame_id}


def vector(v: Any) -> fox.Vector3:
    return fox.Vector3(x=v.x, y=v.y, z=v.z)


def quaternion(q: Any) -> fox.Quaternion:
    """An unset quaternion becomes the identity."""
    unset = not (q.x or q.y or q.z or q.w)
    return fox.Quaternion(x=q.x, y=q.y, z=q.z, w=1.0 if unset else q.w)


def pose(one: Any) -> fox.Pose:
    return fox.Pose(position=vector(one.position), orientation=quaternion(one.orientation))


def origin() -> fox.Pose:
    return fox.Pose(position=fox.Vector3(), orientation=fox.Quaternion(w=1.0))
