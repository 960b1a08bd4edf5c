"""Finds a red box by a camera, and drives to it."""

from __future__ import annotations

from typing import Any

import hyphos
import numpy as np
from hyphos.msgs import Image, String, Twist

NEAR_M = 1.5  # it stops at this distance


def pixels(image: Any, encoding: str, kind: Any, channels: int) -> Any:
    """The pixels of an image, or None if the message is not what it states."""
    head = image.head
    if head.encoding != encoding or len(image.buffers) == 0:
        return None
    data = np.frombuffer(image.buffers[0].tobytes(), np.uint8)
    if data.size == 0 or data.size != head.height * head.width * channels * np.dtype(kind).itemsize:
        return None
    return data.view(kind).reshape(head.height, head.width, channels)


class Seeker:
    def __init__(self, node: hyphos.Node) -> None:
        self.wheels = node.publisher("cmd_vel", Twist)
        self.found = node.publisher("found", String)
        self.depth: Any = None
        self.done = False
        node.subscribe("depth", hyphos.Attached[Image], self.on_depth)
        node.subscribe("image", hyphos.Attached[Image], self.on_image)

    def on_depth(self, depth: Any) -> None:
        self.depth = pixels(depth, "32FC1", np.float32, 1)

    def on_image(self, image: Any) -> None:
        rgb = pixels(image, "rgb8", np.uint8, 3)
        if rgb is None:
            return
        rgb = rgb.astype(int)
        rows, columns = np.nonzero((rgb[..., 0] > 2 * rgb[..., 1]) & (rgb[..., 0] > 100))
        twist = Twist()
        if len(rows) == 0:
            twist.angular.z = 0.5  # looks around
        else:
            # The depth image of an instant precedes its image.
            known = self.depth is not None and self.depth.shape[:2] == rgb.shape[:2]
            away = float(np.median(self.depth[rows, columns])) if known else 10.0
            off = (image.head.width - 1) / 2 - float(columns.mean())
            twist.angular.z = 0.01 * off
            twist.linear.x = 1.0 if away > NEAR_M else 0.0
            if away <= NEAR_M and not self.done:
                self.done = True
                at = image.head.header.stamp_ns * 1e-9
                self.found.publish(String(data=f"found at {at:.1f} s, {away:.2f} m away"))
        self.wheels.publish(twist)


class Base:
    def __init__(self, node: hyphos.Node) -> None:
        node.subscribe("found", String, lambda told: print(told.data, flush=True))
