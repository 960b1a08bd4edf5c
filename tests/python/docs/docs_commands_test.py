"""Parses the commands of the documents, and executes the cheap ones and those of the viewer."""

from __future__ import annotations

import re
import shutil
import socket
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import typer
from doc_blocks import ROOT, Block, all_blocks, commands_of, is_console, simple_commands
from helpers import Cli, Start
from hyphos.cli.main import make_app
from rosbags.rosbag1 import Writer as Writer1
from rosbags.typesys import Stores, get_typestore
from served_view import needs_page, served
from typer.core import TyperGroup
from typer.main import get_command

BUILD = ROOT / "build/release"
VIEWER = BUILD / "view/hyphos-view"
# Programs of the system or of other projects, in documents.
FOREIGN = {
    "aarch64-linux-gnu-gcc", "cc", "cd", "cmake", "echo", "export", "g++", "hyphos-host", "ping",
    "pkg-config", "protoc", "python3", "qemu-aarch64", "ros2", "rosparam", "rostopic", "sudo",
    "dot", "grep", "journalctl", "jq", "ls", "pytest", "rsync", "ssh", "tar", "udevadm",
}  # fmt: skip
CHEAP = (
    ("plan",), ("cosim", "methods"), ("cosim", "experiment", "list"), ("lab", "list"), ("keys",),
)  # fmt: skip


@cache
def program() -> Any:
    return get_command(make_app())


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    command: Any = program()
    while isinstance(command, TyperGroup) and words:
        below: Any = command.commands.get(words[0])
        if below is None and (default := getattr(command, "default", "")):
            return command.commands[default], words
        if below is None:
            break
        command, words = below, words[1:]
    return command, words


def check_hyphos(words: list[str]) -> None:
    """The command exists and takes these words."""
    command, arguments = command_of([re.sub(r"[\[\]]", "", word) for word in words])
    assert command.name != "hyphos" or not arguments, f"there is no command {words}"
    for word in arguments:
        plain = re.fullmatch(r"[\w./-]+\.(yaml|mcap|bag|json|txt|html|csv)", word)
        if plain and not Path(word).exists() and not word.startswith("examples/"):
            Path(word).parent.mkdir(parents=True, exist_ok=True)
            Path(word).touch()  # a file of the reader
    while True:
        try:
            command.make_context("hyphos", list(arguments))
        except typer.BadParameter as problem:
            absent = re.search(r"(?:path|dir|file) '(.*)' does not exist", str(problem))
            if absent is None or absent[1].startswith("examples/"):
                raise
            Path(absent[1]).mkdir(parents=True)  # a file of the reader
        else:
            return


def check_path(word: str, where: str) -> None:
    own = ("examples/", "scripts/", "bench/", "tests/", "clients/", "cmake/", "docs/")
    if word.startswith(own):
        assert (ROOT / word).exists(), f"{where}: there is no {word}"
    if word.startswith("build/release/"):
        target = Path(word).name
        source = list(ROOT.glob(f"{Path(word).parent.relative_to('build/release')}/CMakeLists.txt"))
        assert (ROOT / word).exists() or source, f"{where}: nothing builds {target}"


def check_command(words: list[str], where: str) -> None:
    program = words[0].removeprefix("$CLONE/").removeprefix(".venv/bin/")
    if program == "hyphos":
        check_hyphos(words[1:])
    elif program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        words = words[2:] if words[1:2] == ["-C"] else words
        wanted = [word for word in words[1:] if "=" not in word and not word.startswith("-")]
        assert set(wanted) <= set(targets), where
    elif program.startswith("hyphos-"):
        assert list(BUILD.rglob(program)), f"{where}: nothing builds {program}"
    else:
        known = program in FOREIGN or program == "python" or "/" in program
        assert known, f"{where}: unknown program {program}"
    for word in words:
        check_path(word.removeprefix("$CLONE/").removeprefix("$PWD/"), where)


CONSOLES = [block for block in all_blocks() if block.language == "sh" or is_console(block)]


