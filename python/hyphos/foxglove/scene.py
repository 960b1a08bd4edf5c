"""Converts markers to the scene of Foxglove: one entity for each marker.

A scene update holds first its deletions, then its entities. Foxglove deletes one entity or all, but
a marker may delete one namespace, so a scene keeps the names of its markers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from foxglove import messages as fox

from hyphos.foxglove import parts
from hyphos.msgs import Marker

_MOST_NAMES = 65_536  # of a scene
_LAST_LIFETIME_S = 2**31 - 1
# Parts of an arrow with a pose, as RViz draws it: of its length, and of its width.
_HEAD_LENGTH, _HEAD_WIDTH = 0.23, 2.0
_EMBEDDED = "embedded://"
_MEDIA = {
    "dae": "model/vnd.collada+xml",
    "glb": "model/gltf-binary",
    "gltf": "model/gltf+json",
    "obj": "model/obj",
    "stl": "model/stl",
}

Rotation = tuple[float, float, float, float]  # x, y, z, w
Place = tuple[float, float, float]
Parts = dict[str, list[Any]]  # of an entity: primitives by the name of their field


def _colour(c: Any) -> fox.Color:
    return fox.Color(r=c.r, g=c.g, b=c.b, a=c.a)


def _colours(marker: Any, count: int) -> list[fox.Color]:
    """A colour for each point. Colours of another number of points do not count."""
    if len(marker.colors) == count:
        return [_colour(c) for c in marker.colors]
    return [_colour(marker.color)] * count


def _place(point: Any) -> Place:
    return point.x, point.y, point.z


def _point(place: Place) -> fox.Point3:
    return fox.Point3(x=place[0], y=place[1], z=place[2])


def _rotation(q: Any) -> Rotation:
    length = math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w)
    return (q.x / length, q.y / length, q.z / length, q.w / length) if length else (0, 0, 0, 1)


def _product(a: Rotation, b: Rotation) -> Rotation:
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


def _turned(q: Rotation, p: Place) -> Place:
    x, y, z, _ = _product(_product(q, (*p, 0.0)), (-q[0], -q[1], -q[2], q[3]))
    return x, y, z


def _along(direction: Place) -> Rotation:
    """The shortest rotation of the x axis to a direction of length 1."""
    x, y, z = direction
    if x < -1 + 1e-12:
        return 0, 0, 1, 0
    w = math.sqrt((1 + x) / 2)
    return 0, -z / (2 * w), y / (2 * w), w


def _pose_at(marker: Any, place: Place, rotation: Rotation = (0, 0, 0, 1)) -> fox.Pose:
    """A pose relative to the pose of the marker."""
    own = _rotation(marker.pose.orientation)
    moved = _turned(own, place)
    start = _place(marker.pose.position)
    x, y, z, w = _product(own, rotation)
    return fox.Pose(
        position=fox.Vector3(x=start[0] + moved[0], y=start[1] + moved[1], z=start[2] + moved[2]),
        orientation=fox.Quaternion(x=x, y=y, z=z, w=w),
    )


def _arrow_between(marker: Any, tail: Any, tip: Any, color: fox.Color) -> fox.ArrowPrimitive | None:
    """None for an arrow without length."""
    start, end = _place(tail), _place(tip)
    length = math.dist(start, end)
    if not length:
        return None
    way = tuple((b - a) / length for a, b in zip(start, end, strict=True))
    head = min(length, marker.scale.z or _HEAD_LENGTH * length)
    return fox.ArrowPrimitive(
        pose=_pose_at(marker, start, _along((way[0], way[1], way[2]))),
        shaft_length=length - head,
        shaft_diameter=marker.scale.x,
        head_length=head,
        head_diameter=marker.scale.y,
        color=color,
    )


def _arrow(marker: Any) -> Parts:
    if marker.points:
        if len(marker.points) != 2:
            raise ValueError(f"an arrow has 2 points or none, not {len(marker.points)}")
        tail, tip = marker.points
        between = _arrow_between(marker, tail, tip, _colour(marker.color))
        return {"arrows": [between] if between else []}
    scale = marker.scale
    return {
        "arrows": [
            fox.ArrowPrimitive(
                pose=parts.pose(marker.pose),
                shaft_length=scale.x * (1 - _HEAD_LENGTH),
                shaft_diameter=scale.y,
                head_length=scale.x * _HEAD_LENGTH,
                head_diameter=scale.y * _HEAD_WIDTH,
                color=_colour(marker.color),
            )
        ]
    }


def _arrow_strip(marker: Any) -> Parts:
    points = marker.points
    colours = _colours(marker, len(points))
    made = [
        _arrow_between(marker, *pair) for pair in zip(points, points[1:], colours, strict=False)
    ]
    return {"arrows": [arrow for arrow in made if arrow is not None]}


def _cube(marker: Any) -> Parts:
    return {"cubes": [fox.CubePrimitive(**_solid(marker))]}


def _sphere(marker: Any) -> Parts:
    return {"spheres": [fox.SpherePrimitive(**_solid(marker))]}


def _cylinder(marker: Any) -> Parts:
    return {"cylinders": [fox.CylinderPrimitive(**_solid(marker), bottom_scale=1, top_scale=1)]}


def _solid(marker: Any) -> dict[str, Any]:
    return {
        "pose": parts.pose(marker.pose),
        "size": parts.vector(marker.scale),
        "color": _colour(marker.color),
    }


def _at_points(marker: Any, primitive: Any, size: fox.Vector3) -> list[Any]:
    colours = _colours(marker, len(marker.points))
    return [
        primitive(pose=_pose_at(marker, _place(point)), size=size, color=color)
        for point, color in zip(marker.points, colours, strict=True)
    ]


def _cubes(marker: Any) -> Parts:
    return {"cubes": _at_points(marker, fox.CubePrimitive, parts.vector(marker.scale))}


def _spheres(marker: Any) -> Parts:
    return {"spheres": _at_points(marker, fox.SpherePrimitive, parts.vector(marker.scale))}


def _points(marker: Any) -> Parts:
    """Foxglove's scene has no points, so a point becomes a cube of its width and height."""
    width, height = marker.scale.x, marker.scale.y or marker.scale.x
    size = fox.Vector3(x=width, y=height, z=min(width, height))
    return {"cubes": _at_points(marker, fox.CubePrimitive, size)}


