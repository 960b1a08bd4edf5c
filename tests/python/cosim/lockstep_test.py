"""Lockstep replay: the same recording gives the same outputs, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path

import hyphos
import pytest
from helpers import Cli, Start
from hyphos.msgs import Int64
from hyphos.recording.mcap_file import McapRecording
from hyphos.recording.mcap_scan import Scan
from hyphos.ros.typebook import TypeBook

SECOND = 1_000_000_000

# Two nodes reply to the same input on one channel. A third combines the messages in order of
# arrival, so that any other order gives a different number.
NODES = """
from hyphos import Node
from hyphos.msgs import Int64


class Left:
    def __init__(self, node: Node) -> None:
        self.out = node.publisher("both", Int64)
        node.subscribe("in", Int64, self.take)

    def take(self, value) -> None:
        self.out.publish(Int64(data=2 * value.data))
        self.out.publish(Int64(data=2 * value.data + 1))


class Right(Left):
    def __init__(self, node: Node) -> None:
        self.out = node.publisher("both", Int64)
        node.subscribe("in", Int64, self.take, mode="concurrent")


class Mix:
    def __init__(self, node: Node) -> None:
        self.sum = 0
        self.out = node.publisher("sum", Int64)
        node.subscribe("both", Int64, self.take)

    def take(self, value) -> None:
        self.sum = (31 * self.sum + value.data) % (1 << 40)
        self.out.publish(Int64(data=self.sum))
"""

PLAN = """
hyphos: 1
processes:
  one: {nodes: [left, mix]}
  two: {nodes: [right, driver]}
  three: {}
nodes:
  left: {python: nodes.py:Left}
  right: {python: nodes.py:Right}
  mix: {python: nodes.py:Mix}
  driver: {python: nodes.py:Driver}
  other: {executable: /bin/true, process: three}
channels:
  in: {type: hyphos.msgs.Int64, depth: 100, publishers: [driver]}
  both: {type: hyphos.msgs.Int64, depth: 100, publishers: [left, right]}
  sum: {type: hyphos.msgs.Int64, depth: 100, publishers: [mix]}
"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """A plan, its nodes, and a recording of their input and of one output."""
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "robot.yaml").write_text(PLAN)
    recording = McapRecording(tmp_path / "run.mcap", TypeBook())
    kind = hyphos.TypeId("hyphos.msgs.Int64", "protobuf")
    channels = [
        recording.add_channel(name, kind.name, "protobuf", kind.hash, {"depth": 100})
        for name in ("in", "sum")
    ]
    for number in range(100):
        at = SECOND + number * 1_000_000
        for channel in channels:
            recording.write(channel, at, at, number, Int64(data=number).SerializeToString())
    recording.close()
    return tmp_path


def words(robot: Path, output: str, *more: str) -> list[str]:
    plan = ["--lockstep", str(robot / "robot.yaml"), "-o", str(robot / output)]
    return ["replay", str(robot / "run.mcap"), *plan, *more]


def test_the_same_recording_gives_the_same_file(hyphos_cli: Cli, robot: Path) -> None:
    files = []
    for number, threads in enumerate((1, 4, 0)):
        code, out, err = hyphos_cli(
            *words(robot, f"{number}.mcap", "-c", "in", "--threads", str(threads))
        )
        assert code == 0, err
        assert "100 messages played, 800 recorded on 2 channels" in out
        assert "driver does not run: the recording provides its in" in err
        assert "other does not run" in err
        files.append((robot / f"{number}.mcap").read_bytes())
    assert files[0] == files[1] == files[2]
    scan = Scan(robot / "0.mcap")
    messages = [message for group in scan.messages() for message in group]
    assert scan.problems == []
    # Outputs have the time of the message that caused them.
    assert {m.log_ns for m in messages} == {SECOND + n * 1_000_000 for n in range(100)}
    assert all(m.log_ns == m.publish_ns for m in messages)


TIMED = """
from hyphos import Node
from hyphos.msgs import Int64


class Timed:
    \"\"\"Tells the time at every message and every 2.5 ms.\"\"\"

    def __init__(self, node: Node) -> None:
        self.clock = node.clock
        self.out = node.publisher("times", Int64)
        node.subscribe("in", Int64, lambda value: self.tell())
        node.every(self.tell, period_ms=2.5)

    def tell(self) -> None:
        self.out.publish(Int64(data=self.clock.now_ns()))
