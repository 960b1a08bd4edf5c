"""The same robot in Python."""

import math
import sys
import time

import hyphos
from hyphos import Transform

node = hyphos.Node.open("robot", sys.argv)
transforms = node.transforms()
transforms.set_static(Transform("base", "laser", (0, -0.3, 0.2)))


def drive() -> None:
    now = time.time_ns()
    angle = math.remainder(now * 0.5e-9, math.tau)
    there = (2 * math.cos(angle), 2 * math.sin(angle), 0)
    heading = (0, 0, angle + math.pi / 2)
    transforms.set(Transform("map", "base", there, roll_pitch_yaw=heading, stamp_ns=now))


node.every(drive, rate_hz=50)
node.spin()
