import os
import queue
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from hyphos.msgs import Marker, MarkerArray, PointCloud

HERE = Path(__file__).parent
CPP = [str(HERE.parents[1] / "build/release/examples/18_view/view_show")]
PYTHON = [sys.executable, str(HERE / "show.py")]
PATIENCE_S = 60.0


@pytest.mark.parametrize("program", [CPP, PYTHON], ids=["cpp", "python"])
def test_arrays_arrive_also_after_they_were_shown(program: list[str]) -> None:
    domain = f"show-{os.getpid()}"
    clouds: queue.Queue[Any] = queue.Queue()
    shapes: queue.Queue[Any] = queue.Queue()
    with (
        subprocess.Popen([*program, "--hyphos-domain", domain]) as show,
        hyphos.Node.open("viewer", domain=domain) as node,
    ):
        try:
            node.subscribe("axis", MarkerArray, shapes.put)
            lines = shapes.get(timeout=PATIENCE_S).markers
            node.subscribe("spiral", hyphos.Attached[PointCloud], clouds.put)
            cloud = clouds.get(timeout=PATIENCE_S)
            points = hyphos.cloud_to_numpy(cloud).copy()
        finally:
            show.terminate()
    assert [marker.type for marker in lines[1:]] == [Marker.LINE_STRIP]
    assert [point.z for point in lines[1].points] == [0, 2]
    assert cloud.head.header.frame_id == "map"
    assert len(points) == 2000
    assert np.allclose(np.hypot(points["x"], points["y"]), 1)
