#!/usr/bin/env python3
"""skips.py JUNIT: one line that counts the skipped tests of a ctest run by reason.

JUNIT is the file that ctest has written (--output-junit).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

_GTEST_REASON = re.compile(r": Skipped\n(.+)")


def reason_of(case: ElementTree.Element) -> str:
    """The text after GTEST_SKIP(). For other programs, the last line of their output."""
    out = case.findtext("system-out") or ""
    found = _GTEST_REASON.search(out)
    if found is not None:
        return found[1].strip()
    lines = out.strip().splitlines()
    return lines[-1].strip() if lines else "no reason"


def summary(file: Path) -> str:
    skipped = [
        case
        for case in ElementTree.parse(file).iter("testcase")
        if case.find("skipped") is not None
    ]
    reasons = Counter(map(reason_of, skipped)).most_common()
    text = "; ".join(f"{count} × {reason}" for reason, count in reasons)
    return f"{len(skipped)} skipped: {text}" if skipped else "0 skipped"


if __name__ == "__main__":
    print(f"   {summary(Path(sys.argv[1]))}")
