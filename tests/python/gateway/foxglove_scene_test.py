"""Markers in the scene of Foxglove, parsed with the schemas of its SDK."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foxglove.messages import LinePrimitiveLineType, SceneEntityDeletionType
from hyphos.foxglove.convert import encoder
from hyphos.msgs import ColorRGBA, Marker, MarkerArray, Point, UVCoordinate, Vector3
from well_known import PUBLISHED_NS, converted, parser, stamped, well_known

KINDS = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
RED, BLUE = ColorRGBA(r=1, a=1), ColorRGBA(b=1, a=0.5)


def marker(kind: int, **fields: Any) -> Any:
    """A marker at (1, 2, 3), turned left by a quarter."""
    made = stamped(Marker(ns="a", id=4, type=kind, color=RED, **fields))  # type: ignore[arg-type]
    position, turn = made.pose.position, made.pose.orientation
    position.x, position.y, position.z = 1, 2, 3
    turn.z = turn.w = math.sqrt(0.5)
    return made


def points(*places: tuple[float, float, float]) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in places]


def only(kind: str, one: Any) -> list[Any]:
    """The primitives of the one entity, which has no others."""
    [entity] = converted(one).entities
    assert [name for name in KINDS if getattr(entity, name)] == [kind]
    return list(getattr(entity, kind))


def xyz(value: Any) -> Any:
    return pytest.approx([value.x, value.y, value.z], abs=1e-6)


def rgba(value: Any) -> tuple[float, ...]:
    return value.r, value.g, value.b, value.a


def tip(arrow: Any) -> list[float]:
    """The tip of an arrow, by the rotation matrix of its pose."""
    q = arrow.pose.orientation
    way = [
        1 - 2 * (q.y * q.y + q.z * q.z),
        2 * (q.x * q.y + q.z * q.w),
        2 * (q.x * q.z - q.y * q.w),
    ]
    start = arrow.pose.position
    length = arrow.shaft_length + arrow.head_length
    return [p + length * w for p, w in zip((start.x, start.y, start.z), way, strict=True)]


def test_a_marker_becomes_an_entity_with_its_name_and_lifetime() -> None:
    one = marker(Marker.CUBE, lifetime_ns=2_500_000_000, frame_locked=True)
    update = converted(one)
    assert not update.deletions
    [entity] = update.entities
    assert (entity.id, entity.frame_id, entity.frame_locked) == ("a:4", "map", True)
    assert (entity.timestamp.seconds, entity.timestamp.nanos) == (1, 500_000_000)
    assert (entity.lifetime.seconds, entity.lifetime.nanos) == (2, 500_000_000)
    assert not converted(marker(Marker.CUBE)).entities[0].HasField("lifetime")
    assert not converted(marker(Marker.CUBE, lifetime_ns=2**62)).entities[0].HasField("lifetime")


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Marker.CUBE, "cubes"), (Marker.SPHERE, "spheres"), (Marker.CYLINDER, "cylinders")],
)
def test_solids_keep_pose_size_and_colour(kind: int, name: str) -> None:
    [solid] = only(name, marker(kind, scale=Vector3(x=4, y=5, z=6)))
    assert xyz(solid.size) == [4, 5, 6]
    assert xyz(solid.pose.position) == [1, 2, 3]
    assert solid.pose.orientation.z == pytest.approx(math.sqrt(0.5))
    assert rgba(solid.color) == (1, 0, 0, 1)
    if name == "cylinders":
        assert (solid.bottom_scale, solid.top_scale) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Marker.CUBE_LIST, "cubes"), (Marker.SPHERE_LIST, "spheres"), (Marker.POINTS, "cubes")],
)
def test_lists_have_a_solid_at_each_point(kind: int, name: str) -> None:
    places = points((0, 0, 0), (10, 0, 0), (0, 10, 0))
    each = marker(kind, scale=Vector3(x=4, y=4, z=4), points=places, colors=[RED, BLUE, RED])
    made = only(name, each)
    # The pose of the marker turns x into y.
    for solid, place in zip(made, [(1, 2, 3), (1, 12, 3), (-9, 2, 3)], strict=True):
        assert xyz(solid.pose.position) == list(place)
        assert xyz(solid.size) == [4, 4, 4]
    assert [rgba(solid.color) for solid in made[:2]] == [(1, 0, 0, 1), (0, 0, 1, 0.5)]
    few = marker(kind, points=places, colors=[BLUE])
    assert {rgba(solid.color) for solid in only(name, few)} == {(1, 0, 0, 1)}


def test_an_arrow_with_a_pose_has_the_size_of_rviz() -> None:
    [arrow] = only("arrows", marker(Marker.ARROW, scale=Vector3(x=2, y=0.1, z=0.2)))
    assert tip(arrow) == pytest.approx([1, 4, 3])
    assert (arrow.shaft_length, arrow.head_length) == pytest.approx((1.54, 0.46))
    assert (arrow.shaft_diameter, arrow.head_diameter) == pytest.approx((0.1, 0.2))


DIRECTIONS = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (-1, 1e-9, 0)]


@pytest.mark.parametrize("way", [*DIRECTIONS, (1, 2, 3), (-3, 0.5, -2)])
def test_an_arrow_between_points_ends_at_the_second(way: tuple[float, float, float]) -> None:
    places = points((5, 6, 7), (5 + way[0], 6 + way[1], 7 + way[2]))
    one = marker(Marker.ARROW, points=places, scale=Vector3(x=0.1, y=0.2))
    [arrow] = only("arrows", one)
    # Turned by a quarter: (x, y) becomes (-y, x).
    assert xyz(arrow.pose.position) == [1 - 6, 2 + 5, 3 + 7]
    assert tip(arrow) == pytest.approx([1 - 6 - way[1], 2 + 5 + way[0], 3 + 7 + way[2]], abs=1e-6)
    length = math.hypot(*way)
    assert arrow.head_length == pytest.approx(0.23 * length)
    assert (arrow.shaft_diameter, arrow.head_diameter) == pytest.approx((0.1, 0.2))
    one.scale.z = 100  # a head is not longer than its arrow
    [arrow] = only("arrows", one)
    assert (arrow.shaft_length, arrow.head_length) == pytest.approx((0, length))


def test_a_strip_has_an_arrow_between_neighbours() -> None:
    places = points((0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0))
    made = only("arrows", marker(Marker.ARROW_STRIP, points=places, scale=Vector3(x=0.1, y=0.2)))
    assert len(made) == 2  # points that are equal make no arrow
    assert tip(made[0]) == pytest.approx([1, 3, 3])
    assert tip(made[1]) == pytest.approx([0, 3, 3])


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        (Marker.LINE_STRIP, LinePrimitiveLineType.LineStrip),
        (Marker.LINE_LIST, LinePrimitiveLineType.LineList),
    ],
)
def test_lines_keep_points_width_and_colours(kind: int, way: LinePrimitiveLineType) -> None:
    one = marker(kind, points=points((0, 0, 0), (1, 2, 3)), colors=[RED, BLUE])
    one.scale.x = 0.05
    [line] = only("lines", one)
    assert (line.type, line.thickness, line.scale_invariant) == (way.value, 0.05, False)
    assert [xyz(point) for point in line.points] == [[0, 0, 0], [1, 2, 3]]
    assert [rgba(color) for color in line.colors] == [(1, 0, 0, 1), (0, 0, 1, 0.5)]
    assert xyz(line.pose.position) == [1, 2, 3]
    del one.colors[1]
    [line] = only("lines", one)
    assert not line.colors
    assert rgba(line.color) == (1, 0, 0, 1)


def test_triangles_have_scaled_points_and_a_colour_of_each() -> None:
    places = points(*((n, n, n) for n in range(6)))
    one = marker(Marker.TRIANGLE_LIST, points=places, scale=Vector3(x=1, y=2, z=3))
    one.colors.extend([RED, BLUE])  # one for each triangle
    [made] = only("triangles", one)
    assert xyz(made.points[2]) == [2, 4, 6]
    assert [rgba(color)[2] for color in made.colors] == [0, 0, 0, 1, 1, 1]
    one.colors.extend([RED] * 4)  # one for each point
    assert len(only("triangles", one)[0].colors) == 6


def test_a_text_faces_the_viewer() -> None:
    [text] = only("texts", marker(Marker.TEXT_VIEW_FACING, text="Küche", scale=Vector3(z=0.3)))
    assert (text.text, text.billboard, text.font_size) == ("Küche", True, 0.3)


def test_meshes_are_addresses_or_embedded_files() -> None:
    one = marker(Marker.MESH_RESOURCE, mesh_resource="package://arm/arm.dae")
    one.scale.x = one.scale.y = one.scale.z = 2
    [model] = only("models", one)
    assert (model.url, model.override_color, model.data) == ("package://arm/arm.dae", True, b"")
    assert xyz(model.scale) == [2, 2, 2]
    one.mesh_use_embedded_materials = True
    assert not only("models", one)[0].override_color
    one.mesh_resource = "embedded://arm.STL"
    one.mesh_file.filename, one.mesh_file.data = "arm.STL", b"solid"
    [model] = only("models", one)
    assert (model.url, model.media_type, model.data) == ("", "model/stl", b"solid")
    one.mesh_file.filename = "arm.3ds"
    with pytest.raises(ValueError, match=r"marker 'a' 4: 'arm.3ds' is not one of dae, glb"):
        converted(one)


WRONG: dict[str, Any] = {
    "its type 99 is unknown": marker(99),
    "its action 9 is unknown": marker(Marker.CUBE, action=9),
    "the lifetime -1 ns is negative": marker(Marker.CUBE, lifetime_ns=-1),
    "an arrow has 2 points or none, not 1": marker(Marker.ARROW, points=points((0, 0, 0))),
    "even number of points, not 1": marker(Marker.LINE_LIST, points=points((0, 0, 0))),
    "but it has 1 points": marker(Marker.TRIANGLE_LIST, points=points((0, 0, 0))),
    "neither a mesh_resource nor a mesh_file": marker(Marker.MESH_RESOURCE),
}


@pytest.mark.parametrize("reason", WRONG)
def test_invalid_markers_are_refused_by_name(reason: str) -> None:
    with pytest.raises(ValueError, match="marker 'a' 4: ") as problem:
        converted(MarkerArray(markers=[marker(Marker.CUBE), WRONG[reason]]))
    assert reason in str(problem.value)


@pytest.mark.parametrize("kind", Marker.Type.values())
def test_a_marker_without_anything_is_drawn_or_refused(kind: int) -> None:
    empty = Marker(type=kind, uv_coordinates=[UVCoordinate()])  # type: ignore[arg-type]
    try:
        assert converted(empty).entities[0].id == ":0"
    except ValueError as problem:
        assert "mesh" in str(problem)


# --- Deletions ------------------------------------------------------------------------------------

ADD, DELETE, ALL = Marker.ADD, Marker.DELETE, Marker.DELETEALL
Change = tuple[int, str, int]  # action, namespace, id


@pytest.fixture
def update() -> Callable[..., Any]:
    """The updates of one channel, one after another."""
    known = well_known(MarkerArray())
    convert, parse = encoder("hyphos.msgs.MarkerArray", known), parser(known)

    def one(*changes: Change) -> Any:
        message = MarkerArray()
        for action, ns, number in changes:
            message.markers.add(action=action, ns=ns, id=number, type=Marker.CUBE)
        return parse(convert(message.SerializeToString(), [], PUBLISHED_NS))

    return one


class Viewer:
    """The entities that Foxglove shows: it deletes first, and then adds."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def apply(self, update: Any) -> set[str]:
        for deletion in update.deletions:
            if deletion.type == SceneEntityDeletionType.All.value:
                self.shown.clear()
            else:
                self.shown.discard(deletion.id)
        self.shown |= {entity.id for entity in update.entities}
        return self.shown


