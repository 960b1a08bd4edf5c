"""The verdict of `hyphos demo` equals the known content of a recording and its counters."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from drives import Pose, Recorded, circle, grid, message_of, moved, pose_message
from hyphos.demo.drive import read_drive
from hyphos.demo.verdict import Losses, judge, length, losses, pose_error
from hyphos.tools.totals import Totals
from looks import End, look_at, publisher, subscriber

START: Pose = (1.0, 6.0, 0.4)


def counted(*ends: End) -> Totals:
    totals = Totals(0.0)
    totals.add(look_at(1.0, (1, list(ends))))
    return totals


def aside(poses: list[Pose], error_m: float) -> list[Pose]:
    """The poses with a constant error, after the first one."""
    return [poses[0], *((x, y + error_m, yaw) for x, y, yaw in poses[1:])]


def recorded(poses: list[Pose], error_m: float = 0.0) -> Recorded:
    return Recorded(
        truth=[moved(START, pose) for pose in poses],
        pose=aside(poses, error_m),
        map=grid(248, 192, 0.05, (-6.2, -4.8)),
        walls=grid(806, 606, 0.02, (-0.06, -0.06)),
    )


def test_a_good_run_has_the_known_line(tmp_path: Path) -> None:
    drive = read_drive(recorded(circle(400), 0.03).write(tmp_path / "run.mcap"))
    verdict = judge(drive, counted(publisher(1200), subscriber(1200)))
    assert verdict.line == (
        "4 channels, 0 of 1,200 messages lost, map 12.4 × 9.6 m, "
        "pose error 3.0 cm RMS against the truth"
    )
    assert verdict.good


def test_an_exact_estimate_has_no_error_from_any_start(tmp_path: Path) -> None:
    poses = circle(100)
    for number, start in enumerate([START, (0, 0, 0), (-3.0, 2.0, math.pi), (0.0, 0.0, -2.0)]):
        made = Recorded(truth=[moved(start, pose) for pose in poses], pose=poses)
        drive = read_drive(made.write(tmp_path / f"{number}.mcap"))
        error = pose_error(drive.truth, drive.pose)
        assert error is not None
        assert error.most_m < 1e-9
        assert error.map_in_world == pytest.approx(start)


def test_the_mean_and_the_largest_error_are_exact(tmp_path: Path) -> None:
    poses = circle(100)
    drive = read_drive(recorded(poses, 0.2).write(tmp_path / "run.mcap"))
    error = pose_error(drive.truth, drive.pose)
    assert error is not None
    assert error.most_m == pytest.approx(0.2)
    assert error.rms_m == pytest.approx(0.2 * math.sqrt(99 / 100))


def test_drift_is_not_fitted_away(tmp_path: Path) -> None:
    """A fit over the whole run would place a track with a wrong scale better than the start."""
    line = [(0.1 * i, 0.0, 0.0) for i in range(101)]
    longer = [(1.02 * x, y, yaw) for x, y, yaw in line]
    drive = read_drive(Recorded(truth=line, pose=longer).write(tmp_path / "run.mcap"))
    error = pose_error(drive.truth, drive.pose)
    assert error is not None
    assert error.most_m == pytest.approx(0.2)
    assert error.rms_m == pytest.approx(0.02 * math.sqrt(np.mean(np.linspace(0, 10, 101) ** 2)))


def test_the_truth_is_interpolated_at_the_stamp_of_a_pose(tmp_path: Path) -> None:
    line = [(0.1 * i, 0.0, 0.0) for i in range(50)]
    between = [(x + 0.05, y, yaw) for x, y, yaw in line[:-1]]
    made = Recorded(truth=line, pose=between, pose_delay_ns=25_000_000)
    drive = read_drive(made.write(tmp_path / "run.mcap"))
    error = pose_error(drive.truth, drive.pose)
    assert error is not None
    assert error.most_m < 1e-9


def test_estimates_outside_the_time_of_the_truth_do_not_count(tmp_path: Path) -> None:
    poses = circle(60)
    wrong = [*poses[:50], *((x + 9, y, yaw) for x, y, yaw in poses[50:])]
    drive = read_drive(Recorded(truth=poses[:50], pose=wrong).write(tmp_path / "run.mcap"))
    error = pose_error(drive.truth, drive.pose)
    assert error is not None
    assert error.most_m < 1e-9
    later = Recorded(truth=poses, pose=poses, pose_delay_ns=10**12)
    drive = read_drive(later.write(tmp_path / "later.mcap"))
    assert pose_error(drive.truth, drive.pose) is None


def test_each_drop_is_counted_once(tmp_path: Path) -> None:
    made = recorded(circle(50))
    made.tallies = {
        "scan": {"missing": 5, "drop_queue": 2, "drop_disk": 1},
        "odom": {"missing": 1, "drop_queue": 0, "drop_disk": 0},
    }
    drive = read_drive(made.write(tmp_path / "run.mcap"))
    totals = counted(publisher(100, **{"drop.shm.overflow": 3}), subscriber(90, queue_overflow=4))
    # The 5 gaps of scan include the 3 drops of its publisher. Written: 2 + 1 fewer than received.
    assert losses(totals, drive) == Losses(5 + 1 + 4 + 3, 90 + 4 + 5 + 1)
    assert "13 of 100 messages lost" in judge(drive, totals).line


def test_one_lost_message_shows(tmp_path: Path) -> None:
    drive = read_drive(recorded(circle(50)).write(tmp_path / "run.mcap"))
    verdict = judge(drive, counted(publisher(2000), subscriber(1999, queue_overflow=1)))
    assert "1 of 2,000 messages lost" in verdict.line
    assert verdict.good


def test_a_channel_without_messages_is_named(tmp_path: Path) -> None:
    made = recorded(circle(50))
    made.planned = ["truth", "pose", "map", "walls", "path", "drive"]
    drive = read_drive(made.write(tmp_path / "run.mcap"))
    assert judge(drive, counted()).line.startswith("4 channels, none of path, drive, 0 of 0 ")


@pytest.mark.parametrize(
    ("gone", "words"),
    [("map", "no map"), ("pose", "no pose with a truth"), ("truth", "no pose with a truth")],
)
def test_a_missing_part_is_no_success(tmp_path: Path, gone: str, words: str) -> None:
    made = recorded(circle(50))
    setattr(made, gone, None if gone == "map" else ())
    verdict = judge(read_drive(made.write(tmp_path / "run.mcap")), counted())
    assert words in verdict.line
    assert not verdict.good


def test_the_size_is_that_of_the_known_part(tmp_path: Path) -> None:
    cells = np.full((100, 200), -1, np.int8)
    cells[10:60, 20:100] = 0
    cells[30, 150] = 100
    made = recorded(circle(50))
    made.map = message_of(cells, 0.1, (-3.0, -4.0))
    drive = read_drive(made.write(tmp_path / "run.mcap"))
    assert drive.map is not None
    assert drive.map.known() == pytest.approx((-1.0, -3.0, 12.1, 2.0))
    assert "map 13.1 × 5.0 m" in judge(drive, counted()).line
    made.map = message_of(np.full((5, 5), -1, np.int8), 0.1, (0.0, 0.0))
    assert "no map" in judge(read_drive(made.write(tmp_path / "none.mcap")), counted()).line


def test_a_recording_that_was_cut_off_is_no_success(tmp_path: Path) -> None:
    path = recorded(circle(50)).write(tmp_path / "run.mcap")
    path.write_bytes(path.read_bytes()[:-200])
    verdict = judge(read_drive(path), counted())
    assert "the recording is damaged" in verdict.line
    assert not verdict.good


def test_unusable_messages_are_left_out(tmp_path: Path) -> None:
    poses = circle(50)
    nothing = pose_message(51 * 50_000_000, (math.nan, 0.0, 0.0)).SerializeToString()
    short = grid(9, 9, 0.05, (0.0, 0.0))
    short.data = short.data[:-1]
    made = recorded(poses)
    made.more = {"pose": [b"\xff", nothing], "map": [b"\xff", short.SerializeToString()]}
    drive = read_drive(made.write(tmp_path / "run.mcap"))
    assert drive.pose is not None
    assert len(drive.pose) == 50
    assert "map 12.4 × 9.6 m" in judge(drive, counted()).line


def test_lengths_have_the_unit_of_their_size() -> None:
    assert [length(m) for m in (0.0004, 0.0284, 0.374, 1.254)] == [
        "0.0 cm",
        "2.8 cm",
        "37 cm",
        "1.25 m",
    ]
