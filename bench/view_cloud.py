"""The cloud of bench/view_robot.cpp for other viewers. It runs in the Python of each of them.

    view_cloud.py ros      publishes sensor_msgs/PointCloud2 and nav_msgs/Odometry (python3-rospy)
    view_cloud.py rerun URL  logs Points3D to a viewer (rerun-sdk)

Each line of stdin is "RATE TOTAL", as for bench_view_robot.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

POINTS = 2_000  # of a message


def cloud(number: int) -> Any:
    """One message: rows of x, y, z and intensity."""
    i = np.arange(POINTS)
    along = number * 0.02 + 0.0001 * (i % 200)
    angle = 0.6283 * (i // 200) + 0.01 * number
    rows = np.empty((POINTS, 4), np.float32)
    rows[:, 0] = along - 25
    rows[:, 1] = 4 * np.cos(angle) + 0.1 * np.sin(along * 9)
    rows[:, 2] = 2 * np.sin(angle) + 2
    rows[:, 3] = i % 256
    return rows


class Ros:
    def __init__(self) -> None:
        import rospy  # type: ignore[import-not-found]  # noqa: PLC0415
        from nav_msgs.msg import Odometry  # noqa: PLC0415
        from sensor_msgs.msg import PointCloud2, PointField  # noqa: PLC0415

        rospy.init_node("robot", disable_signals=True)
        self.now = rospy.Time.now
        self.cloud_type, self.odometry_type = PointCloud2, Odometry
        names = ("x", "y", "z", "intensity")
        self.fields = [PointField(name, at * 4, 7, 1) for at, name in enumerate(names)]
        self.cloud = rospy.Publisher("cloud", PointCloud2, queue_size=1000)
        self.odometry = rospy.Publisher("odom", Odometry, queue_size=100)
        while self.cloud.get_num_connections() == 0:
            time.sleep(0.05)

    def publish(self, number: int) -> None:
        message = self.cloud_type(height=1, width=POINTS, point_step=16, row_step=POINTS * 16)
        message.header.stamp, message.header.frame_id = self.now(), "map"
        message.fields, message.is_dense = self.fields, True
        message.data = cloud(number).tobytes()
        self.cloud.publish(message)

    def pose(self, number: int) -> None:
        message = self.odometry_type(child_frame_id="base")
        message.header.stamp, message.header.frame_id = self.now(), "map"
        message.pose.pose.position.x = number * 0.02 - 25
        message.pose.pose.orientation.w = 1
        self.odometry.publish(message)


class Rerun:
    def __init__(self, url: str) -> None:
        import rerun as rr  # noqa: PLC0415
        import rerun.blueprint as rrb  # noqa: PLC0415

        self.rr = rr
        rr.init("bench_view")
        rr.connect_grpc(url)
        everything = rr.VisibleTimeRange(
            "time",
            start=rr.TimeRangeBoundary.infinite(),
            end=rr.TimeRangeBoundary.infinite(),
        )
        view = rrb.Spatial3DView(origin="/", time_ranges=[everything])
        rr.send_blueprint(rrb.Blueprint(view, collapse_panels=True))
        steps = np.linspace(0, 1, 256)
        self.colors = np.stack(
            [255 * steps, 255 * (1 - abs(2 * steps - 1)), 255 * (1 - steps)], axis=1
        ).astype(np.uint8)

    def publish(self, number: int) -> None:
        rows = cloud(number)
        self.rr.set_time("time", duration=number * 0.1)
        self.rr.log(
            "cloud",
            self.rr.Points3D(
                rows[:, :3],
                colors=self.colors[rows[:, 3].astype(int)],
                radii=self.rr.Radius.ui_points(1),
            ),
        )

    def pose(self, number: int) -> None:
        self.rr.log("odom", self.rr.Transform3D(translation=[number * 0.02 - 25, 0, 0]))


def main() -> None:
    to: Ros | Rerun = Ros() if sys.argv[1] == "ros" else Rerun(sys.argv[2])
    number = 0
    for line in sys.stdin:
        rate, total = (float(word) for word in line.split())
        due = time.monotonic()
        pose_due = due
        while rate > 0 and number * POINTS < total:
            time.sleep(max(0.0, due - time.monotonic()))
            to.publish(number)
            if due >= pose_due:
                to.pose(number)
                pose_due += 0.1
            due += POINTS / rate
            number += 1
        print(number * POINTS, number, flush=True)


if __name__ == "__main__":
    main()
