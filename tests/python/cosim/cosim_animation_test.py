"""The picture of a run: scene updates for Foxglove, and animations."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import Start
from hyphos.recording.mcap_scan import Scan

pytest.importorskip("matplotlib")
from hyphos.cosim.animation import Recorded
from hyphos.cosim.palette import places, robot_colours, style
from PIL import Image

# b drives away behind a wall: its link gets weaker, and packets are lost.
SCENARIO = """
duration_s: 20
seed: 1
world: {boxes: [{low: [25, 5, 0], high: [35, 15, 4], loss_db: 30}]}
robots:
  a: {at: [0, 0, 1]}
  b: {at: [10, 4, 1], velocity: [4, 0.7, 0]}
radio: {tx_power_dbm: 0}
traffic: {rate_hz: 20}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("run")
    (folder / "cosim.yaml").write_text(SCENARIO)
    return folder / "cosim.yaml", folder / "run.mcap"


@pytest.fixture
def run(recorded: tuple[Path, Path], hyphos_start: Start) -> Path:
    scenario, mcap = recorded
    if not mcap.exists():
        code, out, err = hyphos_start("cosim", "run", str(scenario), "--mcap", str(mcap)).end()
        assert code == 0, out + err
    return mcap


def on(mcap: Path, topic: str) -> list[Any]:
    scan = Scan(mcap)
    return [
        json.loads(message.data)
        for group in scan.messages()
        for message in group
        if scan.channels[message.channel].topic == topic
    ]


def test_the_ratio_of_a_link_is_that_of_the_radio(run: Path) -> None:
    seen = [update["links"] for update in on(run, "cosim/links")]
    first = seen[0][0]
    assert (first["from"], first["to"]) == ("a", "b")
    # 0 dBm - 40.05 - 30 log10(distance) + 94, at 10.8 m
    assert first["snr_db"] == pytest.approx(94 - 40.05 - 31.0, abs=0.6)
    ratios = [links[0]["snr_db"] for links in seen if links]
    assert min(ratios) < first["snr_db"] - 10


def test_the_scene_has_obstacles_robots_links_and_lost_packets(run: Path) -> None:
    updates = on(run, "cosim/scene")
    [obstacles] = updates[0]["entities"]
    [cube] = obstacles["cubes"]
    assert cube["pose"]["position"] == {"x": 30, "y": 10, "z": 2}
    assert cube["size"] == {"x": 10, "y": 10, "z": 4}
    entities = [entity for update in updates[1:] for entity in update["entities"]]
    assert {"robot/a", "robot/b", "links"} <= {entity["id"] for entity in entities}
    kinds = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
    assert all(set(kinds) < set(entity) for entity in entities)
    names = {text["text"] for entity in entities for text in entity["texts"]}
    assert names == {"a", "b"}
    colours = [
        line["colors"][0] for entity in entities for line in entity["lines"] if line["colors"]
    ]
    assert colours[0]["g"] > colours[-1]["g"]  # from green to red
    lost = [len(entity["spheres"]) for entity in entities if entity["id"].startswith("lost/")]
    dropped = [one for one in on(run, "cosim/packets") if one["event"] == "dropped"]
    assert 0 < sum(lost) <= len(dropped)


def frames_of(picture: Any) -> int:
    return int(picture.n_frames)