def _lines(marker: Any, kind: fox.LinePrimitiveLineType) -> Parts:
    each = len(marker.colors) == len(marker.points)
    line = fox.LinePrimitive(
        type=kind,
        pose=parts.pose(marker.pose),
        thickness=marker.scale.x,
        points=[_point(_place(point)) for point in marker.points],
        color=_colour(marker.color),
        colors=[_colour(c) for c in marker.colors] if each else [],
    )
    return {"lines": [line]}


def _line_strip(marker: Any) -> Parts:
    return _lines(marker, fox.LinePrimitiveLineType.LineStrip)


def _line_list(marker: Any) -> Parts:
    if len(marker.points) % 2:
        raise ValueError(f"a list of lines has an even number of points, not {len(marker.points)}")
    return _lines(marker, fox.LinePrimitiveLineType.LineList)


def _text(marker: Any) -> Parts:
    return {
        "texts": [
            fox.TextPrimitive(
                pose=parts.pose(marker.pose),
                billboard=True,
                font_size=marker.scale.z,
                color=_colour(marker.color),
                text=marker.text,
            )
        ]
    }


def _mesh(marker: Any) -> Parts:
    address, data, media = marker.mesh_resource, b"", ""
    if address.startswith(_EMBEDDED):
        address, data = "", marker.mesh_file.data
        suffix = marker.mesh_file.filename.rpartition(".")[2].lower()
        media = _MEDIA.get(suffix, "")
        if not media:
            raise ValueError(f"'{marker.mesh_file.filename}' is not one of {', '.join(_MEDIA)}")
    if not address and not data:
        raise ValueError("it has neither a mesh_resource nor a mesh_file")
    model = fox.ModelPrimitive(
        pose=parts.pose(marker.pose),
        scale=parts.vector(marker.scale),
        color=_colour(marker.color),
        override_color=not marker.mesh_use_embedded_materials,
        url=address,
        media_type=media,
        data=data,
    )
    return {"models": [model]}


def _triangles(marker: Any) -> Parts:
    points, scale = marker.points, marker.scale
    if len(points) % 3:
        raise ValueError(f"triangles have three points each, but it has {len(points)} points")
    colours: Iterable[Any] = []
    if len(marker.colors) == len(points):
        colours = marker.colors
    elif len(marker.colors) == len(points) // 3:  # one for each triangle
        colours = (c for c in marker.colors for _ in range(3))
    triangles = fox.TriangleListPrimitive(
        pose=parts.pose(marker.pose),
        points=[_point((p.x * scale.x, p.y * scale.y, p.z * scale.z)) for p in points],
        color=_colour(marker.color),
        colors=[_colour(c) for c in colours],
    )
    return {"triangles": [triangles]}


