"""The robot recovers from the death of either process: a printed line names both running ones."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

PLAN = Path(__file__).parent / "robot.yaml"


@pytest.fixture
def robot(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[IO[str]]:
    """The output of a run. The parameter, if there is one, is a setting of the plan."""
    words = ["--set", f"domain=phoenix-{os.getpid()}", "--logs", str(tmp_path)]
    if hasattr(request, "param"):
        words += ["--set", request.param]
    command = [sys.executable, "-m", "hyphos", "run", str(PLAN), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        try:
            yield run.stdout
        finally:
            run.terminate()
            run.stdout.read()
    assert run.returncode == 0


def find(lines: IO[str], pattern: str) -> re.Match[str]:
    return next(found for line in lines if (found := re.search(pattern, line)))


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_the_body_restarts(robot: IO[str], blow: signal.Signals) -> None:
    body = int(find(robot, r"receives from counter (\d+)")[1])
    os.kill(body, blow)
    find(robot, "body is back after")
    while int(find(robot, r"receives from counter (\d+)")[1]) == body:
        pass


# With a short heartbeat, a machine that stalls would restart the body as well.
@pytest.mark.parametrize("robot", ["processes.body.health.heartbeat_ms=20000"], indirect=True)
def test_the_brain_restarts_and_knows_the_body(robot: IO[str]) -> None:
    found = find(robot, r"│ (\d+) receives from counter (\d+)")
    os.kill(int(found[1]), signal.SIGKILL)
    find(robot, "brain is back after")
    again = find(robot, r"│ (\d+) receives from counter (\d+)")
    assert again[1] != found[1]
    assert again[2] == found[2]


def test_the_plan_and_its_nodes_agree() -> None:
    words = [sys.executable, "-m", "hyphos", "validate", str(PLAN), "--strict"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
