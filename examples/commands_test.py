"""The commands named in the documents exist, and those of the page "From ROS 2" work."""

from __future__ import annotations

import functools
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import typer.main
from hyphos.cli.main import make_app
from typer.core import TyperCommand, TyperGroup

Command = TyperCommand | TyperGroup

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/from_ros2_commands.md"
ROBOT = ROOT / "examples/patrol/three_processes.yaml"
DOCUMENTS = [*sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("examples/**/*.md"))]
PATIENCE_S = 60.0  # for actions of about a second on a busy machine

# The commands of the page need parameters, a service and an action. The demo has none of these, so
# this program offers them.
OPERATOR = """
import sys, hyphos
from hyphos import Struct
from hyphos.msgs import Point, String
runtime = hyphos.Runtime.open(domain=sys.argv[1])
cruise = runtime.node("cruise")
cruise.params().declare("speed", 0.5)
cruise.params().declare("limit", 1.0)
saver = runtime.node("saver")
save = saver.service("map/save", String, String, lambda path: String(data=f"saved {path.data}"))
drive = saver.action("drive_to", Point, Point, Point, lambda goal: goal.value)
print("ready", flush=True)
runtime.spin()
"""


def spans(text: str) -> list[str]:
    """The commands in the text: `hyphos ...` in prose, and lines of fenced blocks."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    found = [
        line.removeprefix("$ ").removeprefix(".venv/bin/")
        for block in blocks
        for line in block.replace("\\\n", " ").splitlines()  # a command may continue on a next line
    ]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    found += re.findall(r"`([^`]+)`", prose)
    return [span for span in found if re.match(r"hyphos [a-z]", span)]


@functools.cache
def program() -> Any:
    return typer.main.get_command(make_app())


def command_of(words: list[str]) -> tuple[Command, list[str]]:
    """The command that the words name, and its arguments."""
    command: Any = program()
    while isinstance(command, TyperGroup) and words:
        below: Any = command.commands.get(words[0])
        if below is None and (default := getattr(command, "default", "")):
            below = command.commands[default]
            return below, words
        if words[0].startswith("-"):
            break
        if below is None:
            # `hyphos time` and some others are both a command and a group of commands.
            assert command.invoke_without_command, f"there is no command 'hyphos … {words[0]}'"
            break
        command, words = below, words[1:]
    return command, words


def words_of(span: str) -> list[str]:
    # The words after `--` are another program's command.
    span = re.sub(r" \| .*| #.*| -- .*| &$", "", span)
    return shlex.split(re.sub(r"[\[\]]|\.\.\.|…", " ", span))[1:]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_and_options_in_documents_exist(document: Path) -> None:
    for span in spans(document.read_text()):
        command, arguments = command_of(words_of(span))
        known = {name for option in command.params for name in option.opts} | {"--help", "-h"}
        named = {word.split("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
        assert named <= known, f"{document.name}: {span}"


def from_ros2() -> list[str]:
    """The commands of the page's tables, without duplicates."""
    tables = PAGE.read_text().split("## Commands")[1]
    return list(dict.fromkeys(spans(tables)))


