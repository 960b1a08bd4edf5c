"""`hyphos run`: processes of a plan, their output, and their end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import hyphos
import pytest
from helpers import Cli, Inbox, Start, wait_until, write_program
from hyphos.msgs import String
from hyphos.recording.control import recorders
from launched import run_until_ready
from recordings import counted, record

NODES = """
import os, signal, sys, time
from hyphos.msgs import String
from hyphos.observe import drops_of, look

class Talker:
    def __init__(self, node):
        self.pub = node.publisher("word", String)
        self.word = node.param("word", "hello")
        node.every(self.tick, rate_hz=50)
        print("talker is up", flush=True)
    def tick(self):
        self.pub.publish(String(data=self.word))

class Listener:
    def __init__(self, node):
        node.subscribe("word", String, self.on_word)
        self.heard = False
    def on_word(self, word):
        if not self.heard:
            print("heard", word.data, flush=True)
        self.heard = True
    def close(self):
        print("listener closed", flush=True)

class Hasty:
    "Publishes faster than Slow takes, until Slow drops. Then it ends its process with an error."
    def __init__(self, node):
        self.pub = node.publisher("word", String)
        self.domain = node.runtime.domain
        node.every(self.tick, rate_hz=200)
    def tick(self):
        self.pub.publish(String(data="x"))
        ends = [end for _, end in look(self.domain).ends("word") if not end.is_publisher]
        if any(map(drops_of, ends)):
            os._exit(3)

class Slow:
    def __init__(self, node):
        node.subscribe("word", String, lambda _: time.sleep(0.1))

def failing(node):
    raise RuntimeError("cannot work")

def crashing(node):
    node.every(lambda: os.kill(os.getpid(), signal.SIGSEGV), rate_hz=10)

def stubborn(node):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    print("stubborn", os.getpid(), flush=True)
    time.sleep(1000)
"""


class Robot:
    """Writes plans with Python nodes into a folder."""

    def __init__(self, folder: Path, domain: str) -> None:
        self.folder = folder
        self.domain = domain
        (folder / "nodes.py").write_text(NODES)

    def plan(self, nodes: dict[str, str], extra: str = "") -> str:
        """Writes a plan with one process for each node. `nodes` maps a node's name to its class."""
        lines = [f"hyphos: 1\ndomain: {self.domain}\nprocesses:"]
        lines += [f"  {name}_process: {{nodes: [{name}]}}" for name in nodes]
        lines += ["nodes:"]
        lines += [f'  {name}: {{python: "nodes:{kind}"}}' for name, kind in nodes.items()]
        path = self.folder / "robot.yaml"
        path.write_text("\n".join(lines) + "\n" + extra)
        return str(path)


@pytest.fixture
def robot(tmp_path: Path, domain: str) -> Robot:
    return Robot(tmp_path, domain)


