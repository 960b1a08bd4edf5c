"""The loop closure corrects the trajectory, the viewer draws it, and its channels leave the machine
as listing 3 of the paper configures."""

import itertools
import os
import queue
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from claims import own_port
from hyphos.msgs import Float64, PointCloud
from hyphos.msgs import Path as RobotPath
from mcap.reader import make_reader
from PIL import Image

HERE = Path(__file__).parent
PLAN = HERE / "robot.yaml"
VIEWER = HERE.parents[1] / "build/release/view/hyphos-view"
PATIENCE_S = 60.0
FAST = "nodes.world.params.speed_m_s=6"


def settings(domain: str) -> tuple[list[str], str]:
    address = f"tcp://127.0.0.1:{own_port()}"
    values = [FAST, f"domain={domain}", f"network.publisher.ip={address}"]
    return [word for value in values for word in ("--set", value)], address


def values(file: Path, channel: str, kind: Any) -> list[Any]:
    with file.open("rb") as recording:
        found = make_reader(recording).iter_messages(topics=[channel])
        return [kind.FromString(message.data) for *_, message in found]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds, in which the robot drives two rounds."""
    folder = tmp_path_factory.mktemp("slam")
    file = folder / "slam.mcap"
    words, _ = settings(f"slamrun-{os.getpid()}")
    words += ["--record", "--set", f"record.path={file}", "--logs", str(folder / "logs")]
    done = subprocess.run(
        [sys.executable, "-m", "hyphos", "run", PLAN, "--for", "14", *words],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S * 2,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return file


def test_a_loop_closure_corrects_the_pose_and_the_path(recording: Path) -> None:
    errors = np.array([value.data for value in values(recording, "error_m", Float64)])
    drops = errors[:-1] - errors[1:]
    closed = int(np.argmax(drops))
    assert errors[closed] > 0.7, "the odometry drifts"
    assert errors[closed + 1] < errors[closed] / 2, "the closure removes the error"
    ways = values(recording, "re_optimized_poses", RobotPath)
    moved = []
    for before, after in itertools.pairwise(ways):
        same = min(len(before.poses), len(after.poses))
        ends = [np.array([(p.pose.position.x, p.pose.position.y) for p in way.poses[:same]])
                for way in (before, after)]  # fmt: skip
        moved.append(float(np.hypot(*(ends[0] - ends[1]).T).max(initial=0)))
    assert max(moved) > 0.8, "a closure moves the whole path"
    assert np.median(moved) == 0, "between closures the path only grows"


@pytest.mark.skipif(not VIEWER.exists(), reason="the viewer is not built")
def test_the_layout_shows_map_axes_camera_and_error(recording: Path, tmp_path: Path) -> None:
    file = tmp_path / "slam.png"
    words = ["--layout", str(HERE / "slam.view.yaml"), "--at", "100", "--size", "1200x700"]
    done = subprocess.run(
        [VIEWER, recording, *words, "--png", file],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with Image.open(file) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    scene = pixels[:, : pixels.shape[1] * 2 // 3]
    red, green, blue = scene[..., 0], scene[..., 1], scene[..., 2]
    assert ((red > 200) & (green < 90) & (blue < 90)).sum() > 5000, "the map is red"
    assert ((green > 130) & (red < 100) & (blue < 100)).sum() > 200, "y axes are green"
    assert ((blue > 150) & (red < 110)).sum() > 100, "z axes are blue"


def test_the_channels_of_listing_3_leave_the_machine() -> None:
    words, address = settings(f"slamnet-{os.getpid()}")
    text = (
        "network: {subscribers: [{ip: '" + address + "', "
        "channels: [lidar_visual_channel, re_optimized_poses]}]}"
    )
    clouds: queue.Queue[Any] = queue.Queue()
    paths: queue.Queue[Any] = queue.Queue()
    command = [sys.executable, "-m", "hyphos", "run", str(PLAN), *words]
    with (
        subprocess.Popen(command, stdout=subprocess.DEVNULL) as robot,
        hyphos.Node.open("screen", plan_text=text, domain=f"screen-{os.getpid()}") as node,
    ):
        try:
            node.subscribe("lidar_visual_channel", hyphos.Attached[PointCloud], clouds.put)
            node.subscribe("re_optimized_poses", RobotPath, paths.put)
            cloud = clouds.get(timeout=PATIENCE_S)
            path = paths.get(timeout=PATIENCE_S)
        finally:
            robot.terminate()
    assert hyphos.cloud_to_numpy(cloud).size > 500
    assert len(path.poses) >= 1
    assert path.header.frame_id == "map"
