import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILT = HERE.parents[1] / "build/release/examples/09_late_joiner"
CPP = [str(BUILT / "latched_late")]
PYTHON = [sys.executable, str(HERE / "late.py")]


@pytest.mark.parametrize("late", [CPP, PYTHON], ids=["cpp", "python"])
def test_a_late_joiner_gets_the_last_value_at_once(late: list[str]) -> None:
    domain = ["--hyphos-domain", f"late-{os.getpid()}"]
    server = [str(BUILT / "latched_server"), *domain]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        said = [first.stdout.readline() for _ in range(2)]  # before the late joiner starts
        with subprocess.Popen([*late, *domain], stdout=subprocess.PIPE, text=True) as second:
            assert second.stdout is not None
            try:
                heard = [second.stdout.readline() for _ in range(2)]
            finally:
                second.terminate()
                first.terminate()
    assert said == ["in the hall\n", "in the kitchen\n"]
    assert heard == ["kitchen, as before\n", "garden, new\n"]
