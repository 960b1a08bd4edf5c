"""Figure 5 on two machines: each message is optimized once, while the optimization moves."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/how-to/tros.md"


def may_make_namespaces() -> bool:
    tools = all(shutil.which(word) for word in ("ip", "nsenter", "unshare"))
    if os.geteuid() != 0 or not tools:
        return False
    return subprocess.run(["unshare", "--net", "true"], check=False).returncode == 0


@pytest.mark.skipif(not may_make_namespaces(), reason="network namespaces may not be made here")
def test_the_optimization_moves_between_two_machines() -> None:
    done = subprocess.run(
        [HERE / "two_robots.sh", sys.executable],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    *turns, total = done.stdout.splitlines()
    assert len(turns) == 10
    for index, turn in enumerate(turns):
        assert turn.endswith(f": 60 by robot{1 if index % 2 else 2}")
    assert total == "600 messages, 600 results, 0 doubled"
    # The page shows this run.
    assert done.stdout in PAGE.read_text()
