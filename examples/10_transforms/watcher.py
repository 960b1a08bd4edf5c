"""Transforms points that the laser sees into the map: by a 4×4 matrix, or all of them at once."""

import sys
import time

import hyphos
import numpy as np

node = hyphos.Node.open("watcher", sys.argv)
transforms = node.transforms()
seen = np.array([[0, 0, 0], [0, -1, 0]], np.float32)  # the laser itself, and a metre to its right


def look() -> None:
    try:
        laser = transforms.get("map", "laser", time.time_ns(), timeout_ms=1000)
    except hyphos.Error as error:
        print(error, file=sys.stderr)
        return
    distances = np.hypot(*laser.apply(seen)[:, :2].T)
    assert np.allclose(laser.matrix @ [0, -1, 0, 1], [*laser.apply(seen)[1], 1], atol=1e-5)
    print(f"seen {distances[0]:.2f} m and {distances[1]:.2f} m from the origin", flush=True)


node.every(look, rate_hz=10)
node.spin()
