"""scripts/prose finds the marks of unclear prose, and nothing in code."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("prose", str(ROOT / "scripts/prose"))
    spec = importlib.util.spec_from_loader("prose", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def marks(prose: ModuleType, file: Path, name: str) -> list[str]:
    found = []
    for passage in prose.passages(file, name):
        if prose.is_prose(passage):
            text = prose.without_code(passage.text)
            for mark, (pattern, _) in prose.MARKS.items():
                found += [mark] * len(pattern.findall(text))
    return found


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("page.md", "The table says what is sent; then it ends.", 3),
        ("page.md", "What does the table show? A user who reads it knows.", 0),
        ("page.md", "```\nwhat is; told\n```\n\nA `what; told` span.", 0),
        ("page.md", "[what is said](x.md) is a link.", 2),
        ("a.cpp", "// The queue is told what is sent.\nint what = told(1);\n", 2),
        ("a.cpp", 'fail("the node says what is wrong");\n', 2),
        ("a.cpp", 'load("what/said.txt");\n', 0),
        ("tests/a_test.cpp", 'EXPECT_EQ(text, "the node says what is wrong");\n', 0),
        ("a.py", '"""Tells what is sent."""\n\nwhat = "told"  # what it told\n', 4),
        ("a.yaml", "what: told  # what is told\n", 2),
    ],
)
def test_marks_are_counted_in_prose_alone(
    prose: ModuleType, tmp_path: Path, name: str, text: str, expected: int
) -> None:
    file = tmp_path / Path(name).name
    file.write_text(text)
    assert len(marks(prose, file, name)) == expected


def test_wide_lines_of_documents_are_found(prose: ModuleType) -> None:
    wide = "word " * 21
    assert len(list(prose.wide_lines("page.md", f"{wide}\n"))) == 1
    assert not list(prose.wide_lines("page.md", f"| {wide} |\n```\n{wide}\n```\n"))


def test_the_repository_is_within_the_limits() -> None:
    done = subprocess.run([ROOT / "scripts/prose"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
