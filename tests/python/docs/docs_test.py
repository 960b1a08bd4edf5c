"""Runs every fenced block of the documents, or checks it as its kind allows.

The tests load plans, experiments and scenarios. They execute Python, compile C++, and link and run
whole programs. They parse all commands and execute the cheap ones. A block that cannot run has a
comment with the reason before it, and the last test counts these blocks by reason.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from xml.etree import ElementTree

import hyphos
import pytest
import typer
import yaml
from doc_blocks import (
    PAGES,
    ROOT,
    Block,
    all_blocks,
    blocks,
    blocks_of,
    commands_of,
    is_console,
    simple_commands,
)
from doc_preludes import CPP, PYTHON
from helpers import PATIENCE_S, Cli, Start, repeating, wait_until
from hyphos._hyphos import Plan
from hyphos.cli.main import make_app
from hyphos.lab import experiment
from hyphos.new import project
from rosbags.rosbag1 import Writer as Writer1
from rosbags.typesys import Stores, get_typestore
from served_view import needs_page, served
from typer.core import TyperGroup
from typer.main import get_command

BUILD = ROOT / "build/release"
VIEWER = BUILD / "view/hyphos-view"
LANGUAGES = {
    "",
    "c",
    "cmake",
    "cpp",
    "csharp",
    "html",
    "json",
    "proto",
    "python",
    "sh",
    "xml",
    "yaml",
}
# Programs of the system or of other projects, in documents.
FOREIGN = {
    "aarch64-linux-gnu-gcc", "cc", "cd", "cmake", "echo", "export", "g++", "hyphos-host", "ping",
    "pkg-config", "protoc", "python3", "qemu-aarch64", "ros2", "rosparam", "rostopic", "sudo",
    "dot", "grep", "journalctl", "jq", "ls", "pytest", "rsync", "ssh", "tar", "udevadm",
}  # fmt: skip
CHEAP = (
    ("plan",), ("cosim", "methods"), ("cosim", "experiment", "list"), ("lab", "list"), ("keys",),
)  # fmt: skip


# Blocks of the project of `hyphos new`, which other tests build and run.
TEMPLATES = "quoted from python/hyphos/new/templates/"


def runs_in_its_page(block: Block) -> bool:
    """True for a file of a page, which runs with the commands of the page (tutorials_test.py)."""
    return bool(block.file) or block.marker.startswith(TEMPLATES)


def names(found: list[Block]) -> list[Any]:
    return [pytest.param(block, id=str(block)) for block in found]


# --- The extraction itself ------------------------------------------------------------------------


def test_blocks_are_found_with_their_markers() -> None:
    text = "a\n\n<!-- block: not run: too\nlong -->\n```sh\nmake x\n```\nb\n```\nout\n```\n"
    first, second = blocks_of(text, "page.md")
    assert (first.language, first.text, first.line) == ("sh", "make x\n", 5)
    assert first.why_not_run == "too long"
    assert (second.language, second.marker) == ("", "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_fence_is_missed(page: Path) -> None:
    fences = sum(line.startswith("```") for line in page.read_text().splitlines())
    assert fences == 2 * len(list(blocks_of(page.read_text(), page.name)))


# --- Links ----------------------------------------------------------------------------------------


def without_code(text: str) -> str:
    text = re.sub(r"^( *)```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors_of(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    plain = re.sub(r"^( *)```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", plain, re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            broken.append(f"{link}: no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
            broken.append(f"{link}: no such heading")
    assert broken == []


def test_every_page_is_short() -> None:
    words = {str(page.relative_to(ROOT)): len(page.read_text().split()) for page in PAGES}
    long = {name: count for name, count in words.items() if name.startswith("docs/")}
    assert {name: count for name, count in long.items() if count > 1500} == {}


# --- Languages ------------------------------------------------------------------------------------


def test_every_block_has_a_known_language() -> None:
    assert {block.language for block in all_blocks()} <= LANGUAGES


# --- YAML -----------------------------------------------------------------------------------------


def yaml_kind(found: Any) -> str:
    if not isinstance(found, dict):
        return "none"
    if "hyphos" in found or set(found) <= {"network", "data_graph"}:
        return "plan"
    if "lab" in found:
        return "experiment"
    if "hyphos_view" in found:
        return "layout"
    if "jobs" in found:
        return "workflow"
    return "scenario" if "robots" in found else "none"


@pytest.mark.parametrize("block", names(blocks("yaml")))
def test_yaml_loads_as_printed(block: Block, tmp_path: Path, hyphos_cli: Cli) -> None:
    file = tmp_path / (block.file or "robot.yaml")
    kind = yaml_kind(yaml.safe_load(block.text))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text)
    if kind == "plan" and "include: [robot.yaml]" in block.text:  # of the project of the tutorial
        rendered = project.rendered("my_robot", project.Languages.BOTH)
        (tmp_path / "robot.yaml").write_text(rendered["robot.yaml"])
    if kind == "plan":
        loaded = Plan.load(str(file), [], False)
        assert loaded.warnings == []
        code, out, err = hyphos_cli("plan", str(file))
        assert (code, err) == (0, ""), out
    elif kind == "experiment":
        # The text beside such blocks names these files: a recording, a plan with loads.
        shutil.copy(ROOT / "examples/patrol/three_processes.yaml", tmp_path / "robot.yaml")
        file = tmp_path / "experiment.yaml"
        experiment.parse(block.text, str(file))
        assert experiment.parse(block.text, str(file), full=True).name
    elif kind == "layout":
        if not VIEWER.exists():
            pytest.skip("the viewer is not built")
        domain = f"absent{os.getpid()}"
        words = [str(VIEWER), "--domain", domain, "--layout", str(file), "--size", "320x200"]
        done = subprocess.run(
            [*words, "--png", str(tmp_path / "out.png")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    elif kind == "scenario":
        code, out, err = hyphos_cli("cosim", "run", str(file))
        assert code == 0, out + err
    else:
        # A test of the page runs the commands of a workflow.
        assert kind == "workflow" and block.file, (
            f"{block}: neither a plan, nor an experiment, nor a scenario"
        )


def test_a_plan_with_a_mistake_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(blocks("yaml")[0].text.replace("nodes: [pilot]", "nodes: [pilott]"))
    with pytest.raises(hyphos.Error, match="pilott"):
        Plan.load(str(file), [], False)


# --- Python ---------------------------------------------------------------------------------------

# Runs pieces of code one after another. Each has a node of its own, which does not spin.
RUNNER = """
import json, signal, sys, traceback
import hyphos
def too_long(*_): raise TimeoutError("it does not end")
signal.signal(signal.SIGALRM, too_long)
hyphos.Node.spin = lambda self: 0
hyphos.Runtime.spin = lambda self: 0
failed = {}
for name, prelude, code in json.load(sys.stdin):
    signal.alarm(20)
    try:
        if prelude is None:
            exec(compile(code, name, "exec"), {"__name__": "__main__"})
            continue
        with hyphos.Node.open("shown", sys.argv) as node:
            names = {"__name__": "shown", "hyphos": hyphos, "node": node}
            exec(compile(prelude, name + " (prelude)", "exec"), names)
            exec(compile(code, name, "exec"), names)
    except BaseException:
        failed[name] = traceback.format_exc()
