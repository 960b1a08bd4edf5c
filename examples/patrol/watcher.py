"""Looks at the camera and the path from Python. Pixels are a view of shared memory, not a copy."""

import hyphos
from hyphos.msgs import Image, Path


class Watcher:
    def __init__(self, node: hyphos.Node) -> None:
        self.pictures = 0
        self.brightness = 0.0
        self.goal = (0.0, 0.0)
        node.subscribe("image", hyphos.Attached[Image], self.on_image)
        node.subscribe("path", Path, self.on_path)
        node.every(self.tell, period_ms=5000)

    def on_image(self, image: hyphos.Attached[Image]) -> None:
        pixels = hyphos.image_to_numpy(image)
        self.pictures += 1
        self.brightness = float(pixels[::16, ::16].mean())

    def on_path(self, path: Path) -> None:
        goal = path.poses[-1].pose.position
        self.goal = (goal.x, goal.y)

    def tell(self) -> None:
        x, y = self.goal
        print(
            f"{self.pictures} pictures, brightness {self.brightness:.0f}, goal {x:.1f}, {y:.1f} m"
        )
