"""docs/how-to/testing.md works as printed: its files in a folder, and its command."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import yaml
from doc_blocks import ROOT, blocks_of, commands_of

PAGE = ROOT / "docs/how-to/testing.md"


def write_files(folder: Path) -> None:
    for block in blocks_of(PAGE.read_text(), PAGE.name):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text)


def run(folder: Path, line: str) -> tuple[int, str]:
    path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    words = ["bash", "-c", f"{line} -p no:cacheprovider --rootdir ."]
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    write_files(tmp_path)
    [shown] = [
        command
        for block in blocks_of(PAGE.read_text(), PAGE.name)
        if block.marker.startswith("run with the files")
        for command in commands_of(block)
    ]
    code, text = run(tmp_path, f"{shown} test_golden.py")
    assert code == 1
    assert "--hyphos-update-golden writes it" in text
    code, text = run(tmp_path, f"{shown} test_golden.py --hyphos-update-golden")
    assert code == 0, text
    code, text = run(tmp_path, shown)
    assert code == 0, text
    assert re.search(r"^7 passed", text, re.MULTILINE), text
    failures = tmp_path / "hyphos-failures"
    assert [one.name for one in failures.iterdir()] == ["test_golden.py_test_the_stop_is_as_before"]


def test_the_workflow_runs_the_command_of_the_page(tmp_path: Path) -> None:
    write_files(tmp_path)
    found = yaml.safe_load((tmp_path / ".github/workflows/test.yml").read_text())
    steps = found["jobs"]["test"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands == ["pip install hyphos pytest", "pytest"]
    [kept] = [step["with"]["path"] for step in steps if step.get("if") == "failure()"]
    assert kept == "hyphos-failures"