print(json.dumps(failed))
"""


def run_python(pieces: list[tuple[str, str | None, str]], domain: str, folder: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, "--hyphos-domain", domain],
        input=json.dumps(pieces), cwd=folder, capture_output=True, text=True, check=False,
        timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_python_runs_as_printed(domain: str, tmp_path: Path) -> None:
    pieces: list[tuple[str, str | None, str]] = []
    for block in blocks("python"):
        compile(block.text, str(block), "exec")
        if not block.why_not_run and not runs_in_its_page(block):
            pieces.append((str(block), PYTHON.get((block.page, block.first)), block.text))
    assert len(pieces) > 20
    assert run_python(pieces, domain, tmp_path) == {}


def test_python_that_does_not_run_is_noticed(domain: str, tmp_path: Path) -> None:
    pieces: list[tuple[str, str | None, str]] = [
        ("whole", None, "import hyphos\nhyphos.Nothing"),
        ("part", "", "node.publisher('a', nothing)"),
        ("fine", "", "node.param('a', 1)"),
    ]
    assert set(run_python(pieces, domain, tmp_path)) == {"whole", "part"}


# --- C and C++ ------------------------------------------------------------------------------------

_HEAD = """#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>
#include <hyphos/gateway.hpp>
#include <hyphos/hyphos.hpp>
#include <hyphos/inspect.hpp>
#include <hyphos/msgs/diagnostics.hpp>
#include <hyphos/msgs/view.hpp>
#include <hyphos/msgs/geometry.pb.h>
#include <hyphos/msgs/nav.pb.h>
#include <hyphos/msgs/sensor.pb.h>
#include <hyphos/msgs/std.pb.h>
#include <hyphos/compat/tros.hpp>
#include <hyphos/testing.hpp>
// One translation unit holds many plug-ins: only the class is checked here.
#undef HYPHOS_NODE
#define HYPHOS_NODE(C) static_assert(std::is_constructible_v<C, const hyphos::Node&>);
"""
INCLUDES = [
    "-I", str(ROOT / "include"), "-I", str(ROOT / "proto/include"),
    "-I", str(ROOT / "gateway/include"), "-I", str(ROOT / "testing/include"),
    "-I", str(ROOT / "clients/tros/include"), "-isystem", "/usr/include/eigen3",
    "-isystem", str(BUILD / "proto/hyphos_msgs_generated"),
]  # fmt: skip


def wrapped(block: Block, number: int) -> str:
    """The block in its own namespace, after the code that its page assumes."""
    before, opens, closes = CPP.get((block.page, block.first), ("", "", ""))
    text = re.sub(r"^\s*#include.*$", "", block.text, flags=re.MULTILINE)
    place = f'#line {block.line + 1} "{block.page}"'
    return f"namespace block{number} {{\n{before}\n{opens}\n{place}\n{text}\n{closes}\n}}\n"


def is_whole(block: Block) -> bool:
    return "#include" in block.text and ("int main(" in block.text or "HYPHOS_NODE" in block.text)


def compiled(source: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    file = folder / "shown.cpp"
    file.write_text(source)
    command = ["c++", "-std=c++20", "-fsyntax-only", *INCLUDES, *words, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_cpp_compiles_as_printed(tmp_path: Path) -> None:
    shown = [
        block for block in blocks("cpp") if not block.why_not_run and not runs_in_its_page(block)
    ]
    for block in shown:
        known = (block.page, block.first) in CPP
        assert known or is_whole(block), f"{block}: not a whole program, and without a prelude"
    text = _HEAD + "".join(wrapped(block, i) for i, block in enumerate(shown))
    done = compiled(text, tmp_path)
    assert done.returncode == 0, done.stderr[:4000]


def test_cpp_that_does_not_compile_is_noticed(tmp_path: Path) -> None:
    block = Block("docs/how-to/cpp.md", 1, "cpp", "void shown() { hyphos::Nod* node; }\n")
    done = compiled("#include <hyphos/policy.hpp>\n" + wrapped(block, 0), tmp_path)
    assert "docs/how-to/cpp.md:2" in done.stderr


def test_a_whole_program_is_an_example_or_a_file_that_runs() -> None:
    """Tests build and run the programs of README (below) and of examples/."""
    examples = [path.read_text() for path in ROOT.glob("examples/*/*.cpp")]
    for block in blocks("cpp"):
        if is_whole(block) and not block.why_not_run and not runs_in_its_page(block):
            assert any(block.text.strip() == one.strip() for one in examples) or (
                (block.page, block.first) in CPP
            ), block


def test_each_prelude_belongs_to_a_block() -> None:
    shown = {(block.page, block.first) for block in blocks("cpp", "python")}
    assert set(CPP) | set(PYTHON) <= shown


def test_c_runs_as_printed(domain: str, tmp_path: Path, start: Start) -> None:
    [block] = blocks("c")
    (tmp_path / "listener.c").write_text(block.text)
    library = BUILD / "clients/c"
    command = ["cc", "-I", str(ROOT / "clients/c/include"), "listener.c", "-o", "listener"]
    command += ["-L", str(library), "-lhyphos_c", f"-Wl,-rpath,{library}", f"-Wl,-rpath,{BUILD}"]
    subprocess.run(command, cwd=tmp_path, check=True)
    # A line at a time, although it writes into a pipe.
    listener = start("stdbuf", "-oL", "./listener", "--hyphos-domain", domain)
    with hyphos.Node.open("talker", domain=domain) as node:
        raw = node.publisher("raw", bytes)
        wait_until(lambda: raw.listeners == 1, "the program to listen")
        with repeating(lambda: raw.publish(b"abc")):
            assert listener.line() == "3 bytes"


# --- Other kinds ----------------------------------------------------------------------------------


def test_a_proto_compiles(tmp_path: Path) -> None:
    for block in blocks("proto"):
        part = f'syntax = "proto3";\nmessage Shown {{ {block.text} }}'
        (tmp_path / "shown.proto").write_text(block.text if "syntax" in block.text else part)
        paths = ["-I", str(tmp_path), "-I", str(ROOT / "proto")]
        command = ["protoc", *paths, "--descriptor_set_out=/dev/null", "shown.proto"]
        subprocess.run(command, cwd=tmp_path, check=True)


def test_xml_is_well_formed() -> None:
    for block in blocks("xml"):
        ElementTree.fromstring(block.text)


@pytest.mark.parametrize("block", names([b for b in all_blocks() if b.marker[:6] == "quoted"]))
def test_each_quotation_equals_its_source(block: Block) -> None:
    if block.marker.startswith(TEMPLATES):
        path = block.marker.removeprefix(TEMPLATES).removesuffix(".in")
        assert block.text in project.rendered("my_robot", project.Languages.BOTH)[path]
        return
    source = (ROOT / block.marker.removeprefix("quoted from ")).read_text()
    assert set(block.text.splitlines()) - {""} <= set(source.splitlines())


@pytest.mark.parametrize("language", ["cmake", "csharp", "html"])
def test_other_languages_run_or_have_a_reason(language: str) -> None:
    for block in blocks(language):
        assert block.marker, f"{block}: mark it as a file, as quoted, or as not run"


# --- Commands -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("block", names(CONSOLES))
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


# --- Omitted blocks -------------------------------------------------------------------------------


def test_skipped_blocks_are_few_and_have_a_reason(record_property: Any) -> None:
    reasons = Counter(block.why_not_run for block in all_blocks() if block.why_not_run)
    record_property("not run", dict(reasons))
    print(*(f"{count} not run: {reason}" for reason, count in reasons.items()), sep="\n")
    assert sum(reasons.values()) <= 12
    assert all(len(reason) > 10 for reason in reasons)
    unmarked = [
        block for block in all_blocks()
        if block.marker
        and not re.match(r"not run: |file |quoted from |run with the files", block.marker)
    ]  # fmt: skip
    assert unmarked == []
