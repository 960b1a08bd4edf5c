"""`channel echo --field` prints one field of each message, by its path."""

from __future__ import annotations

import json
from collections.abc import Iterator

import hyphos
import pytest
from google.protobuf import struct_pb2
from helpers import Cli
from hyphos.msgs import LaserScan, Odometry
from hyphos.tools.field_path import FieldPath

SCAN = LaserScan(ranges=[1.5, 2.5, 3.5], range_max=30)
SCAN.header.frame_id = "laser"


@pytest.fixture
def robot(domain: str) -> Iterator[hyphos.Node]:
    with hyphos.Node.open("sim", domain=domain) as node:
        scan, odom = node.publisher("scan", LaserScan), node.publisher("odom", Odometry)
        raw = node.publisher("raw", bytes)
        pose = Odometry()
        pose.pose.pose.position.x = 3.25

        def tick() -> None:
            scan.publish(SCAN)
            odom.publish(pose)
            raw.publish(b"abc")

        node.every(tick, rate_hz=100)
        yield node


@pytest.mark.parametrize(
    ("channel", "path", "text"),
    [
        ("odom", "pose.pose.position.x", "3.25\n"),
        ("odom", "pose.pose.position.y", "0.0\n"),  # not set
        ("scan", "header.frame_id", "laser\n"),
        ("scan", "ranges[1]", "2.5\n"),
        ("scan", "ranges[-1]", "3.5\n"),
        ("scan", "ranges[7]", "null\n"),
        ("scan", "ranges", "[1.5, 2.5, 3.5]\n---\n"),
        ("scan", "header", "frame_id: laser\n---\n"),
    ],
)
def test_a_field_is_printed_alone(
    channel: str, path: str, text: str, hyphos_cli: Cli, robot: hyphos.Node, domain: str
) -> None:
    assert robot.name == "sim"
    words = ("channel", "echo", channel, "--field", path, "-n", "1", "-d", domain)
    assert hyphos_cli(*words)[:2] == (0, text)


def test_a_field_is_json_on_request(hyphos_cli: Cli, robot: hyphos.Node, domain: str) -> None:
    assert robot.name == "sim"
    words = ("channel", "echo", "scan", "--field", "ranges", "--json", "-n", "2", "-d", domain)
    code, out, _ = hyphos_cli(*words)
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == 2 * [[1.5, 2.5, 3.5]]


@pytest.mark.parametrize(
    ("channel", "path", "words"),
    [
        ("odom", "pose.pose.postion.x", ["no 'postion'", "did you mean 'position'?"]),
        ("odom", "speed", ["hyphos.msgs.Odometry has no 'speed'", "its fields: header"]),
        ("scan", "ranges.x", ["'ranges' is a list", "ranges[0]"]),
        ("scan", "ranges[x]", ["'x' is not an index"]),
        ("scan", "range_max[0]", ["'range_max' is no list"]),
        ("scan", "range_max.x", ["'range_max' has no fields"]),
        ("scan", "a..b", ["no 'a'"]),
        ("scan", "header..x", ["'' is not a field name"]),
        ("raw", "x", ["bytes (bytes) has none", "omit --field"]),
    ],
)
def test_a_wrong_field_is_refused_with_its_neighbours(
    channel: str, path: str, words: list[str], hyphos_cli: Cli, robot: hyphos.Node, domain: str
) -> None:
    assert robot.name == "sim"
    code, out, err = hyphos_cli("channel", "echo", channel, "--field", path, "-d", domain)
    assert (code, out) == (1, "")
    for word in words:
        assert word in err, err


def test_a_field_of_a_map_has_a_key() -> None:
    message = struct_pb2.Struct()
    message["speed"] = 0.5
    path = FieldPath("fields[speed].number_value", message.DESCRIPTOR)
    assert path.of(message, as_json=False) == 0.5
    absent = FieldPath("fields[other]", message.DESCRIPTOR)
    assert absent.of(message, as_json=False) is None


@pytest.mark.parametrize("more", [["--rate", "2"], ["--count", "2"]])
def test_once_excludes_repetition(more: list[str], hyphos_cli: Cli, domain: str) -> None:
    words = ("channel", "pub", "note", "String", "{}", "-d", domain, "--wait", "0")
    assert hyphos_cli(*words, "--once")[2].endswith("published 1 on note, no subscriber\n")
    code, _, err = hyphos_cli(*words, "--once", *more)
    assert code == 2
    assert "--once excludes --rate and --count" in " ".join(err.split())
