"""A small CARMEN log of a room, made here, goes through the mapper and comes out as a picture."""

import math
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
SCANS = 40


def room_log(path: Path) -> None:
    """A robot that drives 2 m along the middle of a room of 8 x 6 m, 180 beams a scan."""
    lines = []
    for i in range(SCANS):
        x = -1.0 + 2.0 * i / SCANS
        ranges = []
        for beam in range(180):
            angle = math.radians(beam - 90)
            c, s = math.cos(angle), math.sin(angle)
            to_x = (4.0 - x) / c if c > 1e-9 else math.inf
            to_y = 3.0 / abs(s) if abs(s) > 1e-9 else math.inf
            ranges.append(f"{min(to_x, to_y):.2f}")
        pose = f"{x:.4f} 0.0 0.0"
        stamp = f"{1000 + i * 0.2:.2f}"
        lines.append(f"FLASER 180 {' '.join(ranges)} {pose} {pose} {stamp} test {stamp}")
    path.write_text("\n".join(lines) + "\n")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(HERE / "map_recording.sh"), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_carmen_log_becomes_a_map(tmp_path: Path) -> None:
    log = tmp_path / "room.log"
    room_log(log)
    picture = tmp_path / "map.png"
    done = run(str(log), str(picture), f"domain=rb{os.getpid()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"map of {SCANS} scans" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_broken_log_is_named_with_its_line(tmp_path: Path) -> None:
    log = tmp_path / "bad.log"
    log.write_text("FLASER 3 1.0 2.0\n")
    done = run(str(log), str(tmp_path / "map.png"), f"domain=rbx{os.getpid()}")
    assert done.returncode != 0
    assert "bad.log:1" in done.stdout + done.stderr


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    done = run(str(other))
    assert done.returncode == 2
    assert "neither" in done.stderr