_SHAPES: dict[int, Callable[[Any], Parts]] = {
    Marker.ARROW: _arrow,
    Marker.CUBE: _cube,
    Marker.SPHERE: _sphere,
    Marker.CYLINDER: _cylinder,
    Marker.LINE_STRIP: _line_strip,
    Marker.LINE_LIST: _line_list,
    Marker.CUBE_LIST: _cubes,
    Marker.SPHERE_LIST: _spheres,
    Marker.POINTS: _points,
    Marker.TEXT_VIEW_FACING: _text,
    Marker.MESH_RESOURCE: _mesh,
    Marker.TRIANGLE_LIST: _triangles,
    Marker.ARROW_STRIP: _arrow_strip,
}


def _lifetime(lifetime_ns: int) -> fox.Duration | None:
    """None: for ever. Foxglove cannot state more than 68 years."""
    if lifetime_ns < 0:
        raise ValueError(f"the lifetime {lifetime_ns} ns is negative")
    seconds, rest = divmod(lifetime_ns, parts.NS)
    return fox.Duration(seconds, rest) if lifetime_ns and seconds <= _LAST_LIFETIME_S else None


Name = tuple[str, int]  # namespace and id


class Scene:
    """The markers of one channel. marker() and markers() are for one thread.

    A scene keeps the last 65,536 names. Deletion of a namespace leaves older markers.
    """

    def __init__(self) -> None:
        self._names: dict[Name, None] = {}  # the latest is the last one

    def marker(self, head: Any, _: Sequence[Any], published_ns: int) -> bytes:
        return self._update([head], published_ns)

    def markers(self, head: Any, _: Sequence[Any], published_ns: int) -> bytes:
        return self._update(head.markers, published_ns)

    def _update(self, markers: Sequence[Any], published_ns: int) -> bytes:
        """The markers in their order. ValueError leaves the names as they were."""
        deletions: dict[Name | None, fox.SceneEntityDeletion] = {}
        entities: dict[Name, fox.SceneEntity] = {}
        for marker in markers:
            name = (marker.ns, marker.id)
            try:
                if marker.action == Marker.ADD:
                    entities[name] = _entity(marker, published_ns)
                    continue
                for gone in self._deleted(marker, entities):
                    deletions[gone] = _deletion(marker, published_ns, gone)
                    if gone is None:
                        entities.clear()
                    else:
                        entities.pop(gone, None)
            except ValueError as problem:
                raise ValueError(f"marker '{marker.ns}' {marker.id}: {problem}") from None
        self._remember(deletions, entities)
        update = fox.SceneUpdate(
            deletions=list(deletions.values()), entities=list(entities.values())
        )
        return update.encode()

    def _deleted(self, marker: Any, added: Iterable[Name]) -> Sequence[Name | None]:
        """The names of deleted markers. None stands for all."""
        if marker.action == Marker.DELETE:
            return [(marker.ns, marker.id)]
        if marker.action != Marker.DELETEALL:
            raise ValueError(f"its action {marker.action} is unknown")
        if not marker.ns:
            return [None]
        return [name for name in (*self._names, *added) if name[0] == marker.ns]

    def _remember(self, deleted: Iterable[Name | None], added: Iterable[Name]) -> None:
        for gone in deleted:
            if gone is None:
                self._names.clear()
            else:
                self._names.pop(gone, None)
        for name in added:
            self._names.pop(name, None)
            self._names[name] = None
        while len(self._names) > _MOST_NAMES:
            del self._names[next(iter(self._names))]


def _entity_id(name: Name) -> str:
    return f"{name[0]}:{name[1]}"


def _deletion(marker: Any, published_ns: int, name: Name | None) -> fox.SceneEntityDeletion:
    """Foxglove deletes only entities that are earlier than the deletion, hence one ns more."""
    kinds = fox.SceneEntityDeletionType
    return fox.SceneEntityDeletion(
        timestamp=parts.time(max(marker.header.stamp_ns, published_ns) + 1, published_ns),
        type=kinds.All if name is None else kinds.MatchingId,
        id="" if name is None else _entity_id(name),
    )


def _entity(marker: Any, published_ns: int) -> fox.SceneEntity:
    shape = _SHAPES.get(marker.type)
    if shape is None:
        raise ValueError(f"its type {marker.type} is unknown")
    fields: dict[str, Any] = parts.stamp(marker, published_ns) | shape(marker)
    return fox.SceneEntity(
        id=_entity_id((marker.ns, marker.id)),
        lifetime=_lifetime(marker.lifetime_ns),
        frame_locked=marker.frame_locked,
        **fields,
    )
