"""The options of the test run, which the pytest plug-in sets. They are the same for all robots."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_LONGEST_NAME = 120


@dataclass
class Session:
    failures: Path = Path("hyphos-failures")  # folder for the logs of failed tests
    update_golden: bool = False
    test: str = ""  # the running one


OPTIONS = Session()


def name_of_test() -> str:
    """The name of the running test as a file name. "" outside of pytest."""
    return re.sub(r"[^\w.=-]+", "_", OPTIONS.test).strip("_.")[-_LONGEST_NAME:]
