"""Writes a project from the templates: nodes, a message, a plan, tests, build files, a CI file.

A template is a file of `templates/`. Its name ends with `.in` and begins with no dot, so that no
tool takes it for a source of Hyphos. The text `my_robot` becomes the name of the project. A line
that begins with `@python,both@` exists only in projects of these languages.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hyphos._errors import Error
from hyphos.new.names import name_problem, similar_name

TEMPLATES = Path(__file__).parent / "templates"
_NAME = "my_robot"
_CHOICE = re.compile(r"^@([a-z]+(?:,[a-z]+)*)@(.*\n)", re.MULTILINE)


class Languages(Enum):
    """The languages of the nodes."""

    PYTHON = "python"
    CPP = "cpp"
    BOTH = "both"

    @property
    def build(self) -> str:
        """The command that builds a project."""
        if self is Languages.PYTHON:
            return "hyphos msg python . -o ."
        return "cmake -B build && cmake --build build"

    @property
    def test(self) -> str:
        """The command that tests a project."""
        if self is Languages.CPP:
            return "ctest --test-dir build --output-on-failure"
        return "python3 -m pytest"

    @property
    def files(self) -> list[str]:
        """The templates without their suffix, in the order of the output."""
        nodes = {"python": ["world.py", "pilot.py"], "cpp": ["world.cpp", "pilot.cpp"]}
        chosen = nodes.get(self.value, ["world.py", "pilot.cpp"])
        tests = ["tests/test_pilot.py", "tests/test_robot.py", "pyproject.toml"]
        if self is Languages.CPP:
            tests = ["tests/pilot_test.cpp", "tests/robot_test.cpp"]
        build = [] if self is Languages.PYTHON else ["CMakeLists.txt"]
        return [
            "robot.yaml", f"{_NAME}/gap.proto", *chosen, *tests, *build,
            ".github/workflows/test.yml", ".gitignore", "README.md",
        ]  # fmt: skip


@dataclass(frozen=True)
class Project:
    """A written project."""

    folder: Path
    files: list[str]
    commands: list[str]  # that build, run and test it


def rendered(name: str, languages: Languages) -> dict[str, str]:
    """The texts of the files by their paths."""
    found = {}
    for path in languages.files:
        plain = path.replace("/.", "/").removeprefix(".")
        text = (TEMPLATES / f"{plain}.in").read_text()
        text = _CHOICE.sub(
            lambda line: line[2] if languages.value in line[1].split(",") else "", text
        )
        text = text.replace("@BUILD@", languages.build).replace("@TEST@", languages.test)
        found[path.replace(_NAME, name)] = text.replace(_NAME, name)
    return found


def create(folder: Path, languages: Languages) -> Project:
    """Writes a project, completely or not at all. Raises `hyphos.Error`."""
    folder = folder.expanduser().absolute()
    _check_name(folder)
    _check_place(folder)
    _check_programs(languages)
    files = rendered(folder.name, languages)
    try:
        _write(folder, files)
    except OSError as error:
        raise Error("io", f"cannot write the project: {error.strerror}", str(folder)) from error
    commands = [languages.build, "hyphos run robot.yaml --for 5", languages.test]
    return Project(folder, list(files), commands)


def _check_name(folder: Path) -> None:
    problem = name_problem(folder.name)
    if problem:
        better = folder.with_name(similar_name(folder.name))
        raise Error("invalid_config", problem, folder.name, f"hyphos new {better.name}")


def _check_place(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if os.path.lexists(folder):
        kind = "a folder with files" if folder.is_dir() else "a file"
        raise Error(
            "already_exists", f"this is {kind}, and nothing is overwritten", str(folder),
            "choose another name, or remove it",
        )  # fmt: skip
    if not folder.parent.is_dir():
        raise Error(
            "not_found", "the folder of the project does not exist", str(folder.parent),
            f"mkdir -p {folder.parent}",
        )  # fmt: skip


def _check_programs(languages: Languages, environment: Mapping[str, str] = os.environ) -> None:
    """The programs that build the project must exist, so that the first command does not fail."""
    missing = []
    if languages is Languages.PYTHON:
        if shutil.which("protoc") is None:
            raise Error(
                "unsupported", "the program protoc is missing, which compiles the own message",
                advice="apt install protobuf-compiler",
            )  # fmt: skip
        return
    compilers = (environment.get("CXX", ""), "c++", "g++", "clang++")
    if not any(shutil.which(one.split(" ")[0]) for one in compilers if one.strip()):
        missing.append("g++")
    if shutil.which("cmake") is None:
        missing.append("cmake")
    if shutil.which("make") is None and shutil.which("ninja") is None:
        missing.append("make")
    if missing:
        raise Error(
            "unsupported",
            f"nodes in C++ need programs that are missing: {', '.join(missing)}",
            advice=f"apt install {' '.join(missing)}, or choose --python",
        )


def _write(folder: Path, files: dict[str, str]) -> None:
    """Writes beside the folder first, so that no part of a project remains after a failure."""
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for path, text in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text)
        if folder.is_dir():  # an empty one, perhaps the current folder of the shell
            for part in made.iterdir():
                part.rename(folder / part.name)
            made.rmdir()
        else:
            made.chmod(0o777 & ~_umask())
            made.rename(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
