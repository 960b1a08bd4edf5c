"""The fusion in Python. Images with the scans that belong to them, at most 50 ms apart."""

import sys
from typing import Any

import hyphos
from hyphos.msgs import Image, LaserScan


def fuse(image: hyphos.Attached[Any], scan: Any) -> None:
    taken_ns = image.head.header.stamp_ns
    later_ms = (scan.header.stamp_ns - taken_ns) // 1_000_000
    print(f"image {taken_ns // 100_000_000} with a scan {later_ms} ms later", flush=True)


node = hyphos.Node.open("fusion", sys.argv)
node.synchronize({"camera": hyphos.Attached[Image], "scan": LaserScan}, fuse, max_interval_ms=50)
node.spin()