def test_processes_communicate_and_end_on_request(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker", "listener": "Listener"})
    program = hyphos_start("run", plan, "--logs", str(robot.folder / "logs"))
    heard = Inbox()
    with hyphos.Node.open("outside", domain=robot.domain) as node:
        node.subscribe("word", String, heard)
        heard.wait(1)
        wait_until(lambda: "heard" in log(robot, "listener_process"), "the listener")
    code, out, err = program.stop()
    assert (code, err) == (0, "")
    assert re.search(r"^talker_process   │ talker is up$", out, re.M)
    assert re.search(r"^listener_process │ heard hello$", out, re.M)
    assert "listener closed" in out
    assert log(robot, "talker_process") == "talker is up\n"


def test_tools_join_channels_over_zeromq(
    hyphos_start: Start, hyphos_cli: Cli, robot: Robot
) -> None:
    channel = (
        "channels: {word: {type: hyphos.msgs.String, transport: zmq,"
        " publishers: [talker], subscribers: [listener]}}\n"
    )
    plan = robot.plan({"talker": "Talker", "listener": "Listener"}, channel)
    program = hyphos_start("run", plan, "--logs", str(robot.folder / "logs"))
    wait_until(lambda: "heard" in log(robot, "listener_process"), "the listener")
    here = ("-d", robot.domain)
    code, out, err = hyphos_cli("channel", "echo", "word", "-n", "2", *here)
    assert code == 0, err
    assert out.count("data: hello") == 2
    assert "Hz" in hyphos_cli("channel", "hz", "word", "-n", "1", *here)[1]
    file = robot.folder / "run.mcap"
    recorder = record(hyphos_start, robot.domain, file, "word")
    wait_until(lambda: recorded(robot, "word"), "the recorder")
    code, _, err = recorder.stop()
    assert code == 0, err
    assert re.search(r"\bword\b.*\b[1-9]", hyphos_cli("replay", "--list", str(file))[1])
    heard = Inbox()
    with hyphos.Node.open("outside", domain=robot.domain) as node:
        node.subscribe("word", String, heard)
        # Long enough to connect both subscribers, and not only the first.
        words = ("pub", "word", "String", "{data: outside}", "--rate", "50", "-n", "250")
        code, out, _ = hyphos_cli("channel", *words, *here)
        assert code == 0
        wait_until(lambda: any(word.data == "outside" for word in heard.items), "the publication")
    # Both the listener and this test received the tool's message.
    assert "no subscriber" not in out
    assert program.stop()[0] == 0


def recorded(robot: Robot, channel: str) -> bool:
    """True if a recorder has received a message of a channel."""
    return bool(recorders(robot.domain)) and counted(robot.domain, channel) > 0


def log(robot: Robot, process: str) -> str:
    path = robot.folder / "logs" / f"{process}.log"
    return path.read_text() if path.exists() else ""


def test_the_plan_assigns_nodes_to_processes(hyphos_start: Start, robot: Robot) -> None:
    path = robot.folder / "one.yaml"
    path.write_text(
        f"hyphos: 1\ndomain: {robot.domain}\nprocesses: {{all: {{nodes: [a, b]}}}}\n"
        'nodes:\n  a: {python: "nodes.py:Talker", params: {word: shared}}\n'
        '  b: {python: "nodes:Listener"}\n'
    )
    program = hyphos_start("run", str(path))
    while program.line() != "all │ heard shared":
        pass
    assert program.stop()[0] == 0


def test_set_changes_the_plan(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker", "listener": "Listener"})
    program = hyphos_start("run", plan, "--set", "nodes.talker.params.word=changed")
    line = ""
    while "│ heard" not in line:
        line = program.line()
    assert line.endswith("heard changed")
    assert program.stop()[0] == 0


def test_live_shows_processes_and_channels(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker", "listener": "Listener"})
    program = hyphos_start("run", plan, "--live", "--quiet")
    seen = ""
    while not re.search(r"word +shm +[1-9][\d.]* Hz", seen):
        seen += program.line() + "\n"
    code, last, _ = program.stop()
    assert code == 0
    assert "talker is up" not in seen + last
    whole = last.partition("mean CPU and rates")[2]
    assert whole.count("transport") == 1
    assert re.search(r"talker_process +ended +\d+ +[\d.]+ % +[1-9][\d.]* MB", whole)
    assert re.search(r"^ word +shm +[1-9][\d.]* Hz", whole, re.MULTILINE)


def test_a_failing_process_ends_the_run(hyphos_cli: Cli, robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker", "bad": "failing"})
    code, out, _ = hyphos_cli("run", plan)
    assert code == 1
    assert "bad_process failed (1)" in out
    # The node, its line in the plan, and only the frames of its own code.
    assert re.search(
        r"error: \S*robot.yaml:8:3: node 'bad' could not be set up: RuntimeError: cannot work", out
    )
    assert "in failing" in out
    assert "hyphos/host.py" not in out
    assert "importlib" not in out
    assert (
        "the robot ended because process 'bad_process' failed (1). To restart the process instead: "
        f"processes.bad_process.restart: on_failure in {plan}"
    ) in out


def test_keep_going_keeps_the_other_processes_running(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker", "bad": "crashing"})
    words = ("run", plan, "--keep-going", "--logs", str(robot.folder / "logs"))
    program = hyphos_start(*words)
    line = ""
    while "bad_process crashed" not in line:
        line = program.line()
    assert "bad_process crashed (SIGSEGV)" in line
    heard = Inbox()
    with hyphos.Node.open("outside", domain=robot.domain) as node:
        node.subscribe("word", String, heard)
        heard.wait(5)
    code, _, _ = program.stop()
    assert code == 1  # the exit code still reports the failure


def test_drops_of_a_short_run_are_in_its_last_lines(hyphos_cli: Cli, robot: Robot) -> None:
    plan = robot.plan({"slow": "Slow", "hasty": "Hasty"}, "channels: {word: {depth: 1}}\n")
    code, out, _ = hyphos_cli("run", plan)
    assert code == 1
    assert re.search(r"^word → slow: \d+ of \d+ dropped, queue full$", out, re.MULTILINE), out


def test_a_process_that_ignores_signals_is_killed(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.plan({"mule": "stubborn"})
    program = hyphos_start("run", plan, "--grace", "0.2")
    line = ""
    while "│ stubborn" not in line:
        line = program.line()
    pid = int(line.split()[-1])
    program.signal(signal.SIGTERM)
    code, out, _ = program.end()
    assert code == 1
    assert "killed by SIGKILL" in out
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def run_host(
    plan: str, process: str, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a process of a plan without a launcher, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "hyphos.host", "--hyphos-plan", plan, "--hyphos-process", process],
        env={**os.environ, **(variables or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_ctrl_c_during_an_import_of_the_host_ends_it_without_a_traceback(robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker"})
    # The host imports numpy. This module interrupts it, and then gives way to the real one.
    early = robot.folder / "early"
    early.mkdir()
    (early / "numpy.py").write_text(
        "import os, signal, sys\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.path.remove(os.path.dirname(__file__))\n"
        "del sys.modules['numpy']\n"
        "import numpy\n"
    )
    host = run_host(plan, "talker_process", {"PYTHONPATH": str(early)})
    assert (host.returncode, host.stdout, host.stderr) == (130, "", "")


def test_ctrl_c_during_an_import_of_a_node_is_not_raised_inside_the_import_machinery(
    robot: Robot,
) -> None:
    plan = robot.plan({"talker": "Talker"})
    # The interpreter handles the signal in the frame that searches for the module.
    (robot.folder / "nodes.py").write_text(
        "import ctypes, functools, os, signal, sys\n"
        "kill = ctypes.CDLL(None).kill\n"
        "kill.restype = None\n"
        "class Finder:\n"
        "    find_spec = functools.partial(kill, os.getpid(), int(signal.SIGINT))\n"
        "sys.meta_path.insert(0, Finder)\n"
        "import this_is_searched_for\n"
        "class Talker:\n"
        "    def __init__(self, node): pass\n"
    )
    (robot.folder / "this_is_searched_for.py").write_text("print('imported', flush=True)\n")
    host = run_host(plan, "talker_process")
    assert (host.returncode, host.stdout, host.stderr) == (130, "imported\n", "")


def test_ctrl_c_that_python_discards_during_the_set_up_ends_the_process(robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker"})
    (robot.folder / "nodes.py").write_text(
        "import os, signal\n"
        "class Talker:\n"
        "    def __init__(self, node): pass\n"
        "    def __del__(self): os.kill(os.getpid(), signal.SIGINT)\n"
        "Talker(None)\n"
        "del Talker.__del__\n"
    )
    assert run_host(plan, "talker_process").returncode == 130


def test_only_the_selected_processes_start(
    hyphos_start: Start, hyphos_cli: Cli, robot: Robot
) -> None:
    plan = robot.plan({"talker": "Talker", "listener": "Listener"})
    code, out, _ = run_until_ready(hyphos_start, robot.folder, plan, "-p", "talker_process")
    assert code == 0
    assert "talker is up" in out
    assert "listener" not in out
    code, _, err = hyphos_cli("run", plan, "-p", "absent")
    assert code == 1
    assert "only talker_process, listener_process" in err


def test_an_executable_can_be_a_node(
    hyphos_cli: Cli, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(robot.folder / "program", '#!/bin/sh\necho "arguments: $*"\n')
    path = robot.folder / "robot.yaml"
    path.write_text(
        f"hyphos: 1\ndomain: {robot.domain}\n"
        "nodes: {tool: {executable: ./program, args: [-x]}}\n"
        "processes: {tool: {env: {COLOUR: red}}}\n"
    )
    code, out, err = hyphos_cli("run", str(path))
    assert code == 0, err
    assert f"arguments: -x --hyphos-plan {path} --hyphos-process tool" in out
    assert "tool ended" in out
    monkeypatch.chdir(robot.folder)
    assert hyphos_cli("run", path.name)[0] == 0


def test_a_plan_may_be_recorded(hyphos_start: Start, hyphos_cli: Cli, robot: Robot) -> None:
    plan = robot.plan({"talker": "Talker"}, "record: {path: out/run.mcap}\n")
    program = hyphos_start("run", plan, "--record")
    wait_until(lambda: recorded(robot, "word"), "the recorder")
    code, _, err = program.stop()
    assert code == 0, err
    code, out, _ = hyphos_cli("replay", str(robot.folder / "out/run.mcap"), "--list")
    assert "word" in out


# The first run ends before an interpreter has started.
@pytest.mark.parametrize("seconds", ["0.01", "3"])
def test_a_recorder_without_messages_has_not_failed(
    hyphos_cli: Cli, robot: Robot, seconds: str
) -> None:
    write_program(robot.folder / "program", "#!/bin/sh\nexec sleep 60\n")
    plan = robot.folder / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {robot.domain}\n"
        "nodes: {tool: {executable: ./program}}\n"
        "record: {path: out/run.mcap, channels: [absent]}\n"
    )
    words = ("run", str(plan), "--record", "--for", seconds, "--grace", "60")
    code, out, err = hyphos_cli(*words)
    assert code == 0, out + err
    assert re.search(r"^record +│ nothing was recorded: no publisher", out, re.MULTILINE), out
    assert "record: " not in out + err
    assert hyphos_cli("bag", "check", str(robot.folder / "out/run.mcap"))[0] == 0


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ('nodes: {n: {python: "absent:Node"}}', "cannot import Python module 'absent'"),
        ('nodes: {n: {python: "nodes:Absent"}}', "robot.yaml:3:9: nodes.n.python: 'nodes' has no"),
        ('nodes: {n: {python: "nodes:Talkr"}}', "has no 'Talkr'; did you mean 'Talker'?"),
        ('nodes: {n: {python: "nodes"}}', "name one, 'python: nodes:Class'"),
        ('nodes: {n: {python: "absent.py:Node"}}', "absent.py"),
    ],
)
def test_python_nodes_that_do_not_exist_are_named(
    hyphos_cli: Cli, robot: Robot, plan: str, message: str
) -> None:
    path = robot.folder / "robot.yaml"
    path.write_text(f"hyphos: 1\ndomain: {robot.domain}\n{plan}\n")
    code, out, err = hyphos_cli("run", str(path))
    assert code == 1
    assert message in out + err
    assert "Traceback" not in out + err


def test_a_missing_network_namespace_is_reported(hyphos_cli: Cli, robot: Robot) -> None:
    path = robot.folder / "robot.yaml"
    path.write_text(
        f'hyphos: 1\ndomain: {robot.domain}\nnodes: {{n: {{python: "nodes:Talker"}}}}\n'
        "hosts: {far: {address: 10.9.8.7, netns: hyphos_absent}}\n"
    )
    code, _, err = hyphos_cli("run", str(path))
    assert code == 1
    assert "ip netns add hyphos_absent" in err


def test_processes_of_other_machines_are_not_started(hyphos_start: Start, robot: Robot) -> None:
    path = robot.folder / "robot.yaml"
    path.write_text(
        f"""hyphos: 1
domain: {robot.domain}
hosts: {{here: {{address: 127.0.0.1}}, far: {{address: 192.0.2.7}}}}
processes: {{near_process: {{host: here, nodes: [a]}}, far_process: {{host: far, nodes: [b]}}}}
nodes: {{a: {{python: "nodes:Talker"}}, b: {{python: "nodes:Listener"}}}}
"""
    )
    code, out, err = run_until_ready(hyphos_start, robot.folder, str(path))
    assert code == 0, err
    assert "near_process" in out
    assert "far_process" not in out
    assert f"hyphos run {path} --host far" in err
