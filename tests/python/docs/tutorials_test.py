"""The tutorials work as printed: a test writes their files and runs their commands in order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from doc_blocks import ROOT, Block, blocks_of, commands_of, is_console
from helpers import PATIENCE_S

TUTORIALS = ROOT / "docs/tutorials"
OF_ONE_DOMAIN = r"hyphos (channel|node|param|service|msg (list|show)) \S+"
SLOW_START = r"hyphos (channel echo|param \w+|service call)"


def steps(page: Path) -> Iterator[Block | str]:
    """The files and commands of a page in the order of the page."""
    for block in blocks_of(page.read_text(), page.name):
        if block.file:
            yield block
        elif block.language == "sh" or is_console(block):
            yield from commands_of(block)


def in_domain(line: str, domain: str) -> str:
    """The same command in a domain of its own, with patience for a busy machine."""
    line = re.sub(rf"^{OF_ONE_DOMAIN}", rf"\g<0> -d {domain}", line)
    line = re.sub(rf"^{SLOW_START}", rf"\g<0> --timeout {PATIENCE_S:.0f}", line)
    line = re.sub(r"^hyphos run \S+", rf"\g<0> --set domain={domain} --logs logs", line)
    return re.sub(r"^(python \S+|build/\S+)", rf"exec \g<0> --hyphos-domain {domain}", line)


class Shell:
    """Terminals in one folder: programs go on, other commands are waited for."""

    def __init__(self, folder: Path, domain: str, stack: ExitStack) -> None:
        self._folder = folder
        self._domain = domain
        self._stack = stack
        self._path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
        self._running: list[subprocess.Popen[bytes]] = []

    def run(self, line: str) -> str:
        """Returns the output of a command that ends."""
        if line.startswith("hyphos run "):
            self._stop()
        command = self._command(in_domain(line, self._domain))
        if line.startswith(("python ", "build/")) or line == "hyphos run robot.yaml":
            program = subprocess.Popen(command, cwd=self._folder, env=self._environment())
            self._stack.callback(program.wait)
            self._stack.callback(program.kill)
            self._running.append(program)
            return ""
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment(), capture_output=True, text=True,
            check=False, timeout=5 * PATIENCE_S,
        )  # fmt: skip
        fine = {0, 1} if line == "hyphos doctor" else {0}
        assert done.returncode in fine, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    def _stop(self) -> None:
        for program in self._running:
            program.send_signal(signal.SIGINT)
            program.wait(PATIENCE_S)
        self._running.clear()

    def _command(self, line: str) -> list[str]:
        line = line.strip()
        return ["bash", "-c", f"exec {line}" if line.startswith("hyphos ") else line]

    def _environment(self) -> dict[str, str]:
        own = {"CLONE": str(ROOT), "PATH": self._path, "CMAKE_BUILD_PARALLEL_LEVEL": "1"}
        return {**os.environ, **own}


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_page_of_own_types_works_as_printed(tmp_path: Path, domain: str) -> None:
    page = ROOT / "docs/how-to/own_types.md"
    with ExitStack() as stack:
        shell = Shell(tmp_path, domain, stack)
        for block in blocks_of(page.read_text(), page.name):
            if block.file:
                write(tmp_path / block.file, block.text)
            elif block.language == "sh" or is_console(block):
                printed = "".join(shell.run(line) for line in commands_of(block))
                shown = [line for line in block.text.splitlines() if not line.startswith("$ ")]
                if shown and block.language != "sh":
                    assert printed.splitlines() == shown


@pytest.mark.parametrize("name", ["first_robot_cpp", "first_robot_python", "your_own_robot"])
def test_the_tutorial_works_as_printed(name: str, tmp_path: Path, domain: str) -> None:
    printed: dict[str, list[str]] = {}
    with ExitStack() as stack:
        shell = Shell(tmp_path, domain, stack)
        for step in steps(TUTORIALS / f"{name}.md"):
            if isinstance(step, Block):
                write(tmp_path / step.file, step.text)
            else:
                printed.setdefault(step, []).append(shell.run(step))
    if name == "your_own_robot":
        speeds = printed["hyphos channel echo cmd_vel -n 1"]
        assert "x: 0.1" in speeds[0]
        assert "x: 0.2" in speeds[1]
        for file in ("run.mcap", "again.mcap"):
            assert "cmd_vel" in printed[f"hyphos bag info {file}"][0]
    else:
        assert "data: true" in printed["hyphos channel echo heater -n 1"][-1]
