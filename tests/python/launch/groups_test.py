"""Groups of a running robot: start, stop, move, open and close as one, and their faults."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import hyphos
import pytest
from helpers import PATIENCE_S, Cli, Inbox, Program, Start, look_until, repeating, wait_until
from hyphos.msgs import Int64
from hyphos.observe import look
from hyphos.tools.groups import Change, change, servers
from machines import Machines

DOUBLER = Path(__file__).parents[3] / "build/release/examples/04_plugin_and_plan/libplan_doubler.so"
NODES = """
import os, signal
from pathlib import Path
from hyphos.msgs import Int64, String

HERE = Path(__file__).parent

class Echo:
    "Publishes each number with the name of its process. A file of the test makes it fail."
    def __init__(self, node):
        self.process = node.runtime.process
        fault = HERE / f"{self.process}.start"
        if fault.exists():
            if fault.read_text() == "die":
                fault.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("no camera is connected")
        self.pub = node.publisher("echo", String)
        node.subscribe("number", Int64, self.on_number)
    def on_number(self, number):
        self.pub.publish(String(data=f"{self.process} {number.data}"))
    def close(self):
        if (HERE / f"{self.process}.stop").exists():
            os.kill(os.getpid(), signal.SIGKILL)
"""
PLAN = """hyphos: 1
domain: "{domain}"
processes:
  body: {{}}
  home: {{restart: on_failure, backoff_ms: 1}}
  spare: {{restart: on_failure, backoff_ms: 1}}
nodes:
  source: {{process: body}}
  echo: {{python: "nodes:Echo"}}
  doubler: {{plugin: {doubler}}}
groups:
  work: {{nodes: [echo, doubler], process: home, moves_to: [spare]}}
  outer: {{nodes: [source]}}
