"""The programs of the three steps work as their docstrings describe."""

import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent


def first_lines(program: str, count: int) -> list[str]:
    domain = f"step{os.getpid()}"
    words = [sys.executable, str(HERE / program), "--hyphos-domain", domain]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            lines = [running.stdout.readline().strip() for _ in range(count)]
        finally:
            running.send_signal(signal.SIGINT)
        assert running.wait(60) == 0
    return lines


def test_step_1_prints_the_temperature() -> None:
    assert first_lines("step_1_talk.py", 3) == ["21.5 °C"] * 3


def test_step_2_finds_moving_edges() -> None:
    for line in first_lines("step_2_images.py", 3):
        columns = [int(word) for word in line.removeprefix("edges at columns").split()]
        assert len(columns) in (7, 8)  # 640 columns, stripes of 80
        assert {b - a for a, b in pairwise(columns)} == {80}


def test_step_3_drives_a_circle() -> None:
    command = [sys.executable, "-m", "hyphos", "run", str(HERE / "step_3_robot.yaml")]
    domain = f"domain=step{os.getpid()}"
    done = subprocess.run(
        [*command, "--for", "10", "--set", domain], stdout=subprocess.PIPE, text=True, check=True
    )
    found = re.search(r"so far ([\d.]+) m across", done.stdout)
    assert found is not None
    # A circle of 0.2 m takes 2.5 s, and the speed of this machine is not known.
    assert 0.05 < float(found[1]) < 0.5