@pytest.mark.parametrize("span", from_ros2())
def test_commands_of_the_page_parse(
    span: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, arguments = command_of(words_of(span))
    for word in arguments:
        if re.fullmatch(r"\w+\.(yaml|mcap)", word):
            Path(word).touch()  # some arguments are files that must exist
    command.make_context("hyphos", list(arguments))  # raises the error that the user would see


class Terminal:
    """Runs commands as a user types them, in one folder and one domain."""

    def __init__(self, folder: Path, domain: str, stack: ExitStack) -> None:
        self._folder = folder
        self._domain = domain
        self._stack = stack

    def words(self, span: str) -> list[str]:
        words = words_of(span)
        command, _ = command_of(words)
        words = [str(ROBOT) if word == "robot.yaml" else word for word in words]
        if words[0] == "run":  # a separate, short run of the robot
            words += ["--set", f"domain={self._domain}-run", "--for", "2"]
            words += ["--set", f"record.path={self._folder / 'recordings'}"]
            words += ["--logs", str(self._folder / "logs")]
        elif any("--domain" in option.opts for option in command.params) and "-d" not in words:
            words += ["-d", self._domain]
        for patience in ("--timeout", "--accept"):  # a server on a busy machine may reply late
            if any(patience in option.opts for option in command.params) and patience not in words:
                words += [patience, str(PATIENCE_S)]
        if "pub" in words and "--rate" in words and "--static" not in words:
            words += ["-n", "5"]
        if words[:2] in (["tf", "tree"], ["tf", "monitor"]):
            words += ["-w", "5"]  # there is no data while the robot stands still
        if words[0] == "foxglove":
            words += ["--port", "0"]  # the default port of this machine may be in use
        if words[0] == "record" and not {"--ring-s", "--snapshot"} & set(words):
            words += ["--for", "5"]
        return words

    def start(self, *words: str) -> tuple[subprocess.Popen[bytes], Path]:
        heard = self._folder / f"heard{time.monotonic_ns()}"
        with heard.open("wb") as out:
            command = [sys.executable, "-u", "-m", "hyphos", *words]
            program = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, cwd=self._folder
            )
        self._stack.callback(program.wait)
        self._stack.callback(program.kill)
        return program, heard

    def type(self, span: str) -> tuple[subprocess.Popen[bytes], Path]:
        """Returns when the command has ended, or has printed its first output and continues."""
        program, heard = self.start(*self.words(span))
        deadline = time.monotonic() + PATIENCE_S
        endless = self.endless(span)
        while program.poll() is None and not (endless and heard.stat().st_size > 0):
            assert time.monotonic() < deadline, f"{span} prints nothing: {heard.read_text()}"
            time.sleep(0.02)
        return program, heard

    def endless(self, span: str) -> bool:
        """True if the command runs until Ctrl-C."""
        words = words_of(span)
        if {"-n", "--once", "--snapshot"} & set(words):
            return False
        return any(
            span.startswith(f"hyphos {name}")
            for name in (
                "channel echo",
                "channel hz",
                "channel bw",
                "channel delay",
                "param watch",
                "tf echo",
                "tf monitor",
                "tf pub",
                "time sim",
                "record --ring-s",
                "foxglove",
            )
        )


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal beside the running demo robot."""
    domain = f"ros2-{os.getpid()}"
    (tmp_path / "keys").mkdir()
    with ExitStack() as stack:
        mine = Terminal(tmp_path, domain, stack)
        robot, heard = mine.start("run", str(ROBOT), "--set", f"domain={domain}")
        operator = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-c", OPERATOR, domain], stdout=subprocess.PIPE, text=True
            )
        )
        stack.callback(operator.kill)
        assert operator.stdout is not None
        assert operator.stdout.readline() == "ready\n"
        # Wait for the last process of the robot: its channels do not exist before.
        echo = ("channel", "echo", "path", "-n", "1", "-d", domain)
        deadline = time.monotonic() + PATIENCE_S
        while subprocess.run(
            [sys.executable, "-m", "hyphos", *echo],
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
        ).returncode:
            assert time.monotonic() < deadline, heard.read_text()
        yield mine
        robot.send_signal(signal.SIGINT)
        assert robot.wait(PATIENCE_S) == 0, heard.read_text()


def test_commands_of_the_page_work_on_a_running_robot(terminal: Terminal) -> None:
    running = []
    for span in from_ros2():
        program, heard = terminal.type(span)
        if span.startswith(("hyphos time sim", "hyphos record --ring-s")):
            running.append((span, program, heard))  # later commands need it
            continue
        fine = {0}
        if program.poll() is None:
            program.send_signal(signal.SIGINT)
            fine = {0, 130}  # programs that Ctrl-C ends return 130
        if span == "hyphos doctor":
            fine = {0, 1}  # 1: the doctor found a problem on this machine
        assert program.wait(PATIENCE_S) in fine, f"{span}: {heard.read_text()}"
    for span, program, heard in running:
        program.send_signal(signal.SIGINT)
        assert program.wait(PATIENCE_S) in {0, 130}, f"{span}: {heard.read_text()}"
