"""Every input of a plan or a command has an effect, or is refused before any process starts."""

from __future__ import annotations

from pathlib import Path

import hyphos
import pytest
from helpers import Cli, Start, look_until, write_program
from launched import run_until_ready

PROGRAM = """import sys, hyphos
node = hyphos.Node.open("listener", sys.argv)
node.spin()
"""
CLASSES = """import hyphos
from hyphos.msgs import Int64

class Talker:
    def __init__(self, node):
        self.number = node.publisher("number", Int64)
        node.every(lambda: self.number.publish(Int64(data=1)), rate_hz=50)

class Listener:
    def __init__(self, node):
        node.subscribe("number", Int64, print)
"""


def plan_of(folder: Path, domain: str, text: str) -> str:
    file = folder / "robot.yaml"
    file.write_text(f"hyphos: 1\ndomain: {domain}\n{text}")
    return str(file)


def run(cli: Cli, plan: str, folder: Path, *words: str, seconds: str = "1") -> tuple[int, str, str]:
    return cli("run", plan, "--for", seconds, "--logs", str(folder / "logs"), *words)


# (line of the node, parts of the error): each node is refused before a process starts.
IDLE = [
    ("executable: listener.py", ["is a Python file", "executable: python3"]),
    ("executable: runs.py", ["is a Python file", "'#!'"]),
    ("executable: .", ["is a folder"]),
    ("executable: nothing", ["does not exist"]),
    ("plugin: .", ["is a folder"]),
    ("python: listener", ["defines no class", "spin()", "executable: python3"]),
    ("python: listener.py", ["defines no class", "spin()"]),
    ("python: empty", ["defines no class", "python: empty:CLASS"]),
    ("python: nodes", ["defines 2 classes", "Talker", "Listener"]),
    ("python: nodes:Talkr", ["has no 'Talkr'", "did you mean 'Talker'?"]),
    ("python: nodes.py:Listner", ["has no 'Listner'", "did you mean 'Listener'?"]),
    ("python: noddes:Talker", ["cannot import Python module 'noddes'", "did you mean 'nodes'?"]),
    ("python: nodes.inner:Talker", ["cannot import Python module 'nodes.inner'"]),
    ("python: broken:Node", ["broken.py:2"]),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "listener.py").write_text(PROGRAM)
    write_program(tmp_path / "runs.py", PROGRAM)  # executable, but without '#!'
    (tmp_path / "nodes.py").write_text(CLASSES)
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("import hyphos\nclass Node(:\n")
    return tmp_path


@pytest.mark.parametrize(("line", "words"), IDLE, ids=[line for line, _ in IDLE])
@pytest.mark.parametrize("command", ["run", "validate"])
def test_a_node_that_cannot_run_is_refused_with_the_remedy(
    command: str, line: str, words: list[str], hyphos_cli: Cli, folder: Path, domain: str
) -> None:
    plan = plan_of(folder, domain, f"nodes:\n  one: {{{line}}}\n")
    if command == "run":
        code, out, err = run(hyphos_cli, plan, folder)
    else:
        code, out, err = hyphos_cli("validate", plan)
    told = out + err
    assert code == 1, told
    assert "started" not in told
    assert "robot.yaml:4" in told, told
    assert "Traceback" not in told
    for word in words:
        assert word in told, told


def test_nodes_that_can_run_do_run(hyphos_start: Start, folder: Path, domain: str) -> None:
    write_program(folder / "good.py", f"#!/usr/bin/env python3\n{PROGRAM}")
    (folder / "made.py").write_text(
        "from nodes import Talker as Node\ndef make(node): return Node(node)\nother = make\n"
    )
    lines = ["nodes:Talker", "nodes.py:Listener", "made:make", "made:other", "made.py:Node"]
    nodes = "".join(f"  n{i}: {{python: '{line}'}}\n" for i, line in enumerate(lines))
    plan = plan_of(folder, domain, f"nodes:\n{nodes}")
    code, out, err = run_until_ready(hyphos_start, folder, plan, "--logs", str(folder / "logs"))
    assert (code, err) == (0, ""), out