"""
RESTING = PLAN.replace("moves_to: [spare]}}", "moves_to: [spare], start: off}}")


class Robot:
    """The processes home and spare by `hyphos run`, and body in the test."""

    def __init__(self, folder: Path, domain: str, start: Start) -> None:
        self.folder = folder
        self.domain = domain
        self._start = start
        (folder / "nodes.py").write_text(NODES)

    def run(self, *processes: str, plan: str = PLAN) -> Program:
        file = self.folder / "robot.yaml"
        file.write_text(plan.format(domain=self.domain, doubler=DOUBLER))
        words = [word for name in processes or ("home", "spare") for word in ("-p", name)]
        program = self._start(
            "run", str(file), *words, "--quiet", "--logs", str(self.folder / "logs")
        )
        wait_until(
            lambda: set(self.served()) >= set(processes or ("home", "spare")),
            "the processes",
        )
        return program

    def served(self) -> list[str]:
        """The processes that change groups. None before the first one has started."""
        try:
            return servers(look(self.domain))
        except hyphos.Error:
            return []

    def body(self) -> hyphos.Runtime:
        return hyphos.Runtime.open(plan=str(self.folder / "robot.yaml"), process="body")

    def where(self) -> dict[str, str]:
        """The process of each node of the group that runs."""
        nodes = change(self.domain, Change("work", "look"), PATIENCE_S).nodes
        return {one.node: one.process for one in nodes if one.running}

    def pid(self, process: str) -> int:
        return max(one.pid for one in look(self.domain).processes if one.name == process)

    def comes_back(self, process: str, before: int) -> None:
        """Waits until the process runs again, after its run with the pid `before`."""

        def there() -> bool:
            now = look(self.domain)
            now.processes = [one for one in now.processes if one.pid != before]
            return process in servers(now)

        wait_until(there, process)

    def fault(self, name: str, text: str = "") -> None:
        (self.folder / name).write_text(text)


HOME = {"echo": "home", "doubler": "home"}
SPARE = {"echo": "spare", "doubler": "spare"}


@pytest.fixture
def robot(tmp_path: Path, domain: str, hyphos_start: Start) -> Robot:
    return Robot(tmp_path, domain, hyphos_start)


@pytest.fixture
def running(robot: Robot) -> Iterator[Robot]:
    program = robot.run()
    yield robot
    program.stop()


def echoes_of(heard: Inbox, number: int) -> list[str]:
    return [one.data for one in heard.items if one.data.endswith(f" {number}")]


def doubles_of(doubled: Inbox, number: int) -> list[int]:
    return [one.data for one in doubled.items if one.data == 2 * number]


def test_a_group_moves_with_all_its_nodes_and_back(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    assert running.where() == HOME
    heard, doubled = Inbox(), Inbox()
    with hyphos.Node.open("outside", domain=domain) as node:
        node.subscribe("echo", hyphos.msgs.String, heard)
        node.subscribe("doubled", Int64, doubled)
        number = node.publisher("number", Int64)
        for sent, (process, state) in enumerate((("spare", SPARE), ("home", HOME)), 21):
            code, out, err = hyphos_cli("group", "move", "work", process, "-d", domain)
            assert (code, err) == (0, "")
            assert out == f"work: echo, doubler: runs in {process}\n"
            assert hyphos_cli("group", "start", "work", "-d", domain)[0] == 0
            assert running.where() == state
            echoes = partial(echoes_of, heard, sent)
            with repeating(partial(number.publish, Int64(data=sent))):
                look_until(bool, echoes, "the echo")
                look_until(bool, partial(doubles_of, doubled, sent), "the double")
            assert set(echoes()) == {f"{process} {sent}"}


def test_a_group_stops_and_starts_in_a_process_that_continues(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    pid = running.pid("home")
    code, out, _ = hyphos_cli("group", "stop", "work", "-d", domain)
    assert (code, out) == (0, "work: echo, doubler: stopped in home\n")
    assert not [end for _, end in look(domain).ends("number") if end.node in HOME]
    assert hyphos_cli("group", "stop", "work", "-d", domain)[0] == 0
    code, out, _ = hyphos_cli("group", "start", "work", "-d", domain)
    assert (code, out) == (0, "work: echo, doubler: runs in home\n")
    assert running.where() == HOME
    assert running.pid("home") == pid


def test_a_group_can_wait_for_its_start(robot: Robot, hyphos_cli: Cli, domain: str) -> None:
    program = robot.run(plan=RESTING)
    assert robot.where() == {}
    assert hyphos_cli("group", "move", "work", "spare", "-d", domain)[0] == 0
    assert robot.where() == SPARE
    assert program.stop()[0] == 0


def test_the_list_names_nodes_without_a_process(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    assert running.where() == HOME
    code, out, err = hyphos_cli("group", "list", "-d", domain, "--json")
    assert (code, err) == (0, "")
    rows = {one["node"]: one for one in json.loads(out)}
    assert rows["echo"] == {
        "group": "work", "node": "echo", "process": "home", "running": True, "reachable": True,
    }  # fmt: skip
    assert (rows["source"]["running"], rows["source"]["reachable"]) == (False, False)
    assert "stopped, the process does not run" in hyphos_cli("group", "list", "-d", domain)[1]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["move", "wrk", "spare"], "the plan has no group 'wrk'. Did you mean 'work'?"),
        (["stop", "x"], "Known: work, outer"),
        (["move", "work", "spar"], "groups.work.moves_to. Did you mean 'spare'?"),
        (["move", "work", "body"], "groups.work.moves_to"),
        (["start", "outer"], "no process of group 'outer' runs: body"),
        (["close", "work", "--where", "here"], "unknown --where 'here'"),
    ],
)
def test_mistakes_name_the_remedy(
    running: Robot, words: list[str], text: str, domain: str, hyphos_cli: Cli
) -> None:
    code, _, err = hyphos_cli("group", *words, "-d", domain)
    assert code == 1
    assert text in err
    assert running.where() == HOME


def test_a_robot_without_groups_is_named(domain: str, hyphos_cli: Cli) -> None:
    with hyphos.Node.open("alone", domain=domain):
        code, _, err = hyphos_cli("group", "list", "-d", domain)
    assert code == 1
    assert f"no process of domain '{domain}' runs a plan with `groups:`" in err


def test_a_group_does_not_move_to_a_dead_process(
    robot: Robot, hyphos_cli: Cli, domain: str
) -> None:
    program = robot.run("home")
    code, _, err = hyphos_cli("group", "move", "work", "spare", "-d", domain)
    assert code == 1
    assert "group 'work' did not move to process 'spare': process 'spare' does not run" in err
    assert robot.where() == HOME
    program.stop()


def test_a_failed_constructor_leaves_the_group_where_it_was(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    running.fault("spare.start")
    code, _, err = hyphos_cli("group", "move", "work", "spare", "-d", domain)
    assert code == 1
    assert "node 'echo' could not be set up: RuntimeError: no camera is connected" in err
    assert "It runs in process 'home' again" in err
    assert running.where() == HOME


def test_a_target_killed_during_a_move_leaves_the_group_where_it_was(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    before = running.pid("spare")
    running.fault("spare.start", "die")
    code, _, err = hyphos_cli("group", "move", "work", "spare", "-d", domain)
    assert code == 1
    assert "It runs in process 'home' again" in err
    running.comes_back("spare", before)
    assert running.where() == HOME
    assert hyphos_cli("group", "move", "work", "spare", "-d", domain)[0] == 0
    assert running.where() == SPARE


def test_a_group_leaves_a_process_that_is_killed_meanwhile(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    assert hyphos_cli("group", "move", "work", "spare", "-d", domain)[0] == 0
    before = running.pid("spare")
    running.fault("spare.stop")
    code, _, err = hyphos_cli("group", "move", "work", "home", "-d", domain)
    assert (code, err) == (0, "")
    running.comes_back("spare", before)
    assert running.where() == HOME


def test_a_restarted_process_has_the_groups_of_its_end(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    assert hyphos_cli("group", "move", "work", "spare", "-d", domain)[0] == 0
    for process in ("home", "spare"):
        before = running.pid(process)
        os.kill(before, signal.SIGKILL)
        running.comes_back(process, before)
        wait_until(lambda: running.where() == SPARE, "the group in spare")


def test_programs_change_groups(running: Robot) -> None:
    with running.body() as runtime:
        source = runtime.node("source")
        number = source.publisher("number", Int64)
        runtime.ready()
        assert {one.node for one in runtime.group_state().nodes} == {"echo", "doubler", "source"}
        state = runtime.move_group("work", "spare")
        assert {one.process for one in state.nodes} == {"spare"}
        number.wait_for(1)
        channels = runtime.set_group_open("work", False, where="outside").channels
        assert {(one.process, one.channel, one.open) for one in channels} == {
            ("spare", "number", "inside"), ("spare", "echo", "inside"),
            ("spare", "doubled", "inside"),
        }  # fmt: skip
        assert runtime.set_group_open("work", True).channels[0].open == "both"
        number.wait_for(1)
        with pytest.raises(hyphos.Error, match="cannot start or end while the robot runs"):
            runtime.stop_group("outer")
        assert not [one for one in runtime.stop_group("work").nodes if one.running]
        assert all(one.running for one in runtime.start_group("work").nodes)
        with pytest.raises(hyphos.Error, match="Did you mean 'work'"):
            runtime.start_group("wok")


def may_make_machines() -> bool:
    tools = all(shutil.which(word) for word in ("ip", "nsenter", "unshare"))
    if os.geteuid() != 0 or not tools:
        return False
    made = subprocess.run(["unshare", "--net", "--mount", "--uts", "true"], check=False)
    return made.returncode == 0


@pytest.mark.skipif(not may_make_machines(), reason="machines may not be made here (root, unshare)")
def test_a_group_moves_to_another_machine_and_back(robot: Robot, start: Start, domain: str) -> None:
    near, far = f"n{os.getpid()}", f"f{os.getpid()}"
    hosts = "hosts: {{near: {{address: 10.79.0.1}}, far: {{address: 10.79.0.2}}}}\nprocesses:"
    plan = PLAN.replace("processes:", hosts, 1)
    for process, host in (("body", "near"), ("home", "near"), ("spare", "far")):
        plan = re.sub(rf"^  {process}: {{{{", rf"\g<0>host: {host}, ", plan, flags=re.MULTILINE)
    plan = plan.replace("host: near, }}", "host: near}}")
    file = robot.folder / "robot.yaml"
    file.write_text(plan.format(domain=domain, doubler=DOUBLER))
    addresses = {near: "10.79.0.1", far: "10.79.0.2"}
    with Machines(addresses, f"b{os.getpid()}") as machines:

        def hyphos_on(machine: str, *words: str) -> Program:
            return start(*machines.enter(machine), sys.executable, "-m", "hyphos", *words)

        def group(machine: str, *words: str) -> tuple[int, str, str]:
            return hyphos_on(machine, "group", *words, "-d", domain).end()

        def state(machine: str) -> str:
            return group(machine, "list", "work")[1]

        runs = [
            hyphos_on(
                machine, "run", str(file), "-p", process, "--host", host, "--quiet",
                "--logs", str(robot.folder / host),
            )
            for machine, process, host in ((near, "home", "near"), (far, "spare", "far"))
        ]  # fmt: skip
        wait_until(lambda: state(near).count("runs") == 2, "the group")
        code, out, err = group(near, "move", "work", "spare")
        assert (code, out, err) == (0, "work: echo, doubler: runs in spare\n", "")
        assert "spare" in state(near)
        assert "spare" in state(far)
        # A process of the other machine coordinates.
        code, out, err = group(far, "move", "work", "home")
        assert (code, out, err) == (0, "work: echo, doubler: runs in home\n", "")
        assert state(far).count("home") == 2
        for run in runs:
            assert run.stop()[0] == 0


def test_a_runtime_without_groups_refuses_changes(domain: str) -> None:
    with hyphos.Node.open("alone", domain=domain) as node:
        node.runtime.ready()
        with pytest.raises(hyphos.Error, match="groups need a plan with `groups:`"):
            node.runtime.stop_group("work")


def test_the_drawing_of_a_robot_has_a_box_for_a_group(
    running: Robot, hyphos_cli: Cli, domain: str
) -> None:
    assert running.where() == HOME
    words = ("graph", "-d", domain, "-w", "0.05")
    # A process that stalls for two seconds is drawn without a box.
    box_of_group = 'subgraph "cluster group work'
    out = look_until(lambda text: box_of_group in text, lambda: hyphos_cli(*words)[1], "a box")
    box = out[out.index(box_of_group) :]
    box = box[: box.index("}")]
    assert 'label="group work"' in box
    assert '[label="echo"' in box
    assert '[label="doubler"' in box
    work = {"name": "work", "nodes": ["doubler", "echo"]}
    as_json = (*words, "--format", "json")
    look_until(
        lambda groups: work in groups,
        lambda: json.loads(hyphos_cli(*as_json)[1])["groups"],
        "the group",
    )
