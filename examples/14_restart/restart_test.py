"""The robot recovers from the death of either process: a printed line names both running ones."""

import subprocess
import sys
from pathlib import Path

import pytest
from hyphos.testing import Robot

PLAN = Path(__file__).parent / "robot.yaml"
PATIENCE_S = 60.0


@pytest.mark.robot("robot.yaml")
@pytest.mark.parametrize("blow", ["kill", "pause"])
def test_the_body_restarts(robot: Robot, blow: str) -> None:
    born = robot.expect("born", within=PATIENCE_S).data
    robot.expect_output("brain", f"receives from {born}", within=PATIENCE_S)
    getattr(robot, blow)("body")
    again = robot.expect("born", lambda one: one.data != born, within=PATIENCE_S).data
    robot.expect_output("brain", f"receives from {again}", within=PATIENCE_S)


# With a short heartbeat, a machine that stalls would restart the body as well.
@pytest.mark.robot("robot.yaml", settings=["processes.body.health.heartbeat_ms=20000"])
def test_the_brain_restarts_and_knows_the_body(robot: Robot) -> None:
    born = robot.expect("born", within=PATIENCE_S).data
    line = r"^(?!{})(\d+) receives from " + born
    pid = robot.expect_output("brain", line.format("-"), within=PATIENCE_S)[1]
    robot.kill("brain")
    robot.expect_output("brain", line.format(pid), within=PATIENCE_S)


def test_the_plan_and_its_nodes_agree() -> None:
    words = [sys.executable, "-m", "hyphos", "validate", str(PLAN), "--strict"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
