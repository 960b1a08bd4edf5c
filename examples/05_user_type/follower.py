"""The type and the follower in Python: `hyphos_type`, serialize() and parse()."""

import sys

import hyphos
import numpy as np


class Route:
    hyphos_type = "example.Route"

    def __init__(self, points_m: np.ndarray) -> None:
        self.points_m = points_m

    def serialize(self) -> bytes:
        return self.points_m.astype("<f4").tobytes()

    @staticmethod
    def parse(data: memoryview) -> "Route":
        return Route(np.frombuffer(data, "<f4"))


def follow(route: Route) -> None:
    if refusals.refuse("route", "" if np.isfinite(route.points_m).all() else "it is not finite"):
        return
    if refusals.refuse("route", "" if len(route.points_m) else "it has no points"):
        return
    print(f"{len(route.points_m)} points, the last at {route.points_m[-1]:.1f} m", flush=True)


node = hyphos.Node.open("follower", sys.argv)
refusals = hyphos.Refusals(node)
node.subscribe("route", Route, follow)
node.spin()
