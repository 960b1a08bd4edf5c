"""Runs the Python of the documents, compiles the C++, and builds and runs whole programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyphos
from doc_blocks import ROOT, Block, blocks, runs_in_its_page
from doc_preludes import CPP, PYTHON
from helpers import PATIENCE_S, Start, repeating, wait_until

BUILD = ROOT / "build/release"

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


# --- Protocol buffers -----------------------------------------------------------------------------


def test_a_proto_compiles(tmp_path: Path) -> None:
    for block in blocks("proto"):
        part = f'syntax = "proto3";\nmessage Shown {{ {block.text} }}'
        (tmp_path / "shown.proto").write_text(block.text if "syntax" in block.text else part)
        paths = ["-I", str(tmp_path), "-I", str(ROOT / "proto")]
        command = ["protoc", *paths, "--descriptor_set_out=/dev/null", "shown.proto"]
        subprocess.run(command, cwd=tmp_path, check=True)