def test_a_node_without_a_program_is_reported_at_the_start(
    hyphos_start: Start, folder: Path, domain: str
) -> None:
    plan = plan_of(
        folder, domain,
        "processes: {a: {nodes: [talker]}, b: {nodes: [nobody]}, c: {nodes: [two, three]}}\n"
        "nodes:\n  talker: {python: 'nodes:Talker'}\n  nobody: {}\n"
        "  two: {python: 'nodes:Listener'}\n  three:\n",
    )  # fmt: skip
    code, out, err = run_until_ready(hyphos_start, folder, plan, "--logs", str(folder / "logs"))
    assert code == 0, out + err
    notes = [line for line in err.splitlines() if line.startswith("note: ")]
    assert [note.split("'")[1] for note in notes] == ["nobody", "three"]
    assert "process 'b' starts without a node" in notes[0]
    assert "--hyphos-process b" in notes[0]
    assert "starts without a node" not in notes[1]


@pytest.mark.parametrize("kind", ["hyphos.msgs.Int46", "hyphos.msgs.Float64", "rover.Number"])
def test_a_wrong_type_in_the_plan_stops_the_start(
    kind: str, hyphos_cli: Cli, folder: Path, domain: str
) -> None:
    plan = plan_of(
        folder, domain,
        "nodes:\n  talker: {python: 'nodes:Talker'}\n"
        f"channels:\n  number: {{type: {kind}}}\n",
    )  # fmt: skip
    code, out, err = run(hyphos_cli, plan, folder, seconds="50")
    told = out + err
    assert code == 1, told
    assert kind in told
    if kind == "hyphos.msgs.Int46":
        assert "did you mean 'hyphos.msgs.Int64'?" in told
        assert "started" not in told
    else:
        assert "node 'talker' uses hyphos.msgs.Int64" in told
        assert "robot.yaml:6" in told


def test_validate_accepts_a_correct_robot(hyphos_cli: Cli, folder: Path, domain: str) -> None:
    """A timer begins its transforms, and no other node uses its parameters."""
    (folder / "frames.py").write_text(
        "import hyphos\n"
        "class Sim:\n"
        "    def __init__(self, node):\n"
        "        self.frames = node.transforms()\n"
        "        node.params().declare('speed', 1.0)\n"
        "        node.every(self.move, rate_hz=50)\n"
        "    def move(self):\n"
        "        self.frames.set(hyphos.Transform('map', 'base', (1, 0, 0), stamp_ns=1))\n"
    )
    plan = plan_of(folder, domain, "nodes:\n  sim: {python: 'frames:Sim'}\n")
    code, out, err = hyphos_cli("validate", plan, "--strict")
    assert code == 0, out + err
    assert "_params" not in out
    assert "error:" not in out


@pytest.mark.parametrize("name", ["robot.jpeg", "robot.foo"])
def test_a_picture_of_another_file_type_is_refused(
    name: str, hyphos_cli: Cli, folder: Path, domain: str
) -> None:
    plan = plan_of(folder, domain, "nodes: {one: {}}\n")
    with hyphos.Node.open("robot", domain=domain):
        for words in (
            ("graph", "-o", name, "-w", "0.1", "-d", domain),
            ("plan", plan, "--svg", name),
        ):
            code, _, err = hyphos_cli(*words)
            assert code == 1
            assert name in err
            assert ".svg" in err  # the remedy
    assert not (folder / name).exists()


PICTURES = [("g.png", b"\x89PNG\r\n"), ("g.pdf", b"%PDF-"), ("g.svg", b"<svg")]


