import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAN = Path(__file__).parent / "robot.yaml"


@pytest.mark.parametrize("process", ["work", "count"])
def test_the_plan_chooses_the_process_of_a_plugin(process: str, tmp_path: Path) -> None:
    settings = [f"nodes.doubler.process={process}", f"domain=doubling-{os.getpid()}"]
    command = [sys.executable, "-m", "hyphos", "run", str(PLAN), "--logs", str(tmp_path)]
    for setting in settings:
        command += ["--set", setting]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as robot:
        assert robot.stdout is not None
        try:
            heard = next(line for line in robot.stdout if "doubled" in line)
        finally:
            robot.terminate()
            robot.stdout.read()
    assert heard.split("│")[-1].strip() == "doubled: 2"
    assert robot.returncode == 0
