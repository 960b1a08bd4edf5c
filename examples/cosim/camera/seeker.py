"""Finds a red box by a camera, and drives to it."""

from __future__ import annotations

from typing import Any

import hyphos
import numpy as np
from hyphos.msgs import Image, String, Twist

NEAR_M = 1.5  # it stops at this distance


class Seeker:
    def __init__(self, node: hyphos.Node) -> None:
        self.wheels = node.publisher("cmd_vel", Twist)
        self.found = node.publisher("found", String)
        self.depth: Any = None
        self.done = False
        node.subscribe("depth", hyphos.Attached[Image], self.on_depth)
        node.subscribe("image", hyphos.Attached[Image], self.on_image)

    def on_depth(self, depth: Any) -> None:
        head = depth.head
        self.depth = depth.buffers[0].view(np.float32).reshape(head.height, head.width)

    def on_image(self, image: Any) -> None:
        head = image.head
        rgb = image.buffers[0].reshape(head.height, head.width, 3).astype(int)
        rows, columns = np.nonzero((rgb[..., 0] > 2 * rgb[..., 1]) & (rgb[..., 0] > 100))
        twist = Twist()
        if len(rows) == 0:
            twist.angular.z = 0.5  # looks around
        else:
            # The depth image of an instant precedes its image.
            away = float(np.median(self.depth[rows, columns])) if self.depth is not None else 10.0
            off = (head.width - 1) / 2 - float(columns.mean())
            twist.angular.z = 0.01 * off
            twist.linear.x = 1.0 if away > NEAR_M else 0.0
            if away <= NEAR_M and not self.done:
                self.done = True
                at = head.header.stamp_ns * 1e-9
                self.found.publish(String(data=f"found at {at:.1f} s, {away:.2f} m away"))
        self.wheels.publish(twist)


class Base:
    def __init__(self, node: hyphos.Node) -> None:
        node.subscribe("found", String, lambda told: print(told.data, flush=True))