class Robot:
    """The markers that RViz shows: it applies one after another."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def apply(self, changes: list[Change]) -> set[str]:
        for action, ns, number in changes:
            if action == ADD:
                self.shown.add(f"{ns}:{number}")
            elif action == DELETE:
                self.shown.discard(f"{ns}:{number}")
            else:
                self.shown = {each for each in self.shown if ns and not each.startswith(f"{ns}:")}
        return self.shown


@pytest.mark.parametrize("seed", range(20))
def test_foxglove_shows_the_markers_that_rviz_shows(seed: int, update: Callable[..., Any]) -> None:
    random = np.random.default_rng(seed)
    viewer, robot = Viewer(), Robot()
    for _ in range(30):
        changes: list[Change] = []
        for _ in range(random.integers(1, 8)):
            action = (ADD, ADD, ADD, DELETE, ALL)[random.integers(5)]
            space = ("", "a", "b")[random.integers(3)]
            changes.append((action, space, int(random.integers(4))))
        assert viewer.apply(update(*changes)) == robot.apply(changes)


def test_a_deletion_is_later_than_the_entities(update: Callable[..., Any]) -> None:
    """Foxglove deletes only entities that are earlier than the deletion."""
    [entity] = update((ADD, "a", 1)).entities
    [deletion] = update((DELETE, "a", 1)).deletions
    assert entity.timestamp.nanos == PUBLISHED_NS % 10**9
    assert deletion.timestamp.nanos == entity.timestamp.nanos + 1
    late = stamped(Marker(action=DELETE))
    late.header.stamp_ns = 9 * 10**9
    assert converted(late).deletions[0].timestamp.seconds == 9


def test_a_refused_update_changes_nothing(update: Callable[..., Any]) -> None:
    update((ADD, "a", 1))
    with pytest.raises(ValueError, match="action 9"):
        update((ALL, "a", 0), (ADD, "a", 2), (9, "", 0))
    assert {one.id for one in update((ALL, "a", 0)).deletions} == {"a:1"}


def test_the_memory_of_a_channel_is_bounded(update: Callable[..., Any]) -> None:
    for start in range(0, 70_000, 10_000):
        update(*((ADD, "a", n) for n in range(start, start + 10_000)))
    deleted = {one.id for one in update((ALL, "a", 0)).deletions}
    assert len(deleted) == 65_536
    assert "a:69999" in deleted
    assert "a:0" not in deleted
