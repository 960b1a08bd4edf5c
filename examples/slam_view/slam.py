"""A small SLAM: keyframes from odometry, and a loop closure that corrects all of them."""

import hyphos
import numpy as np
import numpy.typing as npt
from hyphos.msgs import Odometry, PointCloud, PoseStamped
from world import (  # type: ignore[import-not-found]  # beside the plan
    Array,
    between,
    compose,
    flat_pose,
)

MOST_KEYFRAMES = 400
MOST_M = 1e4  # of a coordinate


def unusable(pose: Array) -> str:
    """The reason why a pose cannot be used, or "" if it can."""
    # Written so that NaN is refused.
    return "" if np.all(np.abs(pose) < MOST_M) else "the pose is not finite, or beyond 10 km"


def corrected(poses: Array, last: Array) -> Array:
    """The chain of poses with the end moved to `last`. The error grows with the driven distance, so
    it is divided by the distance."""
    steps = np.hypot(*np.diff(poses[:, :2], axis=0).T)
    share = np.concatenate([[0], np.cumsum(steps)]) / max(steps.sum(), 1e-9)
    turn = np.remainder(last[2] - poses[-1, 2] + np.pi, 2 * np.pi) - np.pi
    made = poses.copy()
    made[:, 2] += share * turn
    for i in range(1, len(poses)):
        made[i, :2] = compose(made[i - 1], between(poses[i - 1], poses[i]))[:2]
    made[:, :2] += share[:, np.newaxis] * (last[:2] - made[-1, :2])
    return made


class Slam:
    """Publishes the corrected trajectory and the map, to be seen, and the transform of the robot.

    A message has the whole map: after a loop closure all of it has moved.
    """

    def __init__(self, node: hyphos.Node) -> None:
        self._node = node
        self._spacing = float(node.param("keyframe_m", 0.25))
        self._poses: Array = np.zeros((0, 3))
        self._clouds: list[npt.NDArray[np.float32]] = []
        self._start: Array | None = None
        self._closed = 0  # keyframes before this one are final
        self._to_map = np.zeros(3)  # the frame odom in the frame map
        self._odom = np.zeros(3)
        self._frames = node.transforms()
        self._frames.set_static(hyphos.Transform("base", "camera", (0.2, 0, 0.5)))
        self._view = node.view(frame="map")
        self._refusals = hyphos.Refusals(node)
        # The callbacks share the state, so they take turns.
        group = node.callback_group()
        node.subscribe("odom", Odometry, self.on_odom, group=group)
        node.subscribe("scan", hyphos.Attached[PointCloud], self.on_scan, group=group)
        node.subscribe("loop", PoseStamped, self.on_loop, group=group)
        node.subscribe("truth", PoseStamped, self.on_truth, group=group)

    @property
    def pose(self) -> Array:
        return compose(self._to_map, self._odom)

    def on_odom(self, odom: Odometry) -> None:
        pose = flat_pose(odom.pose.pose)
        if self._refusals.refuse("odom", unusable(pose)):
            return
        self._odom = pose
        x, y, yaw = self.pose
        stamp = odom.header.stamp_ns
        at = hyphos.Transform("map", "base", (x, y, 0), roll_pitch_yaw=(0, 0, yaw), stamp_ns=stamp)
        self._frames.set(at)

    def on_scan(self, cloud: hyphos.Attached[PointCloud]) -> None:
        pose = self.pose
        if len(self._poses) and np.hypot(*(pose - self._poses[-1])[:2]) < self._spacing:
            return
        try:
            table = hyphos.cloud_to_numpy(cloud).reshape(-1)
            points = np.column_stack([table[axis] for axis in "xyz"]).astype(np.float32)
        except ValueError as error:  # of another size, or without these fields
            self._refusals.refuse("scan", str(error))
            return
        points = points[np.abs(points).max(axis=1, initial=0) < MOST_M]
        if self._start is None:
            self._start = pose
        self._poses = np.vstack([self._poses, pose])[-MOST_KEYFRAMES:]
        self._clouds = [*self._clouds, points][-MOST_KEYFRAMES:]
        self.show()

    def on_loop(self, loop: PoseStamped) -> None:
        back = flat_pose(loop.pose)
        if self._start is None or self._refusals.refuse("loop", unusable(back)):
            return
        true = compose(self._start, back)
        chain = np.vstack([self._poses[self._closed :], self.pose])
        moved = float(np.hypot(*(true - self.pose)[:2]))
        self._poses[self._closed :] = corrected(chain, true)[:-1]
        self._to_map = compose(true, between(self._odom, np.zeros(3)))
        self._closed = len(self._poses) - 1
        self._node.log.info(f"loop closed: the end moved by {moved:.2f} m")
        self.show()

    def on_truth(self, truth: PoseStamped) -> None:
        true = flat_pose(truth.pose)
        if self._refusals.refuse("truth", unusable(true)):
            return
        error = self.pose - true
        self._view.scalar("error_m", float(np.hypot(*error[:2])))

    def show(self) -> None:
        self._view.path("re_optimized_poses", self._poses[:, :2], yaw=self._poses[:, 2])
        world = np.concatenate(
            [placed(p, c) for p, c in zip(self._poses, self._clouds, strict=True)]
        )
        self._view.points("lidar_visual_channel", world)


def placed(pose: Array, points: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Points of the robot's frame in the frame of its pose."""
    c, s = np.float32(np.cos(pose[2])), np.float32(np.sin(pose[2]))
    turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]], np.float32)
    return points @ turn + np.array([pose[0], pose[1], 0], np.float32)
