"""`hyphos view --video`: the frames are the pictures of their instants."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import wait_until
from hyphos.msgs import Marker
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook
from pictures import ROOT, VIDEO_LIBRARY, VIEWER, picture, viewed

FRAMES = ROOT / "build/release/tests/view/video/view_video_frames"
SECOND = 1_000_000_000
LAYOUT = """hyphos_view: 1
fixed_frame: map
camera: {kind: top_down, target: [5, 0, 0], distance: 12}
displays:
  - {show: grid}
  - {show: marker, channel: box}
panels: {panel: scene}
"""

pytestmark = pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")
needs_video = pytest.mark.skipif(
    not VIDEO_LIBRARY.exists(), reason="no libavcodec-dev: scripts/setup core view video"
)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A box of 4 m that moves by 1 m in a second, for 10 s."""
    file = tmp_path_factory.mktemp("video") / "run.mcap"
    writer = McapRecording(file, TypeBook())
    kind = hyphos.TypeId("hyphos.msgs.Marker", "protobuf")
    channel = writer.add_channel("box", kind.name, "protobuf", kind.hash, {})
    for number in range(101):
        message = Marker(type=Marker.CUBE)
        message.scale.x = message.scale.y = message.scale.z = 4
        message.color.r = message.color.g = message.color.a = 1
        message.header.frame_id = "map"
        message.header.stamp_ns = at = 5 * SECOND + number * SECOND // 10
        message.pose.position.x = number / 10
        message.pose.orientation.w = 1
        writer.write(channel, at, at, number, message.SerializeToString())
    writer.close({})
    return file


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    file = tmp_path / "l.yaml"
    file.write_text(LAYOUT)
    return file


