import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CPP = [str(HERE.parents[1] / "build/release/examples/13_time/time_beeper")]
PYTHON = [sys.executable, str(HERE / "beeper.py")]


@pytest.mark.parametrize("beeper", [CPP, PYTHON], ids=["cpp", "python"])
def test_beeps_follow_simulated_time(beeper: list[str]) -> None:
    domain = f"example-time-{os.getpid()}"
    hyphos = [sys.executable, "-m", "hyphos", "time"]
    simulate = [*hyphos, "sim", "--paused", "--start", "0", "-d", domain]
    command = [*beeper, "--hyphos-clock", "sim", "--hyphos-domain", domain]

    def steer(*words: str) -> None:
        subprocess.run([*hyphos, *words, "-d", domain], check=True, stdout=subprocess.PIPE)

    with (
        subprocess.Popen(simulate, stdout=subprocess.PIPE, text=True) as simulator,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as node,
    ):
        try:
            assert simulator.stdout is not None
            assert node.stdout is not None
            simulator.stdout.readline()
            heard = [node.stdout.readline()]
            for _ in range(2):
                steer("step", "1")
                heard.append(node.stdout.readline())
            steer("jump", "100")
            heard.append(node.stdout.readline())
            steer("step", "1")
            heard.append(node.stdout.readline())
        finally:
            node.terminate()
            simulator.terminate()
    assert [line.strip() for line in heard] == [
        "the time was set to 0 s",
        "beep at 1 s",
        "beep at 2 s",
        "the time was set to 100 s",
        "beep at 101 s",
    ]
