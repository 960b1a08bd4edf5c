"""The odometer in Python: a struct has a name and a layout, and arrives as a NumPy record."""

import sys
from typing import Any

import hyphos

Wheel = hyphos.Struct("example.Wheel", [("id", "u4"), ("speed_m_s", "f8")])


def show(wheel: Any) -> None:
    print(f"wheel {wheel.id} turns at {wheel.speed_m_s:.1f} m/s", flush=True)


node = hyphos.Node.open("odometer", sys.argv)
node.subscribe("wheel", Wheel, show)
node.spin()