@pytest.mark.parametrize(("name", "begin"), PICTURES)
def test_a_drawing_has_the_format_of_its_suffix(
    name: str, begin: bytes, hyphos_cli: Cli, folder: Path, domain: str
) -> None:
    plan = plan_of(folder, domain, "nodes: {one: {}}\n")
    with hyphos.Node.open("robot", domain=domain) as node:
        node.publisher("number", bytes)
        node.transforms().set_static(hyphos.Transform("map", "base", (1, 0, 0)))
        for words in (
            ("graph", "-o", name, "-w", "0.1", "-d", domain),
            ("plan", plan, "--svg", name),
        ):
            code, _, err = hyphos_cli(*words)
            assert code == 0, err
            assert (folder / name).read_bytes().startswith(begin), words
            (folder / name).unlink()
        # It collects transforms for a second, in which a stalled machine may deliver none.
        tree = ("tf", "tree", "--svg", name, "-d", domain)
        look_until(lambda told: told[0] == 0, lambda: hyphos_cli(*tree), "the transform")
        assert (folder / name).read_bytes().startswith(begin)


@pytest.mark.parametrize("suffix", [".bag", ".db3", ".csv"])
def test_a_recording_has_the_format_of_its_suffix(
    suffix: str, hyphos_cli: Cli, folder: Path, domain: str
) -> None:
    whole = folder / "whole.mcap"
    assert hyphos_cli("record", "-d", domain, "-o", str(whole), "--for", "0.1", "-q")[0] == 0
    for words in (
        ("record", "-d", domain, "--for", "0.1"),
        ("bag", "cut", str(whole)),
        ("bag", "merge", str(whole)),
    ):
        code, out, err = hyphos_cli(*words, "-o", f"part{suffix}")
        assert (code, out) == (1, ""), words
        assert "-o part.mcap, then hyphos bag convert" in err
    assert not (folder / f"part{suffix}").exists()


def test_a_report_has_the_format_of_its_suffix(hyphos_cli: Cli, folder: Path, domain: str) -> None:
    plan = plan_of(folder, domain, "nodes: {talker: {python: 'nodes:Talker'}}\n")
    code, out, err = run(hyphos_cli, plan, folder, "--report", "run.pdf")
    assert (code, "started" in out) == (2, False)
    assert ".html" in err


@pytest.mark.parametrize(
    ("name", "begin"),
    [("g.dot", "digraph"), ("g.gv", "digraph"), ("g.json", "{"), ("g", "digraph")],
)
def test_the_file_ending_selects_the_format_of_a_graph(
    name: str, begin: str, hyphos_cli: Cli, folder: Path, domain: str
) -> None:
    with hyphos.Node.open("robot", domain=domain) as node:
        node.publisher("number", bytes)
        code, _, err = hyphos_cli("graph", "-o", name, "-w", "0.1", "-d", domain)
    assert code == 0, err
    assert (folder / name).read_text().startswith(begin)


def test_a_format_that_contradicts_the_ending_is_refused(
    hyphos_cli: Cli, folder: Path, domain: str
) -> None:
    code, _, err = hyphos_cli("graph", "-f", "json", "-o", "g.svg", "-d", domain)
    assert (code, (folder / "g.svg").exists()) == (1, False)
    assert "--format is json" in err


@pytest.mark.parametrize("default", [None, [1], {"a": 1}, object(), 1 << 64])
def test_a_default_without_a_type_is_refused_with_a_reason(
    default: object, node: hyphos.Node
) -> None:
    with pytest.raises(hyphos.Error, match=r"parameter 'sensor'.*default") as caught:
        node.param("sensor", default)  # type: ignore[type-var]
    assert caught.value.advice


def test_a_picture_without_a_report_is_refused(hyphos_cli: Cli, folder: Path, domain: str) -> None:
    plan = plan_of(folder, domain, "nodes: {talker: {python: 'nodes:Talker'}}\n")
    code, out, err = run(hyphos_cli, plan, folder, "--picture", "map.png")
    assert (code, "started" in out) == (1, False)
    assert "--report" in err


def test_listings_of_the_paper_run_from_python(tmp_path: Path, domain: str) -> None:
    file = tmp_path / "network_setting.yaml"
    file.write_text("network:\n  publisher:\n    ip: 'x'\n    channels: [pre_channel]\n")
    words = ["x", "--hyphos-plan", str(file), "--hyphos-domain", domain]
    with hyphos.Node.open("robot1", words) as node:
        assert node.publisher("pre_channel", bytes).channel == "pre_channel"
