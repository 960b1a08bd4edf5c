"""A replay of one recording gives equal outputs each time, and others if the filter changes."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PLAN = str(HERE / "robot.yaml")


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_replay_in_lockstep_is_a_regression_test(tmp_path: Path) -> None:
    recorded = tmp_path / "run.mcap"
    settings = [f"domain=smoother-{os.getpid()}", f"record.path={recorded}"]
    words = ["-m", "hyphos", "run", PLAN, "--record", "--for", "10", "--logs", str(tmp_path)]
    run(*words, *(word for setting in settings for word in ("--set", setting)))

    def replay(name: str, *more: str) -> bytes:
        out = tmp_path / name
        lockstep = ["--lockstep", PLAN, "--node", "filter", "-o", str(out)]
        run("-m", "hyphos", "replay", str(recorded), *lockstep, *more)
        return out.read_bytes()

    once = replay("once.mcap")
    assert replay("again.mcap", "--threads", "4") == once
    assert replay("other.mcap", "--set", "nodes.filter.params.weight=0.25") != once

    def first(name: str, channel: str) -> list[str]:
        program = str(HERE / "first_values.py")
        return run(program, str(tmp_path / name), channel).split()

    assert first("run.mcap", "range") == ["1.0", "2.0", "3.0"]
    assert first("once.mcap", "smooth") == ["0.5", "1.25", "2.125"]
    assert first("other.mcap", "smooth") == ["0.25", "0.6875", "1.265625"]
