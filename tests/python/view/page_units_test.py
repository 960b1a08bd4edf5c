"""The parts of the page that need no browser: web/test, by the test runner of node.js."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="no node.js (packages.txt, [web])")
def test_the_parts_of_the_page_work_alone() -> None:
    files = sorted(str(path) for path in (ROOT / "web/test").glob("*.test.mjs"))
    done = subprocess.run(
        [str(NODE), "--test", "--test-reporter=tap", *files],
        cwd=ROOT / "web", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) >= 23, done.stdout
