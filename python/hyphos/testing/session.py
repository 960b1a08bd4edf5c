"""The options of the test run, which the pytest plug-in sets. They are the same for all robots."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

_LONGEST_NAME = 120


@dataclass
class Session:
    failures: Path = Path("hyphos-failures")  # folder for the logs of failed tests
    update_golden: bool = False


OPTIONS = Session()


def name_of_test() -> str:
    """The name of the running test as a file name. "" outside of pytest."""
    name = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    return file_name(name)


def file_name(text: str) -> str:
    return re.sub(r"[^\w.=-]+", "_", text).strip("_.")[-_LONGEST_NAME:]
