"""A building with a corridor around a block, a robot that drives round it, and its sensors."""

from typing import Any

import hyphos
import numpy as np
import numpy.typing as npt
from hyphos.msgs import Odometry, PoseStamped, Quaternion

Array = npt.NDArray[np.float64]
WALL = 2.4  # m, height
HALF = np.array([5.5, 3.0])  # m, of the route
CORNER = 1.0  # m, radius


def rectangle(x0: float, y0: float, x1: float, y1: float) -> list[list[float]]:
    """The four walls of a rectangle, as x0, y0, x1, y1."""
    corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return [[*corners[i], *corners[(i + 1) % 4]] for i in range(4)]


WALLS = np.array(
    rectangle(-7, -4.5, 7, 4.5)
    + rectangle(-4, -1.5, 4, 1.5)
    + [wall for x, y in ((-7, 0), (7, 0), (-1.5, 4.5), (3, -4.5), (5, 4.5))
       for wall in rectangle(x - 0.4, y - 0.4, x + 0.4, y + 0.4)]
)  # fmt: skip


def compose(a: Array, b: Array) -> Array:
    """The pose b, relative to a, as x, y, yaw."""
    c, s = np.cos(a[2]), np.sin(a[2])
    return np.array([a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2]])


def between(a: Array, b: Array) -> Array:
    """The pose of b in the frame of a."""
    c, s = np.cos(a[2]), np.sin(a[2])
    dx, dy = b[0] - a[0], b[1] - a[1]
    return np.array([c * dx + s * dy, c * dy - s * dx, b[2] - a[2]])


def length_of_route() -> float:
    return float(4 * (HALF - CORNER).sum() + 2 * np.pi * CORNER)


def route(distance: float) -> Array:
    """The pose on the route, a rectangle with round corners."""
    straight = 2 * (HALF - CORNER)
    left = distance % length_of_route()
    at = np.array([-straight[0] / 2, -HALF[1], 0.0])
    for side in range(4):
        run = straight[side % 2]
        if left <= run:
            return compose(at, np.array([left, 0, 0]))
        at, left = compose(at, np.array([run, 0, 0])), left - run
        arc = CORNER * np.pi / 2
        if left <= arc:
            turn = left / CORNER
            x, y = CORNER * np.sin(turn), CORNER * (1 - np.cos(turn))
            return compose(at, np.array([x, y, turn]))
        at, left = compose(at, np.array([CORNER, CORNER, np.pi / 2])), left - arc
    return at


def ranges(pose: Array, angles: Array) -> Array:
    """The distance to the first wall in each direction."""
    d = np.column_stack([np.cos(angles + pose[2]), np.sin(angles + pose[2])])[:, np.newaxis]
    start, edge = WALLS[:, :2] - pose[:2], WALLS[:, 2:] - WALLS[:, :2]
    across = d[..., 0] * edge[:, 1] - d[..., 1] * edge[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        far = (start[:, 0] * edge[:, 1] - start[:, 1] * edge[:, 0]) / across
        part = (start[:, 0] * d[..., 1] - start[:, 1] * d[..., 0]) / across
    hit = (far > 0) & (part >= 0) & (part <= 1)
    return np.asarray(np.where(hit, far, np.inf).min(axis=1))


def sweep(pose: Array, noise: Array) -> npt.NDArray[np.float32]:
    """One turn of a lidar with 8 rings: points on walls, in the frame of the robot."""
    angles = np.linspace(-np.pi, np.pi, noise.size, endpoint=False)
    far = ranges(pose, angles) + noise
    flat = np.column_stack([far * np.cos(angles), far * np.sin(angles)])
    rings = []
    for elevation in np.radians(np.linspace(-14, 24, 8)):
        z = 0.5 + far * np.tan(elevation)
        rings.append(np.column_stack([flat, z])[(z > 0) & (z < WALL)])
    return np.concatenate(rings).astype(np.float32)


def picture(pose: Array, width: int = 320, height: int = 180) -> npt.NDArray[np.uint8]:
    """The view of a camera at the front: walls, darker with the distance."""
    columns = (np.arange(width) - width / 2) / (width / 2)
    far = np.minimum(ranges(pose, -np.arctan(columns)), 50) / np.sqrt(1 + columns**2)
    rows = np.arange(height)[:, np.newaxis] - height / 2
    wall = np.abs(rows) < 0.5 * height / np.maximum(far, 0.1)
    shade = np.clip(230 - 22 * far, 50, 230)
    floor = np.where(rows > 0, 90 - 40 * (1 - rows / height), 45) * np.ones(width)
    return np.where(wall, shade, floor)[..., np.newaxis].repeat(3, axis=2).astype(np.uint8)


class World:
    """Publishes `odom` with an error that grows, `scan`, `image`, and `loop` at the end of each
    round: the pose relative to the start, as place recognition gives it."""

    def __init__(self, node: hyphos.Node) -> None:
        self._node = node
        self._speed = float(node.param("speed_m_s", 1.2))
        self._scale = 1 + float(node.param("odometry_scale", 0.015))
        self._bias = float(node.param("odometry_turn_rad_m", 0.008))
        self._noise = np.random.default_rng(int(node.param("seed", 1)))
        self._driven = 0.0
        self._odom = self._true = route(0)
        self._steps = 0
        self._odom_out = node.publisher("odom", Odometry)
        self._loop_out = node.publisher("loop", PoseStamped)
        self._truth_out = node.publisher("truth", PoseStamped)
        self._view = node.view(frame="base")
        self.sense(node.clock.now_ns())  # a view opens a channel with its first message
        node.every(self.step, rate_hz=20)

    def step(self) -> None:
        lap = int(self._driven / length_of_route())
        self._driven += self._speed / 20
        true = route(self._driven)
        moved = between(self._true, true)
        moved[2] = np.remainder(moved[2] + np.pi, 2 * np.pi) - np.pi
        moved[:2] *= self._scale
        moved[2] += self._bias * np.hypot(*moved[:2])
        self._odom, self._true = compose(self._odom, moved), true
        stamp = self._node.clock.now_ns()
        self._odom_out.publish(odometry(self._odom, stamp))
        self._truth_out.publish(stamped(true, "map", stamp))
        if self._steps % 4 == 0:
            self.sense(stamp)
        if int(self._driven / length_of_route()) > lap:
            self._loop_out.publish(stamped(between(route(0), true), "start", stamp))
        self._steps += 1

    def sense(self, stamp: int) -> None:
        noise = self._noise.normal(0, 0.01, 180)
        self._view.points("scan", sweep(self._true, noise), stamp_ns=stamp)
        self._view.image("image", picture(self._true), frame="camera", stamp_ns=stamp)


def turned(yaw: float) -> Quaternion:
    return Quaternion(z=np.sin(yaw / 2), w=np.cos(yaw / 2))


def stamped(pose: Array, frame: str, stamp_ns: int) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id, message.header.stamp_ns = frame, stamp_ns
    message.pose.position.x, message.pose.position.y = pose[:2]
    message.pose.orientation.CopyFrom(turned(pose[2]))
    return message


def odometry(pose: Array, stamp_ns: int) -> Odometry:
    message = Odometry(child_frame_id="base")
    message.header.frame_id, message.header.stamp_ns = "odom", stamp_ns
    message.pose.pose.position.x, message.pose.pose.position.y = pose[:2]
    message.pose.pose.orientation.CopyFrom(turned(pose[2]))
    return message


def flat_pose(pose: Any) -> Array:
    """x, y and yaw of a pose message."""
    turn = pose.orientation
    return np.array([pose.position.x, pose.position.y, 2 * np.arctan2(turn.z, turn.w)])
