"""Fixtures: a domain of its own for every test, programs that end with it, and the command line."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import Cli, Inbox, Program, Start

_numbers = itertools.count()


@pytest.fixture
def domain() -> Iterator[str]:
    """A robot of its own, so that tests may run side by side."""
    name = f"py{os.getpid()}-{next(_numbers)}"
    yield name
    folder = Path(f"/dev/shm/hyphos-{os.getuid()}/{name}")
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """start(*words) runs a program; it is killed at the end of the test if it still runs."""
    programs: list[Program] = []

    def make(*words: str, keys: bool = False) -> Program:
        programs.append(Program(list(words), tmp_path, keys=keys))
        return programs[-1]

    yield make
    for program in programs:
        if program.popen.poll() is None:
            program.popen.kill()
        program.popen.communicate()


@pytest.fixture
def python(start: Start) -> Start:
    """python(source, *arguments) runs a Python program."""

    def make(source: str, *arguments: str) -> Program:
        return start(sys.executable, "-c", source, *arguments)

    return make


@pytest.fixture
def hyphos_start(start: Start) -> Start:
    """hyphos_start("record", ...) starts a command."""

    def make(*words: str, keys: bool = False) -> Program:
        return start(sys.executable, "-m", "hyphos", *words, keys=keys)

    return make


@pytest.fixture
def hyphos_cli(hyphos_start: Start) -> Cli:
    """hyphos_cli("plan", ...) runs a command to its end: (code, output, errors)."""

    def run(*words: str) -> tuple[int, str, str]:
        program: Program = hyphos_start(*words)
        return program.end()

    return run
