"""node.view(): arrays as messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Inbox
from hyphos import _hyphos
from hyphos.msgs import Float64, Image, Marker, MarkerArray, Path, PointCloud, PoseStamped

Cloud = hyphos.Attached[PointCloud]


@pytest.fixture
def node(domain: str) -> Iterator[hyphos.Node]:
    with hyphos.Node.open("shower", domain=domain) as opened:
        yield opened


def received(node: hyphos.Node, channel: str, kind: Any) -> Any:
    """The latched message of the channel."""
    inbox = Inbox()
    subscription = node.subscribe(channel, kind, inbox)
    [message] = inbox.wait(1)
    subscription.close()
    return message


def test_points_arrive_with_their_frame_and_time(node: hyphos.Node) -> None:
    xyz = np.arange(12, dtype=np.float32).reshape(4, 3)
    before = node.clock.now_ns()
    assert node.view(frame="odom").points("cloud", xyz)
    cloud = received(node, "cloud", Cloud)
    assert cloud.head.header.frame_id == "odom"
    assert before <= cloud.head.header.stamp_ns <= node.clock.now_ns()
    assert [field.name for field in cloud.head.fields] == ["x", "y", "z"]
    assert np.array_equal(hyphos.cloud_to_numpy(cloud).view(np.float32).reshape(4, 3), xyz)


@pytest.mark.parametrize(
    ("xyz", "expected"),
    [
        (np.array([[1.5, 2], [3, 4]]), [[1.5, 2, 0], [3, 4, 0]]),
        ([[1, 2, 3]], [[1, 2, 3]]),
        (np.arange(12, dtype=np.int16).reshape(2, 2, 3), np.arange(12).reshape(4, 3).tolist()),
        (np.arange(9.0).reshape(3, 3).T, np.arange(9.0).reshape(3, 3).T.tolist()),
        (np.zeros((0, 3)), []),
        ([], []),
    ],
    ids=["plane", "list", "image", "transposed", "none", "empty list"],
)
def test_points_of_any_shape_and_layout_arrive(node: hyphos.Node, xyz: Any, expected: Any) -> None:
    node.view().points("cloud", xyz)
    points = hyphos.cloud_to_numpy(received(node, "cloud", Cloud))
    assert [list(point) for point in points.tolist()] == expected


def test_colours_and_intensities_are_fields_of_the_cloud(node: hyphos.Node) -> None:
    xyz = np.zeros((2, 3))
    colors = np.array([[255, 128, 0], [1, 2, 3]], np.uint8)
    node.view().points("cloud", xyz, colors=colors, intensity=[0.5, 2])
    points = hyphos.cloud_to_numpy(received(node, "cloud", Cloud))
    assert [f"{value:08x}" for value in points["rgb"]] == ["ffff8000", "ff010203"]
    assert points["intensity"].tolist() == [0.5, 2]


@pytest.mark.parametrize(
    ("color", "packed"),
    [
        ("#102030", "ff102030"),
        ("#10203040", "40102030"),
        ("white", "ffffffff"),
        ((1.0, 0.5, 0.0), "ffff8000"),
        ((255, 128, 0, 7), "07ff8000"),
    ],
)
def test_a_colour_may_be_a_text_or_numbers(node: hyphos.Node, color: Any, packed: str) -> None:
    node.view().points("cloud", np.zeros((3, 3)), colors=color)
    points = hyphos.cloud_to_numpy(received(node, "cloud", Cloud))
    assert [f"{value:08x}" for value in points["rgb"]] == [packed] * 3


def test_a_structured_array_keeps_its_fields(node: hyphos.Node) -> None:
    points = np.zeros(2, [("x", "f8"), ("y", "f8"), ("z", "f8"), ("ring", "u2")])
    points["ring"] = [3, 4]
    node.view().points("cloud", points)
    cloud = hyphos.cloud_to_numpy(received(node, "cloud", Cloud))
    assert cloud.dtype.names == ("x", "y", "z", "ring")
    assert cloud["ring"].tolist() == [3, 4]


def test_loaned_points_are_not_copied(node: hyphos.Node) -> None:
    view = node.view()
    xyz = view.loan_points("cloud", 1000)
    assert xyz.shape == (1000, 3)
    xyz[:] = 2
    place = xyz.ctypes.data
    view.points("cloud", xyz)
    cloud = received(node, "cloud", Cloud)
    assert cloud.buffers[0].ctypes.data == place


def test_poses_and_paths_arrive(node: hyphos.Node) -> None:
    view = node.view("debug", frame="odom")
    view.pose("robot", (1, 2), yaw=np.pi)
    pose = received(node, "debug/robot", PoseStamped)
    assert (pose.pose.position.x, pose.pose.position.y, pose.pose.position.z) == (1, 2, 0)
    assert pose.pose.orientation.z == pytest.approx(1)
    matrix = hyphos.Transform("a", "b", (1, 2, 3), roll_pitch_yaw=(0.1, 0.2, 0.3)).matrix
    view.path("way", np.array([matrix, np.eye(4)]), frame="map", stamp_ns=5)
    path = received(node, "debug/way", Path)
    assert [(p.header.frame_id, p.header.stamp_ns) for p in path.poses] == [("map", 5)] * 2
    turn = path.poses[0].pose.orientation
    expected = hyphos.Transform("a", "b", roll_pitch_yaw=(0.1, 0.2, 0.3)).rotation
    assert np.allclose([turn.x, turn.y, turn.z, turn.w], expected)


def shapes_of(node: hyphos.Node, name: str) -> list[Any]:
    array = received(node, name, MarkerArray)
    first, *rest = array.markers
    assert first.action == Marker.DELETEALL, "a drawing replaces the earlier one"
    assert [(one.ns, one.id) for one in rest] == [(name, number) for number in range(len(rest))]
    assert {one.header.frame_id for one in rest} <= {"map"}
    return list(rest)


@pytest.mark.parametrize(
    ("draw", "kinds", "points"),
    [
        (lambda v: v.line("s", [(0, 0), (1, 1), (2, 0)]), [Marker.LINE_STRIP], 3),
        (lambda v: v.line("s", [(0, 0), (1, 1), (2, 0)], closed=True), [Marker.LINE_STRIP], 4),
        (lambda v: v.line("s", np.zeros((5, 2, 3))), [Marker.LINE_LIST], 10),
        (lambda v: v.arrow("s", (0, 0, 0), np.zeros((2, 3))), [Marker.ARROW] * 2, 2),
        (lambda v: v.box("s", np.zeros((4, 3)), 0.5), [Marker.CUBE_LIST], 4),
        (lambda v: v.box("s", np.zeros((2, 3)), np.ones((2, 3))), [Marker.CUBE] * 2, 0),
        (lambda v: v.box("s", (1, 2, 3), (1, 2, 3), yaw=1), [Marker.CUBE], 0),
        (lambda v: v.sphere("s", np.zeros((4, 3)), 0.5), [Marker.SPHERE_LIST], 4),
        (lambda v: v.sphere("s", np.zeros((2, 3)), [1, 2]), [Marker.SPHERE] * 2, 0),
        (lambda v: v.text("s", ["a", "b"], np.zeros((2, 3))), [Marker.TEXT_VIEW_FACING] * 2, 0),
    ],
)
def test_shapes_are_markers(
    node: hyphos.Node, draw: Callable[[hyphos.View], object], kinds: list[int], points: int
) -> None:
    draw(node.view())
    shapes = shapes_of(node, "s")
    assert [shape.type for shape in shapes] == kinds
    assert len(shapes[0].points) == points


def test_sizes_colours_and_texts_of_shapes_arrive(node: hyphos.Node) -> None:
    view = node.view()
    view.sphere("ball", (1, 2, 3), 0.5, color=(255, 0, 0, 51))
    [ball] = shapes_of(node, "ball")
    assert (ball.scale.x, ball.scale.y, ball.scale.z) == (1, 1, 1)
    assert (ball.color.r, ball.color.g) == (1, 0)
    assert ball.color.a == pytest.approx(0.2)
    view.text("label", "hall", (1, 2, 3), size=0.7)
    [label] = shapes_of(node, "label")
    assert (label.text, label.scale.z, label.pose.position.y) == ("hall", 0.7, 2)
    view.line("edge", np.zeros((2, 3)), color=np.array([[255, 0, 0], [0, 0, 255]]))
    [edge] = shapes_of(node, "edge")
    assert [(color.r, color.b) for color in edge.colors] == [(1, 0), (0, 1)]
    view.clear("edge")
    assert shapes_of(node, "edge") == []


def test_images_and_numbers_arrive(node: hyphos.Node) -> None:
    view = node.view()
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    view.image("camera", pixels, "bgr8")
    image = received(node, "camera", hyphos.Attached[Image])
    assert (image.head.encoding, image.head.header.frame_id) == ("bgr8", "map")
    assert np.array_equal(hyphos.image_to_numpy(image), pixels)
    view.scalar("error", np.float32(0.25))
    assert received(node, "error", Float64).data == 0.25


@pytest.mark.parametrize(
    ("draw", "kind", "text"),
    [
        (lambda v: v.points("c", np.zeros((3, 9))), ValueError,
         r"points\('c'\): xyz needs the shape .*found the shape \(3, 9\) of float64.*xyz\.T"),
        (lambda v: v.points("c", np.zeros(5)), ValueError, r"found the shape \(1, 5\)"),
        (lambda v: v.points("c", np.zeros((2, 3), complex)), TypeError, "complex128"),
        (lambda v: v.points("c", [["a", "b", "c"]]), TypeError, "needs numbers"),
        (lambda v: v.points("c", [[1, 2, 3], [1]]), ValueError, "not an array"),
        (lambda v: v.points("c", [[1e300, 0, 0]]), ValueError, "range of float32"),
        (lambda v: v.points("c", np.zeros((2, 3)), colors=np.zeros((3, 3), np.uint8)), ValueError,
         "3 colours for 2 points"),
        (lambda v: v.points("c", np.zeros((2, 3)), colors=(255.0, 0, 0)), ValueError,
         "floats from 0 to 1, found 0 to 255"),
        (lambda v: v.points("c", np.zeros((2, 3)), colors="pink"), ValueError, "one of black"),
        (lambda v: v.points("c", np.zeros((2, 3)), intensity=[1, 2, 3]), ValueError,
         r"intensity needs one row for each of the 2 points"),
        (lambda v: v.pose("c", np.zeros((2, 3))), ValueError, r"use path\(\)"),
        (lambda v: v.pose("c", (0, 0), (0, 0, 0, 0)), ValueError, "zero or not finite"),
        (lambda v: v.pose("c", (0, 0), (0, 0, 0, 1), yaw=1), ValueError, "either"),
        (lambda v: v.pose("c", np.full((4, 4), 2.0)), ValueError, r"pose\('c'\)"),
        (lambda v: v.path("c", np.zeros((3, 3)), yaw=[1, 2]), ValueError, "each of the 3 poses"),
        (lambda v: v.line("c", np.zeros((3, 3, 3))), ValueError, r"\(n, 2, 3\)"),
        (lambda v: v.arrow("c", np.zeros((2, 3)), np.zeros((3, 3))), ValueError, "2 starts"),
        (lambda v: v.box("c", (0, 0, 0), (1, 2)), ValueError, r"found the shape \(2,\)"),
        (lambda v: v.text("c", ["a"], np.zeros((2, 3))), ValueError, "1 texts for 2 positions"),
        (lambda v: v.image("c", np.zeros((2, 2), np.complex64)), ValueError, r"image\('c'\)"),
        (lambda v: v.scalar("c", [1, 2]), ValueError, r"the shape \(2,\)"),
    ],
)  # fmt: skip
def test_errors_name_the_call_and_the_shape(
    node: hyphos.Node, draw: Callable[[hyphos.View], object], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        draw(node.view())


def test_a_name_keeps_its_type(node: hyphos.Node) -> None:
    view = node.view()
    view.points("thing", np.zeros((1, 3)))
    with pytest.raises(ValueError, match="'thing' already shows points, so it cannot show a path"):
        view.path("thing", np.zeros((1, 3)))
    other = node.publisher("other", Float64)
    with pytest.raises(hyphos.Error, match="other"):
        view.points("other", np.zeros((1, 3)))
    other.close()


def test_a_closed_node_shows_nothing(node: hyphos.Node) -> None:
    view = node.view()
    view.scalar("x", 1)
    node.close()
    with pytest.raises(hyphos.Error):
        view.scalar("x", 2)


def test_threads_share_one_publisher(node: hyphos.Node, domain: str) -> None:
    inbox = Inbox()
    node.subscribe("x", Float64, inbox, policy=hyphos.Policy(latched=True, depth=1000))
    start = threading.Barrier(8)

    def show(first: int) -> None:
        start.wait()
        for number in range(10):
            node.view().scalar("x", first + number)

    threads = [threading.Thread(target=show, args=(100 * index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    values = {message.data for message in inbox.wait(80)}
    assert values == {100 * index + number for index in range(8) for number in range(10)}
    ends = [end for process in _hyphos.inspect(domain) for end in process.endpoints]
    assert len([end for end in ends if end.channel == "x" and end.is_publisher]) == 1


def test_a_plan_decides_about_its_channels(domain: str) -> None:
    plan = (
        "hyphos: 1\nchannels:\n  x: {type: hyphos.msgs.Float64, latched: false}\n"
        "processes: {main: {nodes: [shower]}}\n"
        "nodes: {shower: {}}\n"
    )
    with hyphos.Node.open("shower", plan_text=plan, process="main", domain=domain) as node:
        node.view().scalar("x", 1)
        inbox = Inbox()
        node.subscribe("x", Float64, inbox)
        node.view().scalar("x", 2)
        assert inbox.wait(1)[0].data == 2
