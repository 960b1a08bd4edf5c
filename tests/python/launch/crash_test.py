"""A process that crashes: its stacks, its log, the summary of the run, and the debugger."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from helpers import Cli, Start, write_program
from hyphos.supervise.crash import Reports, explain

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = ROOT / "build/release/tests/node/libtest_plugin_crashing.so"

NODES = """
import ctypes, os, signal

def harmless(node):
    node.every(lambda: None, rate_hz=50)

class Broken:
    def __init__(self, node):
        node.every(self.tick, rate_hz=50)
    def tick(self):
        self.read_nothing()
    def read_nothing(self):
        ctypes.string_at(0)

class Killed:
    def __init__(self, node):
        node.every(lambda: os.kill(os.getpid(), signal.SIGKILL), rate_hz=50)

def shows_its_prefix(node):
    print("MARK is", os.environ.get("MARK"), flush=True)
    node.runtime.request_stop()
"""


class Robot:
    def __init__(self, folder: Path, domain: str) -> None:
        self.folder = folder
        self.domain = domain
        self.path = folder / "robot.yaml"
        (folder / "nodes.py").write_text(NODES)

    def plan(self, program: str, keys: str = "") -> str:
        """A plan with a harmless process, and process `bad` with the node `broken`."""
        self.path.write_text(
            f"hyphos: 1\ndomain: {self.domain}\nprocesses:\n  fine: {{nodes: [calm]}}\n"
            f"  bad: {{nodes: [broken]{', ' if keys else ''}{keys}}}\n"
            f'nodes:\n  calm: {{python: "nodes.py:harmless"}}\n  broken: {{{program}}}\n'
        )
        return str(self.path)

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def log(self) -> str:
        return (self.logs / "bad.log").read_text()


@pytest.fixture
def robot(tmp_path: Path, domain: str) -> Robot:
    return Robot(tmp_path, domain)


def test_a_crash_in_python_leaves_both_stacks(hyphos_cli: Cli, robot: Robot) -> None:
    plan = robot.plan('python: "nodes.py:Broken"')
    code, out, _ = hyphos_cli("run", plan, "--logs", str(robot.logs))
    assert code == 1
    text = robot.log()
    # The stack of C++ comes first, then the one of Python, innermost frame first.
    assert "hyphos: crash of process 'bad': SIGSEGV at address 0x0 in thread 'hyphos-pool'" in text
    assert text.index("  #0 ") < text.index("Fatal Python error: Segmentation fault")
    python = text.partition("Fatal Python error")[2]
    assert re.search(r"nodes\.py\", line \d+ in read_nothing\n.*line \d+ in tick", python)
    summary = out.partition("stopping")[2]
    assert f"bad: crashed (SIGSEGV) in node 'broken', callback of a timer, see {robot.logs}" in out
    assert (
        "the robot ended because process 'bad' crashed (SIGSEGV) in node 'broken', callback of a "
        f"timer. To restart the process instead: processes.bad.restart: on_failure in {plan}"
    ) in summary + out


def test_a_crash_in_a_plugin_names_the_function(hyphos_cli: Cli, robot: Robot) -> None:
    plan = robot.plan(f"plugin: {PLUGIN}")
    code, out, _ = hyphos_cli("run", plan, "--logs", str(robot.logs))
    assert code == 1
    assert "bad: crashed (SIGSEGV) in node 'broken', callback of a timer" in out
    assert "the stack of bad (SIGSEGV, node 'broken', callback of a timer):" in robot.log()
    assert re.search(r"#0 .*read_through.* \(libtest_plugin_crashing\.so\)", robot.log())
    assert re.search(r"#\d .*Crashing::Crashing.* \(libtest_plugin_crashing\.so\)", robot.log())


def test_the_printed_line_starts_the_process_in_a_debugger(
    hyphos_cli: Cli, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = robot.plan(f"plugin: {PLUGIN}", "env: {COLOUR: dark red}")
    out = hyphos_cli("run", plan, "--logs", str(robot.logs))[1]
    found = re.search(r"in a debugger: (cd .*gdb -ex run --args .*)", out)
    assert found
    # A stand-in for gdb: it runs the program behind --args.
    folder = robot.folder / "bin"
    folder.mkdir()
    write_program(
        folder / "gdb",
        '#!/bin/sh\nwhile [ "$1" != --args ]; do shift; done\nshift\n'
        'echo "debugging with $COLOUR"\nexec "$@"\n',
    )
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    done = subprocess.run(
        ["/bin/sh", "-c", found[1]], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 128 + signal.SIGSEGV or done.returncode == -signal.SIGSEGV
    assert "debugging with dark red" in done.stdout
    assert "hyphos: crash of process 'bad'" in done.stderr


def test_a_killed_process_has_a_log_and_no_debugger_line(hyphos_cli: Cli, robot: Robot) -> None:
    plan = robot.plan('python: "nodes.py:Killed"')
    code, out, _ = hyphos_cli("run", plan, "--logs", str(robot.logs))
    assert code == 1
    assert f"bad: killed by SIGKILL, see {robot.logs / 'bad.log'}" in out
    assert "--- killed by SIGKILL ---" in robot.log()
    assert "debugger" not in out


def test_a_restarted_process_does_not_end_the_robot(hyphos_cli: Cli, robot: Robot) -> None:
    keys = "restart: on_failure, backoff_ms: 1, max_restarts_per_minute: 2"
    plan = robot.plan(f"plugin: {PLUGIN}", keys)
    code, out, _ = hyphos_cli("run", plan, "--logs", str(robot.logs))
    assert code == 1
    assert robot.log().count("the stack of bad") == 3
    assert "giving up after 2 restarts" in out
    assert "To restart the process instead" not in out  # the plan has it already
    code, out, _ = hyphos_cli("run", plan, "--keep-going", "--for", "2")
    assert "the robot ended because" not in out


@pytest.mark.parametrize("prefix", ["env MARK=text", '[env, "MARK=two words"]'])
def test_a_prefix_runs_the_process(hyphos_cli: Cli, robot: Robot, prefix: str) -> None:
    plan = robot.plan('python: "nodes.py:shows_its_prefix"', f"prefix: {prefix}")
    code, out, err = hyphos_cli("run", plan, "-p", "bad")
    assert code == 0, err
    assert f"MARK is {'text' if 'text' in prefix else 'two words'}" in out


def test_a_missing_program_of_a_prefix_has_a_remedy(
    hyphos_cli: Cli, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = robot.plan('python: "nodes.py:harmless"', "prefix: gdb -ex run --args")
    monkeypatch.setenv("PATH", str(robot.folder))
    code, out, _ = hyphos_cli("run", plan, "-p", "bad")
    assert code == 1
    assert "bad could not start: gdb: program not found on PATH (apt install gdb)" in out


def test_a_report_is_read_from_any_output() -> None:
    reports = Reports()
    reports.line("p", b"  #0 /lib/x.so(+0x10) before\n")  # not in a report
    assert reports.take("p") is None
    head = b"hyphos: crash of process 'p': SIGBUS at address 0x8 in thread 'hyphos-pool'"
    reports.line("p", head + b" in node 'n', callback of channel 'a b'\n")
    reports.line("p", b"another thread prints a line\n")
    reports.line("p", b"  #0 /a folder/x.so(+0x1f) _Z3foov\n")
    reports.line("p", b"  #1 0x7f00\n")
    for damaged in (b"  #2 (+0xzz)", b"  #" + b"9" * 5000, b"  #3 \xff\xfe(+0x1)", b"  #"):
        reports.line("p", damaged)
    for _ in range(1000):
        reports.line("p", b"  #4 /lib/x.so(+0x10)\n")
    report = reports.take("p")
    assert report is not None
    assert (report.signal, report.place) == ("SIGBUS", "node 'n', callback of channel 'a b'")
    first = report.frames[0]
    assert (first.file, first.offset, first.symbol) == ("/a folder/x.so", 0x1F, "_Z3foov")
    assert len(report.frames) == 64
    assert reports.take("p") is None


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="needs binutils")
def test_names_of_functions_are_readable(tmp_path: Path) -> None:
    reports = Reports()
    reports.line("p", b"hyphos: crash of process 'p': SIGBUS in thread 'x'\n")
    reports.line("p", b"  #0 gone.so(+0x1f) _ZN5Robot4stepEi\n")
    report = reports.take("p")
    assert report is not None
    assert explain("p", report, tmp_path) == [
        "the stack of p (SIGBUS):",
        "  #0 Robot::step(int) (gone.so)",
    ]


def test_the_traceback_of_an_interrupted_program_stays_in_its_log(
    hyphos_start: Start, robot: Robot
) -> None:
    write_program(
        robot.folder / "slow.py",
        "#!/usr/bin/env python3\nimport time\nprint('works', flush=True)\ntime.sleep(1000)\n",
    )
    robot.path.write_text(
        f"hyphos: 1\ndomain: {robot.domain}\nnodes: {{slow: {{executable: ./slow.py}}}}\n"
    )
    program = hyphos_start("run", str(robot.path), "--logs", str(robot.logs))
    while not program.line().endswith("works"):
        pass
    _, out, err = program.stop()
    assert "Traceback" not in out + err
    assert "KeyboardInterrupt" in (robot.logs / "slow.log").read_text()
