"""scripts/skips.py counts the skipped tests of a ctest run by reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = Path(__file__).parents[3] / "scripts" / "skips.py"
RAN = '<testcase name="a" status="run"><system-out>fine</system-out></testcase>'
GTEST = """<testcase name="b" status="notrun">
<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>[ RUN      ] Link.b
link_test.cpp:5: Skipped
needs root

[  SKIPPED ] Link.b (0 ms)</system-out></testcase>"""
PROGRAM = """<testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>starts
no TUN device
</system-out></testcase>"""


@pytest.mark.parametrize(
    ("cases", "line"),
    [
        ([RAN], "0 skipped"),
        ([RAN, GTEST], "1 skipped: 1 × needs root"),
        ([PROGRAM, GTEST, RAN, GTEST], "3 skipped: 2 × needs root; 1 × no TUN device"),
    ],
)
def test_skipped_tests_are_counted_by_reason(tmp_path: Path, cases: list[str], line: str) -> None:
    file = tmp_path / "ctest.xml"
    file.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    done = subprocess.run(
        [sys.executable, str(SKIPS), str(file)], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == line