"""


def test_clocks_and_timers_use_the_time_of_the_recording(hyphos_cli: Cli, robot: Path) -> None:
    (robot / "timed.py").write_text(TIMED)
    (robot / "robot.yaml").write_text(
        "hyphos: 1\nnodes:\n  timed: {python: timed.py:Timed}\n"
        "channels:\n  times: {type: hyphos.msgs.Int64, depth: 100, publishers: [timed]}\n"
    )
    files = []
    for number in range(3):
        code, _, err = hyphos_cli(
            *words(robot, f"{number}.mcap", "-n", "timed", "--tick-ms", "0.5")
        )
        assert code == 0, err
        files.append((robot / f"{number}.mcap").read_bytes())
    assert files[0] == files[1] == files[2]
    scan = Scan(robot / "0.mcap")
    told = [
        (message.log_ns, Int64.FromString(message.data).data)
        for group in scan.messages()
        for message in group
    ]
    # 100 messages, 1 ms apart: a timer of 2.5 ms is due 39 times in 99 ms.
    assert len(told) == 100 + 39
    assert all(log_ns == now_ns for log_ns, now_ns in told)
    assert [now_ns for _, now_ns in told] == sorted(now_ns for _, now_ns in told)
    assert sum(now_ns % 1_000_000 == 500_000 for _, now_ns in told) == 20


TWENTY = """
import hashlib, json, sys
from pathlib import Path
from hyphos.recording.lockstep import Lockstep, LockstepOptions

folder = Path(sys.argv[1])
found = []
for number in range(20):
    out = folder / f"out{number}.mcap"
    options = LockstepOptions(
        folder / "run.mcap", folder / "robot.yaml", out, patterns=["in"], threads=1 + number % 8
    )
    Lockstep(options).run()
    found.append(hashlib.sha256(out.read_bytes()).hexdigest())
print(json.dumps(found))
"""


def test_twenty_runs_agree_for_any_number_of_threads(python: Start, robot: Path) -> None:
    code, out, err = python(TWENTY, str(robot)).end()
    assert code == 0, err
    digests = json.loads(out.splitlines()[-1])
    assert len(digests) == 20
    assert len(set(digests)) == 1


def test_selected_nodes_run_and_their_outputs_are_not_played(hyphos_cli: Cli, robot: Path) -> None:
    code, out, err = hyphos_cli(*words(robot, "o.mcap", "-n", "mix", "-n", "left"))
    assert code == 0, err
    assert "testing mix, left with in" in err
    assert "sum is not played: mix publishes it" in err
    assert "400 recorded on 2 channels" in out


def test_invalid_requests_are_errors(hyphos_cli: Cli, robot: Path) -> None:
    for more, message in (
        ([], "give the nodes to test"),
        (["-n", "none"], "no plug-in or Python node 'none'"),
        (["-n", "other"], "executables cannot run in lock-step"),
        (["-c", "nothing"], "no channel of the recording to play"),
    ):
        code, _, err = hyphos_cli(*words(robot, "o.mcap", *more))
        assert code == 1
        assert message in err
    assert not (robot / "o.mcap").exists()
    code, _, err = hyphos_cli(
        "replay", str(robot / "run.mcap"), "--lockstep", str(robot / "robot.yaml")
    )
    assert code == 2
    assert "needs -o" in err


def test_settle_from_python(python: Start) -> None:
    source = """
import hyphos
runtime = hyphos.Runtime.open(lockstep=True)
node = runtime.node("n")
seen = []
out = node.publisher("a", bytes)
node.subscribe("a", bytes, lambda data: seen.append(bytes(data)))
runtime.settle(lambda: out.publish(b"x"))
print(seen, [c.name for c in runtime.channels()])
try:
    runtime.settle(lambda: 1 / 0)
except RuntimeError as error:
    print("raised", error)
"""
    code, out, err = python(source).end()
    assert code == 0, err
    first, *raised = out.splitlines()
    assert first == "[b'x'] ['a']"
    assert raised[0].startswith("raised ")
    assert raised[-1].endswith("ZeroDivisionError: division by zero")