@pytest.mark.parametrize("block", CONSOLES, ids=str)
def test_each_command_exists(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in commands_of(block):
        for words in simple_commands(line):
            check_command(words, f"{block}: {line}")


@pytest.mark.parametrize(
    "line",
    ["hyphos chanel list", "hyphos plan --sgv x.svg robot.yaml", "make demos", "hyphosx run",
     "hyphos cosim run examples/cosim/nothing.yaml", "scripts/nothing core"],
)  # fmt: skip
def test_a_wrong_command_is_noticed(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match=r"."):
        for words in simple_commands(line):
            check_command(words, line)


def cheap_commands() -> list[list[str]]:
    found = []
    for block in CONSOLES:
        for words in (words for line in commands_of(block) for words in simple_commands(line)):
            if Path(words[0]).name == "hyphos" and any(
                tuple(words[1 : 1 + len(head)]) == head for head in CHEAP
            ):
                found.append(words[1:])
    return [words for words in found if words[:2] != ["plan", "check"]]


def test_cheap_commands_run(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "keys").mkdir()
    done = 0
    for words in cheap_commands():
        if any(re.fullmatch(r"[\w-]+\.yaml", word) for word in words):
            continue  # a file of the reader
        code, out, err = hyphos_cli(*words)
        assert code == 0, f"{words}: {out}{err}"
        done += 1
    assert done >= 3


def view_commands() -> list[list[str]]:
    lines = [line for block in CONSOLES for line in commands_of(block)]
    found = [words for line in lines for words in simple_commands(line)]
    return [words[1:] for words in found if words[:2] == ["hyphos", "view"]]


def readers_files(words: list[str]) -> None:
    """Puts the files of the reader into this folder."""
    for name in words:
        if name.endswith(".mcap"):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "tests/compat/0.1.0/recordings/zstd.mcap", name)
        elif name.endswith(".bag"):
            with Writer1(Path(name)) as bag:
                store = get_typestore(Stores.ROS1_NOETIC)
                text = bag.add_connection("/text", "std_msgs/msg/String", typestore=store)
                message = store.types["std_msgs/msg/String"](data="a")
                bag.write(text, 1, store.serialize_ros1(message, text.msgtype))
        elif name == "robot.yaml":
            shutil.copy(ROOT / "examples/04_plugin_and_plan/robot.yaml", name)
        elif name.endswith(".view.yaml"):
            Path(name).write_text("hyphos_view: 1\npanels: {panel: scene}\n")


@pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")
@pytest.mark.parametrize("words", [w for w in view_commands() if "--serve" not in w], ids=" ".join)
def test_each_view_command_draws(
    words: list[str], hyphos_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the files of the reader, and a picture in place of a window."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    golden = Path("golden.png")
    if "--video" in words:
        if not (VIEWER.parent / "libhyphos_view_video.so").exists():
            pytest.skip("no libavcodec-dev: scripts/setup core view video")
        readers_files(words)
        # The recording of the tests is short.
        words = ["0" if before == "--from" else word for before, word in pairwise(["", *words])]
        code, out, err = hyphos_cli(*words)
        assert code == 0, out + err
        assert Path(words[words.index("--video") + 1]).stat().st_size > 0
        return
    if "--png" not in words:
        words = [*words, "--png", "out.png"]
    readers_files(words)
    if str(golden) in words:
        without = words[: words.index("--compare")]
        assert hyphos_cli(*without)[0] == 0
        Path("out.png").rename(golden)
    code, out, err = hyphos_cli(*words)
    assert code == 0, out + err
    assert Path(words[words.index("--png") + 1]).read_bytes().startswith(b"\x89PNG")


@needs_page
@pytest.mark.parametrize("words", [w for w in view_commands() if "--serve" in w], ids=" ".join)
def test_each_served_view_command_serves(
    words: list[str], hyphos_start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a port that is free here, and in the domain of this test."""
    monkeypatch.chdir(tmp_path)
    readers_files(words)
    server = served(hyphos_start(*(re.sub(r":\d+$", ":0", word) for word in words)))
    with urlopen(server.page.replace(socket.gethostname(), "127.0.0.1")) as page:
        assert page.read().startswith(b"<!doctype html>")
    assert server.program.stop()[0] == 0
