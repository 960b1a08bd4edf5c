"""The sensors in Python. The laser measures 20 ms after the camera, and one scan is lost."""

import itertools
import sys

import hyphos
from hyphos.msgs import Header, Image, LaserScan

node = hyphos.Node.open("sensors", sys.argv)
camera = node.publisher("camera", hyphos.Attached[Image])
laser = node.publisher("scan", LaserScan)
numbers = itertools.count(1)


def measure() -> None:
    if camera.listeners == 0 or laser.listeners == 0:
        return
    number = next(numbers)
    taken_ns = number * 100_000_000
    camera.publish(Image(header=Header(stamp_ns=taken_ns)))
    if number != 3:
        laser.publish(LaserScan(header=Header(stamp_ns=taken_ns + 20_000_000)))


node.every(measure, period_ms=20)
node.spin()
