"""Does each remedy of docs/reference/errors.md: causes the error, applies the remedy, tries again.

A row has a case here, or names the test that does the same elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hyphos
import pytest
from claims import own_port
from helpers import Cli, Program, Start, wait_until, write_program
from hyphos import _hyphos
from hyphos.msgs import Int64, String
from launched import run_until_ready

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/reference/errors.md"
PLUGINS = ROOT / "build/release/tests/node"
HOST = ROOT / "build/release/node/hyphos-host"

COUNTER = """
import hyphos
from hyphos.msgs import Int64

class Counter:
    def __init__(self, node):
        self.pub = node.publisher("count", Int64)
        node.every(lambda: self.pub.publish(Int64(data=1)), rate_hz=50)
"""


@dataclass
class Bench:
    """A folder with plans, and the commands that read them."""

    folder: Path
    domain: str
    cli: Cli
    start: Start

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def plan(self, text: str) -> str:
        return str(self.write("robot.yaml", f"hyphos: 1\ndomain: {self.domain}\n{text}"))

    def check(self, text: str) -> str:
        """The messages of `hyphos plan`."""
        return self.output("plan", self.plan(text), "--check-files")

    def run(self, text: str, *words: str) -> str:
        """The output of a run that ends when all processes are ready."""
        _, out, err = run_until_ready(self.start, self.folder, self.plan(text), *words)
        return out + err

    def to_the_end(self, text: str, *words: str) -> str:
        """The output of a run that ends by itself, however slow the machine is."""
        return self.output("run", self.plan(text), "--for", "60", *words)

    def output(self, *words: str) -> str:
        _, out, err = self.cli(*words)
        return out + err


@pytest.fixture
def bench(tmp_path: Path, domain: str, hyphos_cli: Cli, hyphos_start: Start) -> Bench:
    (tmp_path / "counter.py").write_text(COUNTER)
    return Bench(tmp_path, domain, hyphos_cli, hyphos_start)


# Each case yields two texts: one with the error, and one after the remedy.
Case = Callable[[Bench], tuple[str, str]]
CASES: dict[str, Case] = {}


def case(begin: str) -> Callable[[Case], Case]:
    """Registers a case for the row whose message contains `begin`."""

    def register(function: Case) -> Case:
        CASES[begin] = function
        return function

    return register


@case("unknown key")
def _key(bench: Bench) -> tuple[str, str]:
    return bench.check("channels: {cmd: {dept: 3}}\n"), bench.check("channels: {cmd: {depth: 3}}\n")


@case("a tab in the indentation")
def _tab(bench: Bench) -> tuple[str, str]:
    return bench.check("channels:\n\tcmd: {}\n"), bench.check("channels:\n  cmd: {}\n")


DOUBLER = "nodes: {doubler: {plugin: libtest_plugin_echo.so}}\n"


@case("nodes.doubler.plugin")
def _missing_plugin(bench: Bench) -> tuple[str, str]:
    return bench.check(DOUBLER), bench.check(f"plugin_path: [{PLUGINS}]\n{DOUBLER}")


def _plugin(bench: Bench, file: Path) -> tuple[str, str]:
    """A run with a wrong plug-in, and one with a right one in its place."""
    plan = f"nodes: {{n: {{plugin: {file}}}}}\n"
    before = bench.to_the_end(plan)
    shutil.copy(PLUGINS / "libtest_plugin_echo.so", file)
    return before, bench.run(plan)


@case("cannot load the plug-in")
def _broken_plugin(bench: Bench) -> tuple[str, str]:
    return _plugin(bench, bench.write("libn.so", "not a library"))


@case("not a Hyphos plug-in")
def _empty_plugin(bench: Bench) -> tuple[str, str]:
    file = bench.folder / "libn.so"
    shutil.copy(PLUGINS / "libtest_plugin_empty.so", file)
    return _plugin(bench, file)


@case("built for plug-in interface")
def _old_plugin(bench: Bench) -> tuple[str, str]:
    source = bench.write(
        "old.c",
        "int hyphos_plugin_abi(void) { return 0; }\n"
        "void* hyphos_plugin_create(const void* node) { return (void*)node; }\n"
        "void hyphos_plugin_destroy(void* object) { (void)object; }\n",
    )
    file = bench.folder / "libn.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", file, source], check=True)
    return _plugin(bench, file)


@case("could not be set up")
def _constructor(bench: Bench) -> tuple[str, str]:
    plan = "nodes: {n: {python: 'driver.py:Driver'}}\n"
    text = "class Driver:\n    def __init__(self, node):\n        open('absent.bin')\n"
    file = bench.write("driver.py", text)
    before = bench.to_the_end(plan)
    number = re.search(r"driver\.py\", line (\d+), in __init__", before)
    assert number, before
    lines = text.splitlines()
    lines[int(number[1]) - 1] = "        pass"  # the line that the message shows
    file.write_text("\n".join(lines) + "\n")
    return before, bench.run(plan)


@case("cannot import Python module")
def _module(bench: Bench) -> tuple[str, str]:
    return (
        bench.to_the_end("nodes: {n: {python: 'cuonter:Counter'}}\n"),
        bench.run("nodes: {n: {python: 'counter:Counter'}}\n"),
    )


@case("has no 'Conter'")
def _class(bench: Bench) -> tuple[str, str]:
    return (
        bench.to_the_end("nodes: {n: {python: 'counter:Conter'}}\n"),
        bench.run("nodes: {n: {python: 'counter:Counter'}}\n"),
    )


@case("is a Python file without")
def _script(bench: Bench) -> tuple[str, str]:
    bench.write("n.py", "print('works', flush=True)\n")
    after = bench.to_the_end("nodes: {n: {executable: python3, args: [n.py]}}\n")
    assert "works" in after
    return bench.to_the_end("nodes: {n: {executable: n.py}}\n"), after


@case("so no program is started for it")
def _no_program(bench: Bench) -> tuple[str, str]:
    return bench.run("nodes: {n: {}}\n"), bench.run("nodes: {n: {python: 'counter:Counter'}}\n")


@case("by the plan, but node")
def _planned_type(bench: Bench) -> tuple[str, str]:
    def plan(name: str) -> str:
        bench.write(
            "counter.py",
            "import hyphos\nScan = hyphos.Struct('robot.Scan', [('x', 'f8')])\n"
            "class Counter:\n    def __init__(self, node):\n"
            "        node.publisher('scan', Scan)\n",
        )
        node = "nodes: {n: {python: 'counter:Counter'}}\n"
        return f"{node}channels: {{scan: {{type: {name}}}}}\n"

    return bench.to_the_end(plan("robot.Scn")), bench.run(plan("robot.Scan"))


@case("the plan has no process")
def _process(bench: Bench) -> tuple[str, str]:
    plan = bench.plan("processes: {sense: {}, think: {}}\n")

    def host(name: str, seconds: str) -> str:
        words = ["timeout", "--preserve-status", "-s", "INT", seconds, str(HOST)]
        words += ["--hyphos-plan", plan, "--hyphos-process", name]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return host("sens", "60"), host("sense", "1")


@case("has no node 'maper'")
def _node(bench: Bench) -> tuple[str, str]:
    plan = bench.plan("nodes: {mapper: {}, planner: {}}\n")

    def opened(name: str) -> str:
        try:
            hyphos.Node.open(name, plan=plan, process="main").close()
        except hyphos.Error as error:
            return f"{error} [{error.code}]"
        return ""

    return opened("maper"), opened("mapper")


@case("terminate called")
def _uncaught(bench: Bench) -> tuple[str, str]:
    program = ROOT / "build/release/examples/07_params/params_cruise"

    def run(plan: str, seconds: str) -> str:
        words = ["timeout", "--preserve-status", "-s", "INT", seconds, str(program)]
        done = subprocess.run(
            [*words, "--hyphos-plan", plan], capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    before = run("absent.yaml", "60")
    what = re.search(r"what\(\): +absent.yaml: cannot open the file", before)
    assert what, before
    return before, run(bench.plan("nodes: {cruise: {}}\n"), "1")


@case("cannot bind")
def _endpoint(bench: Bench) -> tuple[str, str]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = (
            "processes: {{a: {{nodes: [n], endpoint: 'tcp://127.0.0.1:{}'}}, b: {{nodes: [m]}}}}\n"
            "nodes: {{n: {{python: 'counter:Counter'}}, m: {{}}}}\n"
            "channels: {{count: {{transport: zmq, publishers: [n], subscribers: [m]}}}}\n"
        )
        before = bench.to_the_end(text.format(port), "-p", "a")
    return before, bench.run(text.format(own_port()), "-p", "a")


@case("is already run by another launcher")
def _twice(bench: Bench) -> tuple[str, str]:
    text = "nodes: {a: {python: 'counter:Counter', process: a}}\nprocesses: {a: {}}\n"
    plan = bench.plan(text)
    first: Program = bench.start("run", plan)
    while "started a" not in first.line():
        pass
    before = bench.output("run", plan, "--for", "1")
    found = re.search(r"kill -INT (\d+)", before)
    assert found, before
    os.kill(int(found[1]), 2)
    assert first.end()[0] == 0
    return before, bench.run(text)


@case("program not found on PATH")
def _no_debugger(bench: Bench) -> tuple[str, str]:
    text = "nodes: {bad: {python: 'counter:Counter', process: bad}}\n"
    text += "processes: {bad: {prefix: gdb -batch --args}}\n"
    folder = bench.folder / "bin"
    folder.mkdir()
    old = os.environ["PATH"]
    os.environ["PATH"] = str(folder)
    try:
        before = bench.to_the_end(text)
        write_program(folder / "gdb", '#!/bin/sh\nshift 2\nexec "$@"\n')
        bench.write(
            "counter.py",
            "class Counter:\n    def __init__(self, _node):\n        raise SystemExit(0)\n",
        )
        return before, bench.to_the_end(text)
    finally:
        os.environ["PATH"] = old


@case("is unhealthy")
def _unhealthy(bench: Bench) -> tuple[str, str]:
    bench.write(
        "counter.py",
        "import time\nclass Counter:\n    def __init__(self, node):\n"
        "        node.every(lambda: time.sleep(0.4), rate_hz=100)\n",
    )
    text = (
        "nodes: {{n: {{python: 'counter:Counter', process: a}}}}\n"
        "processes: {{a: {{threads: 1, health: {{heartbeat_ms: {}}}}}}}\n"
    )
    before = bench.output("run", bench.plan(text.format(50)), "--for", "60")
    return before, bench.run(text.format(20_000))


@case("not ready after")
def _not_ready(bench: Bench) -> tuple[str, str]:
    write_program(bench.folder / "tool", "#!/bin/sh\nexec sleep 60\n")
    text = "nodes: {{a: {{executable: ./tool}}}}\n"
    text += "processes: {{a: {{ready: {}, ready_timeout_ms: 300}}}}\n"
    before = bench.to_the_end(text.format("nodes"), "--grace", "0.1")
    return before, bench.run(text.format("started"))


@case("the robot ended because process")
def _end(bench: Bench) -> tuple[str, str]:
    write_program(
        bench.folder / "tool", "#!/bin/sh\n[ -e was_here ] && exit 0\n>was_here\nexit 3\n"
    )
    text = "nodes: {{a: {{executable: ./tool}}}}\nprocesses: {{a: {{restart: {}}}}}\n"
    before = bench.to_the_end(text.format("never"))
    (bench.folder / "was_here").unlink()
    after = bench.to_the_end(text.format("on_failure"))
    assert "a: restarted 1 times" in after
    return before, after


def _two_ends(
    one: Any, other: Any, capture: Callable[[], str], domain: str, report: str = "$."
) -> str:
    """The output until the ends are connected, or until the report."""
    with (
        hyphos.Node.open("a", domain=domain, process="first") as first,
        hyphos.Node.open("b", domain=domain, process="second") as second,
    ):
        publisher = first.publisher("scan", one)
        second.subscribe("scan", other, lambda _: None)
        shown = ""

        def done() -> bool:
            nonlocal shown
            shown += capture()
            return publisher.listeners == 1 or re.search(report, shown) is not None

        wait_until(done, "the connection or its refusal")
        return shown


@pytest.fixture
def capture(capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    return lambda: capfd.readouterr().err


SMALL = hyphos.Struct("robot.Wheel", [("speed", "f4")])
LARGE = hyphos.Struct("robot.Wheel", [("speed", "f8")])


@pytest.mark.parametrize(
    ("part", "one", "other", "right"),
    [("No message passes", Int64, String, Int64), ("definitions of the type", SMALL, LARGE, SMALL)],
)
def test_one_type_for_both_processes_connects_them(
    capture: Callable[[], str], domain: str, part: str, one: object, other: object, right: object
) -> None:
    pattern = row_of(part).pattern
    assert re.search(pattern, _two_ends(one, other, capture, domain, pattern))
    capture()  # both ends report the mismatch, and the second line may come later
    assert _two_ends(one, right, capture, f"{domain}b") == ""


@case("in this process, but node")
def _types_in_one(bench: Bench) -> tuple[str, str]:
    def opened(kind: object) -> str:
        with hyphos.Runtime.open(domain=bench.domain) as runtime:
            one, two = runtime.node("a"), runtime.node("b")
            held = one.publisher("scan", Int64)
            try:
                two.subscribe("scan", kind, lambda _: None)
            except hyphos.Error as error:
                return f"{error} [{error.code}]"
            finally:
                held.close()
            return ""

    return opened(String), opened(Int64)


def _param(bench: Bench, *words: str) -> str:
    with hyphos.Node.open("guard", domain=bench.domain) as node:
        node.params().declare("speed", 1.0, range=(0.0, 2.0))
        return bench.output("param", "set", "guard", *words, "-d", bench.domain)


@case("is not in 0.0 to 2.0")
def _range(bench: Bench) -> tuple[str, str]:
    return _param(bench, "speed", "7"), _param(bench, "speed", "1.5")


@case("has no parameter 'sped'")
def _param_name(bench: Bench) -> tuple[str, str]:
    return _param(bench, "sped", "1"), _param(bench, "speed", "1")


@case("is open to other users")
def _open_folder(bench: Bench) -> tuple[str, str]:
    def opened() -> str:
        try:
            hyphos.Node.open("n", domain=bench.domain).close()
        except hyphos.Error as error:
            return str(error)
        return ""

    keeper = hyphos.Node.open("keeper", domain=bench.domain)
    folder = Path(f"/dev/shm/hyphos-{os.getuid()}", bench.domain)
    folder.chmod(0o755)
    try:
        before = opened()
        found = re.search(r"Run: (chmod 700 \S+)", before)
        assert found, before
        subprocess.run(found[1].split(), check=True)
        return before, opened()
    finally:
        folder.chmod(0o700)
        keeper.close()
        _hyphos.shm_clean(bench.domain)


# The test that causes the error and applies the remedy, for rows without a case here.
ELSEWHERE = {
    "giving up after": "tests/python/launch/crash_test.py::"
    "test_a_restarted_process_does_not_end_the_robot",
    "crashed (SIGSEGV)": "tests/python/launch/crash_test.py::"
    "test_a_crash_in_a_plugin_names_the_function",
    "Permission denied": "tests/python/launch/remote_test.py::test_a_plan_runs_over_a_real_sshd",
    "differs from the one here": "tests/python/launch/remote_test.py::"
    "test_a_plan_that_differs_is_refused",
    "No message passes": "tests/python/docs/remedies_test.py::"
    "test_one_type_for_both_processes_connects_them",
    "two definitions": "tests/python/docs/remedies_test.py::"
    "test_one_type_for_both_processes_connects_them",
    "0 more before": "tests/python/api/callback_failures_test.py::"
    "test_a_traceback_comes_once_a_second",
    "too large for every other process": "tests/python/cli/limits_reached_test.py::"
    "test_a_message_that_never_fits_is_refused_without_a_copy",
    "bytes of shared memory": "tests/shm/domain_test.cpp::"
    "a_full_file_system_is_an_error_with_both_sizes",
    "belongs to user": "tests/shm/domain_test.cpp::a_directory_of_another_user_is_refused",
    "another version of Hyphos": "tests/shm/domain_test.cpp::another_layout_version_is_named",
    "has link version": "tests/transport/zmq_hostile_test.cpp::"
    "a_publisher_of_another_link_version_is_refused_by_name",
    "keys or encryption": "tests/transport/zmq_test.cpp::"
    "strangers_and_plaintext_are_refused_and_others_served",
    "no process of Hyphos": "tests/transport/zmq_test.cpp::"
    "a_port_scan_of_a_process_without_keys_names_no_keys",
}


@dataclass
class Row:
    message: str

    @property
    def pattern(self) -> str:
        """A regular expression for the message as printed."""
        code = re.compile(r" \[(?:[a-z_]+)\]$")  # the command line prints the code in another place
        text = re.escape(code.sub("", self.message)).replace("…", ".*?")
        return text.replace(re.escape("robot.yaml:"), r"\S*robot.yaml:")


def rows() -> list[Row]:
    table = PAGE.read_text().partition("## Messages and remedies")[2]
    return [Row(found) for found in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)]


def row_of(part: str) -> Row:
    [row] = [row for row in rows() if part in row.message]
    return row


def test_every_row_has_a_test() -> None:
    parts = [*CASES, *ELSEWHERE]
    missing = [row.message for row in rows() if not any(part in row.message for part in parts)]
    assert missing == []
    for part in parts:
        row_of(part)  # exactly one row
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text()), place


@pytest.mark.parametrize("part", CASES)
def test_the_remedy_removes_the_error(part: str, bench: Bench) -> None:
    pattern = row_of(part).pattern
    before, after = CASES[part](bench)
    assert re.search(pattern, before), f"{pattern}\nis not in\n{before}"
    assert not re.search(pattern, after), after
    assert "Traceback" not in after, after


def test_every_code_has_a_row() -> None:
    table = PAGE.read_text().partition("## Codes")[2].partition("## ")[0]
    listed = re.findall(r"^\| `([a-z_]+)` \|", table, re.MULTILINE)
    header = (ROOT / "include/hyphos/result.hpp").read_text()
    codes = re.findall(r"^  ([a-z_]+),\s+///<", header, re.MULTILINE)
    assert listed == codes
