"""ROS 1 messages compared with genpy, the library of ROS 1's own Python programs: every type of
Debian's packages.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import PATIENCE_S
from hyphos.ros.convert import RosTypes
from ros_corpus import PACKAGES, SHARE

WRITER = Path(__file__).parents[1] / "support/genpy_writer.py"
# the interpreter of Debian, because genpy is installed for it
PYTHON = shutil.which("python3", path="/usr/bin")
ROUNDS = 3


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    assert PYTHON is not None
    return subprocess.run(
        [PYTHON, *words], capture_output=True, text=True, timeout=5 * PATIENCE_S, check=False
    )


pytestmark = pytest.mark.skipif(
    not PACKAGES or PYTHON is None or _run("-c", "import genpy").returncode != 0,
    reason="genpy and ROS definitions are not installed: scripts/setup core ros",
)


@pytest.fixture(scope="module")
def types() -> RosTypes:
    return RosTypes(PACKAGES)


@pytest.fixture(scope="module")
def written() -> list[dict[str, Any]]:
    done = _run(str(WRITER), str(SHARE), str(ROUNDS))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _alike(ours: Any, theirs: Any) -> bool:
    """Compares JSON values. JSON has no 32-bit floats, so a number has the shortest text that reads
    as the same float.
    """
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_alike(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_alike, ours, theirs))
    if isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-30)
    return bool(ours == theirs)


def test_every_genpy_message_survives_a_round_trip(
    types: RosTypes, written: list[dict[str, Any]]
) -> None:
    assert len({one["type"] for one in written}) > 140
    for one in written:
        wire = bytes.fromhex(one["wire"])
        made = types.read(one["type"], "ros1", wire)
        assert types.write(one["type"], "ros1", made) == wire, one["type"]


def test_values_are_in_the_same_fields_as_in_genpy(
    types: RosTypes, written: list[dict[str, Any]]
) -> None:
    for one in written:
        made = types.read(one["type"], "ros1", bytes.fromhex(one["wire"]))
        told = json.loads(types.write(one["type"], "json", made))
        assert _alike(told, one["values"]), (one["type"], told, one["values"])
        # The way back gives the same bytes.
        again = types.read(one["type"], "json", json.dumps(one["values"]).encode())
        assert types.write(one["type"], "ros1", again) == bytes.fromhex(one["wire"]), one["type"]
