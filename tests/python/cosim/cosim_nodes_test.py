"""Robots of a co-simulation whose programs are Hyphos nodes, some of them in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Start

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "examples/cosim/nodes.yaml"

NODES = """
from hyphos import Node
from hyphos.msgs import String, Twist


class Talker:
    def __init__(self, node: Node) -> None:
        self.clock = node.clock
        self.out = node.publisher("word", String)
        # Without a fixed hash seed, the order of a set differs between processes.
        self.words = {"alpha", "beta", "gamma", "delta", "epsilon"}
        node.every(self.talk, period_ms=20)

    def talk(self) -> None:
        for word in self.words:
            self.out.publish(String(data=f"{word} {self.clock.now_ns()}"))


class Listener:
    def __init__(self, node: Node) -> None:
        self.clock = node.clock
        self.answer = node.publisher("answer", String)
        node.subscribe("word", String, self.listen)

    def listen(self, word: String) -> None:
        said_ns = int(word.data.split()[1])
        now_ns = self.clock.now_ns()
        assert said_ns < now_ns < said_ns + 50_000_000, (said_ns, now_ns)
        self.answer.publish(String(data=f"{word.data} {now_ns}"))


class Ear:
    def __init__(self, node: Node) -> None:
        node.subscribe("answer", String, lambda answer: print(f"heard {answer.data}", flush=True))


class Grumbler(Listener):
    def listen(self, word: String) -> None:
        raise ValueError("nobody told me of " + word.data)


class Broken:
    def __init__(self, node: Node) -> None:
        raise OSError("there is no camera")
"""

SCENARIO = """
duration_s: 1
method: {name: lockstep}
robots:
  anna: {at: [0, 0, 1], plan: anna.yaml}
  bert: {at: [20, 0, 1], plan: bert.yaml}
channels:
  word: {from: anna, to: bert}
  answer: {to: anna}
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """The folder of a scenario."""
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "cosim.yaml").write_text(SCENARIO)
    for robot, nodes in {"anna": ["Talker", "Ear"], "bert": ["Listener"]}.items():
        write_plan(tmp_path, robot, nodes)
    return tmp_path


def write_plan(folder: Path, robot: str, nodes: list[str]) -> None:
    names = ", ".join(name.lower() for name in nodes)
    lines = [f"  {name.lower()}: {{python: nodes.py:{name}}}" for name in nodes]
    (folder / f"{robot}.yaml").write_text(
        "\n".join(["hyphos: 1", f"processes: {{main: {{nodes: [{names}]}}}}", "nodes:", *lines, ""])
    )


def test_the_example_is_reproducible(hyphos_start: Start, tmp_path: Path) -> None:
    short = EXAMPLE.read_text().replace("duration_s: 60", "duration_s: 10")
    short = short.replace("nodes/", f"{EXAMPLE.parent}/nodes/")
    (tmp_path / "cosim.yaml").write_text(short)
    traces = []
    for options in ([], ["--no-skip"], ["--radio-process"]):
        trace = tmp_path / "trace.txt"
        words = ["cosim", "run", str(tmp_path / "cosim.yaml"), "--trace", str(trace), *options]
        code, out, err = hyphos_start(*words).end()
        assert code == 0, err
        assert "copies 198 = " in out  # 99 from the leader to the follower, 99 to the last robot
        traces.append(trace.read_text())
    assert traces[0] == traces[1] == traces[2]


def test_python_nodes_communicate_at_simulated_time(hyphos_start: Start, team: Path) -> None:
    shown = []
    for _ in range(2):
        code, out, err = hyphos_start("cosim", "run", str(team / "cosim.yaml")).end()
        assert code == 0, err
        shown.append(out.splitlines())
    heard = [line for line in shown[0] if line.startswith("heard")]
    assert len(heard) > 200
    assert heard == [line for line in shown[1] if line.startswith("heard")]
    assert shown[0][-1].split()[0] == "trace"
    assert shown[0][-1] == shown[1][-1]


def fails(hyphos_start: Start, team: Path) -> str:
    code, _, err = hyphos_start("cosim", "run", str(team / "cosim.yaml")).end()
    assert code == 1
    return err


def test_a_raising_python_node_ends_the_run_with_its_name(hyphos_start: Start, team: Path) -> None:
    write_plan(team, "bert", ["Grumbler"])
    err = fails(hyphos_start, team)
    assert "robot 'bert': node 'grumbler': callback of channel 'word' threw" in err
    assert "nobody told me of" in err


def test_a_python_node_that_cannot_be_created_gives_a_reason(
    hyphos_start: Start, team: Path
) -> None:
    write_plan(team, "bert", ["Listener", "Broken"])
    assert "there is no camera" in fails(hyphos_start, team)
    write_plan(team, "bert", ["Absent"])
    err = fails(hyphos_start, team)
    assert "robot 'bert'" in err
    assert "has no 'Absent'" in err
