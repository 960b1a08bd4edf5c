"""`hyphos demo` from its start to its verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers import OnTerminalStart, Start, look_until
from hyphos._errors import Error
from hyphos.demo import robot
from hyphos.demo.drive import read_drive
from hyphos.demo.verdict import length, pose_error
from hyphos.observe import look
from screen import lines_of

VERDICT = re.compile(
    r"13 channels, ([\d,]+) of ([\d,]+) messages lost, map ([\d.]+) × ([\d.]+) m, "
    r"pose error (\S+ c?m) RMS against the truth"
)


def tables_in(lines: list[str]) -> list[str]:
    """The first words of the heads of all tables."""
    heads = (re.match(r" *(process +state|channel +transport) ", line) for line in lines)
    return [head[1].split()[0] for head in heads if head]


def test_a_short_demo_ends_with_its_verdict(
    hyphos_start: Start, tmp_path: Path, domain: str
) -> None:
    out = tmp_path / "out"
    words = ["--seconds", "3", "--out", str(out), "--domain", domain]
    code, text, err = hyphos_start("demo", *words).end()
    assert code == 0, text + err
    lines = text.splitlines()

    found = VERDICT.fullmatch(lines[-1])
    assert found, lines[-1]
    drive = read_drive(out / "patrol.mcap")
    lost, messages = (int(number.replace(",", "")) for number in found.groups()[:2])
    recorded = sum(drive.counts.values())
    assert messages - lost > recorded  # the recorder is one of the subscribers
    assert drive.map is not None
    left, low, right, high = drive.map.known() or (0, 0, 0, 0)
    assert found.groups()[2:4] == (f"{right - left:.1f}", f"{high - low:.1f}")
    error = pose_error(drive.truth, drive.pose)
    assert error is not None
    assert found[5] == length(error.rms_m)
    assert error.rms_m < 0.5
    assert drive.walls is not None
    assert drive.walls.known() == pytest.approx((-0.06, -0.06, 16.06, 12.06))

    assert tables_in(lines) == ["process", "channel"]
    assert "with mean CPU and rates" in text
    for name in ("map.png", "patrol.mcap", "report.html"):
        assert str(out / name) in text
    assert (out / "map.png").read_bytes().startswith(b"\x89PNG")
    report = (out / "report.html").read_text()
    assert lines[-1] in report
    assert "data:image/png;base64," in report


def test_a_terminal_keeps_each_table_once_and_ctrl_c_is_clean(
    hyphos_terminal: OnTerminalStart, tmp_path: Path, domain: str
) -> None:
    """The live tables vanish at the end, and Ctrl-C ends the robot before its time."""
    recorded = robot._all_recorded([])
    words = ["--seconds", "1000", "--out", str(tmp_path / "out"), "--domain", domain]
    program = hyphos_terminal("demo", *words)
    program.read_until("channel")
    look_until(recorded, lambda: look(domain), "the recorder")
    program.type("\x03")
    program.read_until("against the truth")
    assert program.end() == 0
    assert tables_in(lines_of(program.shown)) == ["process", "channel"]
    assert "Traceback" not in program.shown


WITH_ANOTHER_WATCHER = """
import shutil, sys
from pathlib import Path
from hyphos.demo import robot

robot.FOLDER = shutil.copytree(robot.FOLDER, Path("patrol").absolute())
(robot.FOLDER / "watcher.py").write_text(sys.argv[1])
robot.PLAN = robot.FOLDER / robot.PLAN.name
sys.exit(robot.demo(robot.DemoOptions(1000.0, Path("out"), live=False, domain=sys.argv[2])))
"""


def test_a_robot_that_fails_is_no_success(python: Start, domain: str) -> None:
    watcher = "class Watcher:\n    def __init__(self, node):\n        raise OSError('no eyes')\n"
    code, out, err = python(WITH_ANOTHER_WATCHER, watcher, domain).end()
    assert code == 1, out + err
    assert "no eyes" in out
    assert out.splitlines()[-1].startswith("the robot failed: ")


def test_results_of_an_earlier_run_are_removed(
    tmp_path: Path, domain: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("map.png", "report.html", "patrol.mcap"):
        (tmp_path / name).write_text("old")
    monkeypatch.setattr(robot, "launch", lambda options: options.at_end and 0)
    options = robot.DemoOptions(30.0, tmp_path, live=False, domain=domain)
    assert robot.demo(options) == 1
    assert not list(tmp_path.iterdir())
    assert capsys.readouterr().out.endswith("the robot did not start\n")


def test_a_package_without_the_robot_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robot, "PLAN", tmp_path / "none.yaml")
    with pytest.raises(Error, match="no robot for the demo") as caught:
        robot.demo(robot.DemoOptions(30.0, tmp_path / "out", live=False, domain="0"))
    assert "--target patrol" in caught.value.advice
    assert not (tmp_path / "out").exists()


def test_the_package_has_the_plan_of_the_example() -> None:
    example = Path(__file__).parents[3] / "examples/patrol"
    for name in ("three_processes.yaml", "patrol.yaml", "watcher.py"):
        assert (robot.FOLDER / name).samefile(example / name)


def test_the_path_of_a_folder_keeps_every_character() -> None:
    path = 'a: "b" #c, [d] é'
    key, _, value = robot._setting("record.path", path).partition("=")
    assert (key, json.loads(value)) == ("record.path", path)
