"""Reads the camera and the path from Python. Pixels are a view of shared memory, not a copy."""

import math

import hyphos
from hyphos.msgs import Image, Path


class Watcher:
    def __init__(self, node: hyphos.Node) -> None:
        self.pictures = 0
        self.brightness = 0.0
        self.goal = (0.0, 0.0)
        self.refusals = hyphos.Refusals(node)
        node.subscribe("image", hyphos.Attached[Image], self.on_image)
        node.subscribe("path", Path, self.on_path)
        node.every(self.tell, period_ms=5000)

    def on_image(self, image: hyphos.Attached[Image]) -> None:
        try:
            pixels = hyphos.image_to_numpy(image)
        except ValueError as error:  # the head does not match the pixels
            self.refusals.refuse("image", str(error))
            return
        if self.refusals.refuse("image", "" if pixels.size else "it has no pixels"):
            return
        self.pictures += 1
        self.brightness = float(pixels[::16, ::16].mean(dtype=float))

    def on_path(self, path: Path) -> None:
        if self.refusals.refuse("path", unusable(path)):
            return
        goal = path.poses[-1].pose.position
        self.goal = (goal.x, goal.y)

    def tell(self) -> None:
        x, y = self.goal
        print(
            f"{self.pictures} pictures, brightness {self.brightness:.0f}, goal {x:.1f}, {y:.1f} m"
        )


def unusable(path: Path) -> str:
    """The reason why a path has no goal, or "" if it has one."""
    if not path.poses:
        return "it has no poses"
    goal = path.poses[-1].pose.position
    return "" if math.isfinite(goal.x) and math.isfinite(goal.y) else "its end is not finite"