def decoded(video: Path, *pictures: Path) -> Any:
    done = subprocess.run(
        [FRAMES, video, *pictures], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_video
def test_frames_are_the_pictures_of_their_instants(
    recording: Path, layout: Path, tmp_path: Path
) -> None:
    words = (recording, "--layout", layout, "--size", "480x320")
    video = tmp_path / "out.mp4"
    done = viewed(*words, "--video", video, "--from", "2", "--to", "4s", "--fps", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{video}: 4 frames, 2 s, 480x320, ")
    pictures = []
    for instant in ("2", "2.5", "3", "3.5"):
        pictures.append(tmp_path / f"{instant}.png")
        picture(pictures[-1], *words, "--at", instant)
    found = decoded(video, *pictures)
    assert (found["width"], found["height"], found["frames"]) == (480, 320, 4)
    assert found["fps"] == 2
    # The encoder loses a little. Pictures of other instants differ much more.
    assert max(found["differences"]) < 1.5, found
    others = decoded(video, *reversed(pictures))
    assert min(others["differences"]) > 2 * max(found["differences"]), (found, others)
    assert list(tmp_path.glob(".*")) == []


@needs_video
@pytest.mark.parametrize("arrange", ["ghost", "columns"])
def test_a_video_compares_recordings(
    recording: Path, layout: Path, tmp_path: Path, arrange: str
) -> None:
    """The same recording again, half a second later."""
    words = (recording, "--layout", layout, "--size", "480x320")
    both = (*words, "--against", recording, "--shift", "0.5", "--arrange", arrange)
    video = tmp_path / "out.mp4"
    done = viewed(*both, "--video", video, "--from", "2", "--to", "4", "--fps", "2")
    assert (done.returncode, done.stderr) == (0, "")
    pictures: dict[str, list[Path]] = {"both": [], "one": []}
    for instant in ("2", "2.5", "3", "3.5"):
        for name, shown in (("both", both), ("one", words)):
            pictures[name].append(tmp_path / f"{name}{instant}.png")
            picture(pictures[name][-1], *shown, "--at", instant)
    found = decoded(video, *pictures["both"])
    assert found["frames"] == 4
    assert max(found["differences"]) < 1.5, found
    alone = decoded(video, *pictures["one"])
    assert min(alone["differences"]) > 2 * max(found["differences"]), (found, alone)


@needs_video
@pytest.mark.parametrize("ending", ["mp4", "mkv", "webm"])
def test_equal_frames_give_an_equal_file(
    recording: Path, layout: Path, tmp_path: Path, ending: str
) -> None:
    words = ("--layout", layout, "--size", "320x200", "--to", "1", "--fps", "5")
    made = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for video in made:
        done = viewed(recording, *words, "--video", video)
        assert (done.returncode, done.stderr) == (0, "")
    assert made[0].read_bytes() == made[1].read_bytes()
    assert decoded(made[0])["frames"] == 5


@needs_video
def test_ctrl_c_leaves_a_video_that_ends_there(
    recording: Path, layout: Path, tmp_path: Path
) -> None:
    video = tmp_path / "out.mp4"
    words = ["--layout", str(layout), "--fps", "240", "--video", str(video)]
    with subprocess.Popen(
        [VIEWER, recording, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        wait_until(lambda: any(tmp_path.glob(".out.mp4.*")), "the first frame")
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    assert "stopped by a signal. The video ends at" in err
    found = decoded(video)
    assert 1 <= found["frames"] < 2400
    assert out.startswith(f"{video}: {found['frames']:,} frame"), out
    assert list(tmp_path.glob(".*")) == []


@needs_video
def test_a_full_disk_is_an_error_and_leaves_no_file(
    recording: Path, layout: Path, tmp_path: Path
) -> None:
    video = tmp_path / "out.mp4"

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    words = ("--layout", layout, "--size", "640x400", "--fps", "10", "--video", video)
    done = viewed(recording, *words, preexec_fn=little_room)
    assert done.returncode == 1
    assert f"{video}: cannot write the video: File too large [exhausted]" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.yaml"]


@needs_video
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--video", "x.avi"], "ends with .mp4, .mkv or .webm"),
        (["--video", "x.mp4", "--size", "321x200"], "an even width and height, found 321x200"),
        (["--video", "absent/x.mp4"], "absent/x.mp4: cannot write the video: No such file"),
        (["--video", "x.mp4", "--from", "11"], "--from: the recording is 10 s long"),
    ],
)
def test_a_video_that_cannot_be_written_is_refused(
    recording: Path, tmp_path: Path, words: list[str], reason: str
) -> None:
    done = viewed(recording, *words, cwd=tmp_path)
    assert done.returncode == 1
    assert reason in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--from", "1"], "--from needs --video FILE"),
        (["--fps", "5", "--png", "x.png"], "--fps needs --video FILE"),
        (["--video", "x.mp4", "--png", "x.png"], "either --png or --video"),
        (["--video", "x.mp4", "--at", "1"], "--from, --to"),
        (["--video", "x.mp4", "--from", "2", "--to", "2"], "--to is not after --from"),
        (["--video", "x.mp4", "--fps", "0"], "0.1 to 240"),
        (["--video", "x.mp4", "--to", "soon"], "as 12.5 or 12.5s"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    recording: Path, words: list[str], reason: str
) -> None:
    done = viewed(recording, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr


def test_a_running_robot_has_no_video(domain: str, tmp_path: Path) -> None:
    done = viewed("--domain", domain, "--video", tmp_path / "x.mp4")
    assert done.returncode == 1
    assert "hyphos record" in done.stderr


def test_a_viewer_without_the_encoder_names_the_packages(recording: Path, tmp_path: Path) -> None:
    alone = tmp_path / "hyphos-view"
    alone.write_bytes(VIEWER.read_bytes())
    alone.chmod(0o755)
    words = [str(alone), str(recording), "--video", "x.mp4"]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(ROOT / "build/release")}
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environment, timeout=60
    )
    assert done.returncode == 1
    assert "libavcodec-dev" in done.stderr
    assert "scripts/setup core view video" in done.stderr
