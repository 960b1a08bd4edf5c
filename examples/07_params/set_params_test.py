import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CPP = [str(HERE.parents[1] / "build/release/examples/07_params/params_cruise")]
PYTHON = [sys.executable, str(HERE / "cruise.py")]


@pytest.mark.parametrize("program", [CPP, PYTHON], ids=["cpp", "python"])
def test_another_process_reads_and_sets_parameters(program: list[str]) -> None:
    domain = ["--hyphos-domain", f"params-{os.getpid()}"]
    with subprocess.Popen([*program, *domain], stdout=subprocess.PIPE, text=True) as cruise:
        try:
            tuner = [sys.executable, str(HERE / "tuner.py"), *domain]
            heard = subprocess.run(tuner, check=True, capture_output=True, text=True).stdout
            assert cruise.stdout is not None
            told = cruise.stdout.readline()
        finally:
            cruise.terminate()
    assert heard.splitlines() == [
        "speed 0.5 m/s, 0.0 to 2.0",
        "refused: speed is above limit",
        "speed 1.5, limit 2.0, mode brisk",
    ]
    assert told == "speed is 1.5 now\n"