def test_an_animation_has_moving_frames(run: Path, hyphos_start: Start, tmp_path: Path) -> None:
    output = tmp_path / "run.gif"
    code, out, err = hyphos_start("cosim", "animate", str(run), "-o", str(output)).end()
    assert code == 0, out + err
    with Image.open(output) as picture:
        assert 100 <= frames_of(picture) <= 180
        frames = []
        for number in (0, frames_of(picture) // 2, frames_of(picture) - 1):
            picture.seek(number)
            frames.append(picture.convert("RGB").tobytes())
    assert len(set(frames)) == 3


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="scripts/setup animation")
def test_an_mp4_has_moving_frames(run: Path, hyphos_start: Start, tmp_path: Path) -> None:
    output = tmp_path / "run.mp4"
    code, out, err = hyphos_start("cosim", "animate", str(run), "-o", str(output)).end()
    assert code == 0, out + err
    words = ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,pix_fmt,width,height"]
    told = subprocess.run([*words, "-of", "json", str(output)], capture_output=True, check=True)
    [stream] = json.loads(told.stdout)["streams"]
    assert (stream["codec_name"], stream["pix_fmt"]) == ("h264", "yuv420p")  # browsers play these
    words = ["ffmpeg", "-v", "error", "-i", str(output), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(words, capture_output=True, check=True).stdout
    size = stream["width"] * stream["height"] * 3
    assert len(data) % size == 0
    count = len(data) // size
    assert 100 <= count <= 180
    frames = [data[i * size : (i + 1) * size] for i in (0, count // 2, count - 1)]
    assert len(set(frames)) == 3
    # The first frame is white paper with a drawing, and no noise of a wrong size or format.
    assert frames[0].count(255) > size / 2


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="scripts/setup animation")
def test_a_failure_of_ffmpeg_is_an_error(run: Path, hyphos_start: Start, tmp_path: Path) -> None:
    (tmp_path / "taken.mp4").mkdir()
    words = ("cosim", "animate", str(run), "-o", str(tmp_path / "taken.mp4"))
    code, out, err = hyphos_start(*words).end()
    assert code == 1, out
    assert "ffmpeg failed" in err
    assert "Traceback" not in err


def test_a_run_writes_its_animation(hyphos_start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "cosim.yaml"
    scenario.write_text(SCENARIO.replace("duration_s: 20", "duration_s: 2"))
    output = tmp_path / "run.gif"
    code, out, err = hyphos_start("cosim", "run", str(scenario), "--animation", str(output)).end()
    assert code == 0, out + err
    assert f"animation  {output}" in out
    with Image.open(output) as picture:
        assert frames_of(picture) > 10


def test_wrong_outputs_are_refused_before_the_run(hyphos_start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "cosim.yaml"
    scenario.write_text(SCENARIO)
    wrong = {tmp_path / "run.png": "use .gif or .mp4", tmp_path / "no/run.gif": "does not exist"}
    if shutil.which("ffmpeg") is None:
        wrong[tmp_path / "run.mp4"] = "MP4 needs ffmpeg"
    for output, told in wrong.items():
        words = ("cosim", "run", str(scenario), "--animation", str(output))
        code, out, err = hyphos_start(*words).end()
        assert code != 0
        assert told in err
        assert "simulated" not in out
    code, _, err = hyphos_start("cosim", "animate", str(scenario)).end()
    assert code != 0
    assert "hyphos" in err or "MCAP" in err


def test_headings_and_losses_are_read_from_the_recording(run: Path) -> None:
    told = Recorded.read(run)
    assert list(told.poses) == ["a", "b"]
    assert told.poses["b"][0][2] == pytest.approx(0.173, abs=0.01)  # atan2(0.7, 4)
    assert len(told.times) == len(told.poses["a"]) == len(told.poses["b"]) == len(told.links)
    assert told.boxes == [((25, 5), (35, 15))]
    assert told.lost


def test_one_peer_has_one_colour_in_all_pictures() -> None:
    assert places(["udp", "tcp"]) == {"udp": 0, "tcp": 1}
    assert places(["tcp"]) == {"tcp": 1}
    assert len(set(places(["lockstep", "adaptive", "anything", "else"]).values())) == 4
    looks = [style(place, paper=paper) for place in (0, 1) for paper in (False, True)]
    assert len({look["color"] for look in looks}) == 4  # the paper's UDP and TCP as well
    assert list(robot_colours(["a", "b"]).values()) == [style(0)["color"], style(1)["color"]]
