"""The pytest plug-in of hyphos.testing, in runs of pytest of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from testing_nodes import PLAN, write_robot

TESTS = """
import pytest

@pytest.mark.robot("robot.yaml", lockstep=True)
def test_passes(robot):
    robot.expect("doubled", lambda m: m.data == 4)

@pytest.mark.robot("robot.yaml", lockstep=True)
def test_fails(robot):
    robot.expect("doubled", lambda m: m.data == 5, within=1)

@pytest.mark.robot("robot.yaml", lockstep=True, allow_exceptions=False)
@pytest.mark.parametrize("seconds", [0.2, 1])
def test_steps(robot, seconds):
    robot.step(seconds)

@pytest.mark.robot("robot.yaml", lockstep=True, strict=True)
def test_is_strict(robot):
    pass

def test_without_a_marker(robot):
    pass
"""


def run(folder: Path, *words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    done = subprocess.run(
        [*command, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def outcomes(text: str) -> dict[str, str]:
    lines = [line.split() for line in text.splitlines() if "::" in line]
    return {line[0].partition("::")[2]: line[1] for line in lines if len(line) > 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_robot(tmp_path, PLAN.replace("nodes.py:Doubler", "nodes.py:Fragile"))
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_robot.py").write_text(TESTS)
    return tmp_path


def test_the_fixture_runs_the_robot_of_the_marker(folder: Path) -> None:
    code, text = run(folder, "-v", "--strict-markers", "-W", "error")
    assert code == 1, text
    found = outcomes(text.partition("= short test summary")[0])
    assert found == {
        "test_passes": "PASSED",
        "test_fails": "FAILED",
        "test_steps[0.2]": "PASSED",
        "test_steps[1]": "FAILED",
        "test_is_strict": "PASSED",
        "test_without_a_marker": "ERROR",
    }
    assert '@pytest.mark.robot("robot.yaml")' in text
    assert "cannot double 3" in text
    kept = folder / "hyphos-failures"
    assert {one.name for one in kept.iterdir()} == {
        "tests_test_robot.py_test_fails",
        "tests_test_robot.py_test_steps_1",
    }
    for one in kept.iterdir():
        assert (one / "messages.mcap").exists()
        assert str(one.relative_to(folder)) in text


def test_a_fault_at_the_end_is_a_failure_of_the_test(folder: Path) -> None:
    plan = folder / "robot.yaml"
    plan.write_text(PLAN.replace("publishers: [doubler]", "publishers: [counter]"))
    code, text = run(folder, "-v", "-k", "test_is_strict", "--hyphos-failures", "here")
    assert code == 1
    assert outcomes(text.partition("= short test summary")[0]) == {"test_is_strict": "FAILED"}
    assert "1 failed" in text
    assert "error" not in text.rpartition("\n=")[2]
    assert (folder / "here/tests_test_robot.py_test_is_strict").is_dir()


def test_an_option_updates_the_golden_recordings(folder: Path) -> None:
    (folder / "tests/test_robot.py").write_text(
        "import pytest\n"
        '@pytest.mark.robot("robot.yaml", lockstep=True)\n'
        "def test_golden(robot):\n"
        "    robot.step(0.25)\n"
        '    robot.expect_golden("golden.mcap")\n'
    )
    assert "--hyphos-update-golden writes it" in run(folder)[1]
    assert run(folder, "--hyphos-update-golden")[0] == 0
    assert (folder / "golden.mcap").exists()
    assert run(folder)[0] == 0


def test_a_test_run_without_robots_imports_no_robot(folder: Path) -> None:
    (folder / "tests/test_robot.py").write_text(
        "import sys\n"
        "def test_light():\n"
        "    assert 'hyphos.testing.plugin' in sys.modules\n"
        "    for heavy in ('hyphos.node', 'hyphos._hyphos', 'rich', 'numpy', 'google.protobuf'):\n"
        "        assert heavy not in sys.modules, heavy\n"
    )
    code, text = run(folder)
    assert code == 0, text
