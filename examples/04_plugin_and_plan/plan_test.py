from pathlib import Path

import pytest
from hyphos.testing import Robot

PLAN = Path(__file__).parent / "robot.yaml"


@pytest.mark.parametrize("process", ["work", "count"])
def test_the_plan_chooses_the_process_of_a_plugin(process: str) -> None:
    with Robot(PLAN, settings=[f"nodes.doubler.process={process}"]) as robot:
        found = robot.expect_output("count", "^doubled: .*$", within=60)
        assert found[0] == "doubled: 2"
