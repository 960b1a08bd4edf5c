"""Transforms from Python, between processes, and the command `hyphos tf`."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import PATIENCE_S, Cli, Start, look_until, wait_until
from hyphos import Transform, Transforms

T0 = 1_700_000_000_000_000_000

# A process of the paper's example: it sets its part of the tree until it is ended.
PART = """
import sys, time, hyphos
from hyphos import Transform
node = hyphos.Node.open(sys.argv[1], domain=sys.argv[2])
transforms = node.transforms()
moving = [edge.split(":") for edge in sys.argv[3].split(",")]
fixed = [edge.split(":") for edge in sys.argv[4].split(",") if edge]
transforms.set_static(*(Transform(p, c, (float(x), 0, 0)) for p, c, x in fixed))
def tick():
    now = time.time_ns()
    transforms.set(*(Transform(p, c, (float(x), 0, 0), stamp_ns=now) for p, c, x in moving))
node.every(tick, rate_hz=100)
print("ready", flush=True)
node.spin()
"""


@pytest.fixture
def node() -> Iterator[hyphos.Node]:
    with hyphos.Node.open("tester", offline=True) as opened:
        yield opened


@pytest.fixture
def transforms(node: hyphos.Node) -> Transforms:
    return node.transforms()


def moved(parent: str, child: str, x: float, ms: int = 0) -> Transform:
    return Transform(parent, child, (x, 0, 0), stamp_ns=T0 + ms * 1_000_000)


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(hyphos.Error) as caught:
        call()
    return str(caught.value.code)


def test_a_transform_converts_to_a_matrix_and_back() -> None:
    one = Transform("map", "base", (1, 2, 3), roll_pitch_yaw=(0.1, -0.2, 0.3), stamp_ns=5)
    assert one.matrix.shape == (4, 4)
    assert one.matrix.dtype == np.float64
    assert np.allclose(one.translation, [1, 2, 3])
    assert np.allclose(one.roll_pitch_yaw, (0.1, -0.2, 0.3))
    assert np.allclose(one.matrix[:3, :3] @ one.matrix[:3, :3].T, np.eye(3))
    again = Transform.from_matrix("map", "base", one.matrix, stamp_ns=5)
    assert np.allclose(again.rotation, one.rotation)
    assert np.allclose(one.inverse().matrix, np.linalg.inv(one.matrix))
    assert (one.inverse().parent, one.inverse().child) == ("base", "map")
    assert "'base' in 'map': 1, 2, 3 m" in repr(one)
    turned = Transform("a", "b", rotation=[0, 0, math.sqrt(0.5), math.sqrt(0.5)])
    assert turned.roll_pitch_yaw[2] == pytest.approx(math.pi / 2)
    with pytest.raises(hyphos.Error, match="not a rigid motion"):
        Transform.from_matrix("a", "b", np.ones((4, 4)))
    with pytest.raises(ValueError, match=r"4×4 matrix, not the shape \(3, 3\)"):
        Transform.from_matrix("a", "b", np.eye(3))
    with pytest.raises(TypeError, match="either a quaternion or roll_pitch_yaw"):
        Transform("a", "b", rotation=(0, 0, 0, 1), roll_pitch_yaw=(0, 0, 0))


def test_transforms_compose_only_if_their_frames_join() -> None:
    base_in_map = Transform("map", "base", (1, 0, 0), roll_pitch_yaw=(0, 0, math.pi / 2))
    laser_in_base = Transform("base", "laser", (2, 0, 0))
    laser_in_map = base_in_map @ laser_in_base
    assert (laser_in_map.parent, laser_in_map.child) == ("map", "laser")
    assert np.allclose(laser_in_map.matrix, base_in_map.matrix @ laser_in_base.matrix)
    with pytest.raises(ValueError, match="'laser' is not 'map'"):
        laser_in_base @ base_in_map


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_points_of_every_shape_are_moved(kind: Any) -> None:
    t = Transform("map", "laser", (10, 20, 30), roll_pitch_yaw=(0, 0, math.pi / 2))
    points = np.arange(24, dtype=kind).reshape(8, 3)
    expected = points @ t.matrix[:3, :3].T + t.translation
    found = t.apply(points)
    assert found.dtype == kind
    assert np.allclose(found, expected)
    assert np.array_equal(points, np.arange(24).reshape(8, 3))  # unchanged
    assert np.allclose(t.apply(points[::2]), expected[::2])
    assert np.allclose(t.apply(points.reshape(2, 4, 3)), expected.reshape(2, 4, 3))
    assert np.allclose(t.apply(points[1]), expected[1])
    assert np.allclose(t.apply(np.asfortranarray(points)), expected)
    with_intensity = np.hstack([points, np.full((8, 1), 7, kind)])
    assert np.allclose(t.apply(with_intensity), np.hstack([expected, np.full((8, 1), 7)]))
    assert t.apply(np.zeros((0, 3), kind)).shape == (0, 3)
    assert t.apply(points.astype(int)).dtype == np.float64
    for bad in (np.zeros((4, 2), kind), np.zeros((), kind)):
        with pytest.raises(ValueError, match="x, y, z in the last axis"):
            t.apply(bad)


def test_points_of_a_cloud_keep_their_other_fields() -> None:
    t = Transform("map", "laser", (1, 2, 3))
    layout = np.dtype([("ring", "u2"), ("x", "f4"), ("y", "f4"), ("z", "f4"), ("i", "f4")])
    cloud = np.zeros(100, np.dtype(layout.descr, align=True))
    cloud["x"] = np.arange(100)
    cloud["ring"] = 5
    found = t.apply(cloud)
    assert np.allclose(found["x"], np.arange(100) + 1)
    assert np.allclose(found["z"], 3)
    assert (found["ring"] == 5).all()
    with pytest.raises(ValueError, match="fields x, y and z"):
        t.apply(np.zeros(3, [("x", "f4"), ("y", "f4")]))
    with pytest.raises(ValueError, match="must be adjacent"):
        t.apply(np.zeros(3, [("x", "f4"), ("i", "f4"), ("y", "f4"), ("z", "f4")]))
    with pytest.raises(ValueError, match="all be float32 or all float64"):
        t.apply(np.zeros(3, [("x", "i4"), ("y", "i4"), ("z", "i4")]))


def test_set_transforms_can_be_read(transforms: Transforms) -> None:
    transforms.set_static(moved("base", "laser", 0.5))
    transforms.set(moved("map", "base", 0, 0), moved("map", "base", 10, 100))
    assert transforms.get("map", "laser").translation[0] == pytest.approx(10.5)
    between = transforms.get("map", "laser", T0 + 50_000_000)
    assert between.translation[0] == pytest.approx(5.5)
    assert (between.parent, between.child, between.stamp_ns) == ("map", "laser", T0 + 50_000_000)
    assert transforms.chain("map", "laser") == (["laser", "base", "map"], 2)
    moved_on = transforms.get_between("base", T0 + 100_000_000, "base", T0, "map")
    assert moved_on.translation[0] == pytest.approx(-10)
    edges = {edge.child: edge for edge in transforms.edges()}
    laser, base = edges["laser"], edges["base"]
    assert (laser.parent, laser.child, laser.is_static) == ("base", "laser", True)
    assert (base.samples, base.oldest_ns, base.newest_ns) == (2, T0, T0 + 100_000_000)
    assert transforms.counters()["accepted"] == 3
    transforms.clear()
    assert code_of(lambda: transforms.get("map", "base")) == "out_of_range"
    assert transforms.channel == "tf"


def test_errors_explain_the_problem(transforms: Transforms) -> None:
    transforms.set(moved("map", "base", 0), moved("earth", "moon", 0))
    assert code_of(lambda: transforms.get("map", "bse")) == "not_found"
    with pytest.raises(hyphos.Error, match="did you mean 'base'"):
        transforms.get("map", "bse")
    assert code_of(lambda: transforms.get("map", "moon")) == "disconnected"
    assert code_of(lambda: transforms.get("map", "base", T0 + 1)) == "out_of_range"
    assert code_of(lambda: transforms.set(moved("base", "map", 0))) == "invalid_config"
    assert code_of(lambda: transforms.set(Transform("a", "b"))) == "invalid_config"
    late = code_of(lambda: transforms.get("map", "base", T0 + 1, timeout_ms=1))
    assert late == "timeout"


def test_a_prefix_is_another_tree(node: hyphos.Node) -> None:
    one = node.transforms("robot1")
    one.set_static(moved("map", "base", 1))
    assert one.channel == "robot1/tf"
    assert code_of(lambda: node.transforms().get("map", "base")) == "not_found"


def test_waiting_works_as_a_future_and_in_asyncio(transforms: Transforms) -> None:
    future = transforms.wait("map", "base", T0 + 1_000_000, timeout_ms=PATIENCE_S * 1e3)
    assert not future.done()
    transforms.set(moved("map", "base", 0, 0), moved("map", "base", 2, 2))
    assert future.result(PATIENCE_S).translation[0] == pytest.approx(1)

    async def ask() -> float:
        waiting = transforms.wait("base", "laser", timeout_ms=PATIENCE_S * 1e3)
        transforms.set_static(moved("base", "laser", 3))
        return float((await asyncio.wrap_future(waiting)).translation[0])

    assert asyncio.run(ask()) == 3
    never = transforms.wait("map", "nowhere", timeout_ms=1)
    with pytest.raises(hyphos.Error, match=r"timed out after 1 ms: there is no frame 'nowhere'"):
        never.result(PATIENCE_S)


def test_the_tree_of_the_paper_spans_three_processes(
    python: Start, domain: str, hyphos_cli: Cli
) -> None:
    """Figure 3: different processes set a6 and a8, and a1 is their common ancestor."""
    left = python(PART, "left", domain, "a2:a4:10,a4:a6:100", "a1:a2:1")
    right = python(PART, "right", domain, "a3:a5:20,a7:a8:400", "a1:a3:2,a5:a7:200")
    assert left.line() == right.line() == "ready"
    with hyphos.Node.open("asks", domain=domain) as node:
        transforms = node.transforms()
        found = transforms.get("a8", "a6", timeout_ms=PATIENCE_S * 1e3)
        assert found.translation[0] == pytest.approx(111 - 622)
        chain, ancestor = transforms.chain("a8", "a6")
        assert chain == ["a6", "a4", "a2", "a1", "a3", "a5", "a7", "a8"]
        assert chain[ancestor] == "a1"
        # At a recent time, and at a time in the near future.
        recent = transforms.get("a8", "a6", found.stamp_ns)
        assert recent.translation[0] == pytest.approx(111 - 622)
        soon = transforms.get("a8", "a6", time.time_ns() + 50_000_000, timeout_ms=PATIENCE_S * 1e3)
        assert soon.translation[0] == pytest.approx(111 - 622)

        code, out, err = hyphos_cli("tf", "echo", "a8", "a6", "-n", "1", "--json", "-d", domain)
        assert code == 0, err
        shown = json.loads(out)
        assert shown["translation"][0] == pytest.approx(111 - 622)
        assert shown["chain"] == chain
        assert np.allclose(shown["matrix"], found.matrix)

        # The transforms of a dead process remain known to the others, and grow old.
        left.signal(9)
        left.end()
        assert transforms.get("a1", "a6").translation[0] == pytest.approx(111)
        right.stop()


@pytest.fixture
def robot(python: Start, domain: str) -> Iterator[None]:
    program = python(PART, "robot", domain, "map:odom:1,odom:base:2", "base:laser:3")
    assert program.line() == "ready"
    yield
    assert program.stop()[0] == 0


def seen_by(hyphos_cli: Cli, words: tuple[str, ...], *needed: str) -> tuple[int, str, str]:
    """Runs a command that subscribes for half a second, until the robot has sent the needed texts
    during that time.
    """

    def whole(told: tuple[int, str, str]) -> bool:
        return all(one in told[1] for one in needed)

    return look_until(whole, lambda: hyphos_cli(*words), f"all of {needed}")


@pytest.mark.usefixtures("robot")
def test_tf_tree_prints_the_tree(hyphos_cli: Cli, domain: str, tmp_path: Any) -> None:
    words = ("tf", "tree", "-w", "0.5", "-d", domain)
    code, out, err = seen_by(hyphos_cli, words, " Hz, ", "static")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "map"
    assert lines[1].startswith("└── odom  ")
    assert " Hz, " in lines[1]
    assert lines[3] == "        └── laser  static"
    code, out, err = seen_by(hyphos_cli, (*words, "--json"), '"map"', '"laser"')
    told = json.loads(out)
    assert told["roots"] == ["map"]
    laser = next(frame for frame in told["frames"] if frame["child"] == "laser")
    assert laser["static"]
    code, out, err = seen_by(hyphos_cli, (*words, "--dot"), '"map"', '"laser"')
    assert '"map" -> "odom"' in out
    assert '"base" -> "laser" [label="static", style=dashed]' in out
    svg = tmp_path / "frames.svg"
    code, out, err = look_until(
        lambda told: told[0] == 0 and "laser" in svg.read_text(),
        lambda: hyphos_cli(*words, "--svg", str(svg)),
        "the laser",
    )
    assert code == 0, err
    assert "laser" in svg.read_text()


def rows_of(shown: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.strip()}


def fast_enough(shown: str) -> bool:
    """True if a table has the static frame, and the moving frame at more than 10 Hz."""
    rows = rows_of(shown)
    return "laser" in rows and "odom" in rows and float(rows["odom"][1]) > 10


@pytest.mark.usefixtures("robot")
def test_tf_echo_and_monitor_print_transforms(hyphos_cli: Cli, domain: str) -> None:
    code, out, err = hyphos_cli("tf", "echo", "map", "laser", "-n", "2", "-r", "50", "-d", domain)
    assert code == 0, err
    assert out.count("translation: [6.000000, 0.000000, 0.000000]  # m") == 2
    assert "'laser' in 'map'  # laser → base → odom → map" in out
    words = ("tf", "monitor", "-w", "0.5", "-n", "1", "-d", domain)
    code, out, err = look_until(
        lambda told: fast_enough(told[1]), lambda: hyphos_cli(*words), "the rate of the robot"
    )
    assert code == 0, err
    rows = rows_of(out)
    assert rows["odom"][0] == "map"
    assert float(rows["odom"][1]) > 10
    assert rows["laser"][:2] == ["base", "static"]
    code, out, err = seen_by(hyphos_cli, (*words, "odom", "base", "--json"), '"base"')
    assert code == 0, err
    [frame] = json.loads(out)["frames"]
    assert frame["child"] == "base"
    assert 0 <= frame["mean_delay_ms"] <= frame["max_delay_ms"]


def test_tf_explains_missing_frames(hyphos_cli: Cli, domain: str, robot: None) -> None:  # noqa: ARG001
    words = ("tf", "echo", "map", "lasr", "--timeout", "1", "-d", domain)
    code, _, err = look_until(  # the command has received the frames
        lambda told: "did you mean" in told[2], lambda: hyphos_cli(*words), "the frames"
    )
    assert code == 1
    assert "error: there is no frame 'lasr'; did you mean 'laser'?" in err
    code, _, err = hyphos_cli("tf", "tree", "-w", "0.1", "-p", "robot7", "-d", domain)
    assert code == 1
    assert "no transform arrived on 'robot7/tf' or 'robot7/tf_static' within 0.1 s" in err
    assert "transforms are on tf, tf_static: give no --prefix" in err
    code, _, err = hyphos_cli("tf", "monitor", "map", "-d", domain)
    assert code == 2
    assert "give both TARGET and SOURCE" in err
    code, _, err = hyphos_cli("tf", "pub", "a", "b", "-q", "0", "0", "0", "2", "-d", domain)
    assert code == 1
    assert "quaternion of length 2" in err
    code, _, err = hyphos_cli("tf", "pub", "a", "b", "--static", "-n", "1", "-d", domain)
    assert code == 2


def test_tf_pub_publishes_transforms(hyphos_start: Start, hyphos_cli: Cli, domain: str) -> None:
    with hyphos.Node.open("tester", domain=domain) as node:
        transforms = node.transforms()
        fixed = hyphos_start(
            *("tf", "pub", "base", "laser", "--xyz", "0.2", "-1", "0.3"),
            *("--rpy-deg", "0", "0", "-90", "--static", "-d", domain),
        )
        found = transforms.get("base", "laser", timeout_ms=PATIENCE_S * 1e3)
        assert np.allclose(found.translation, [0.2, -1, 0.3])
        assert found.roll_pitch_yaw[2] == pytest.approx(-math.pi / 2)
        assert found.stamp_ns == 0
        code, _, err = hyphos_cli(
            *("tf", "pub", "map", "base", "--xyz", "5", "0", "0", "-r", "50", "-n", "250"),
            *("-d", domain),
        )
        assert code == 0, err
        assert "published 250 on tf" in err
        wait_until(lambda: len(transforms.edges()) == 2, "the moving frame")
        assert transforms.get("map", "laser").translation[0] == pytest.approx(5.2)
        assert fixed.stop()[0] == 0
