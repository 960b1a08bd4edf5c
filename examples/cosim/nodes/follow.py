"""The Python version of follow.cpp: keeps its robot at a distance from another robot."""

import math

import hyphos
from hyphos.msgs import Odometry, PointStamped, Twist


class Follow:
    def __init__(self, node: hyphos.Node) -> None:
        self.clock = node.clock
        self.distance_m = node.param("distance_m", 5.0)
        self.here: Odometry | None = None
        self.there: PointStamped | None = None
        self.refusals = hyphos.Refusals(node)
        self.command = node.publisher("cmd_vel", Twist)
        node.subscribe("odom", Odometry, self.on_odometry)
        node.subscribe("ahead/position", PointStamped, self.on_position)
        node.every(self.drive, period_ms=50)

    def on_odometry(self, odometry: Odometry) -> None:
        if not self.refusals.refuse("odom", unusable(odometry)):
            self.here = odometry

    def on_position(self, position: PointStamped) -> None:
        if not self.refusals.refuse("ahead/position", unusable_place(position)):
            self.there = position

    def heard_lately(self, position: PointStamped) -> bool:
        return abs(self.clock.now_ns() - position.header.stamp_ns) < 1e9

    def drive(self) -> None:
        twist = Twist()
        if self.here and self.there and self.heard_lately(self.there):
            pose = self.here.pose.pose
            dx = self.there.point.x - pose.position.x
            dy = self.there.point.y - pose.position.y
            yaw = 2 * math.atan2(pose.orientation.z, pose.orientation.w)
            off = math.remainder(math.atan2(dy, dx) - yaw, 2 * math.pi)
            gap = math.hypot(dx, dy) - self.distance_m
            twist.linear.x = min(max(gap, 0.0), 3.0) * max(0.0, math.cos(off))
            twist.angular.z = min(max(2 * off, -2.0), 2.0)
        self.command.publish(twist)


def unusable(odometry: Odometry) -> str:
    """The reason why a message cannot be used, or "" if it can."""
    here, q = odometry.pose.pose.position, odometry.pose.pose.orientation
    if not all(map(math.isfinite, (here.x, here.y))):
        return "the position is not finite"
    # A robot that does not tip over has z or w different from 0. All zeros mean unset.
    norm = math.hypot(q.z, q.w)
    return "" if 0.1 < norm < math.inf else "the orientation is unset or not finite"


def unusable_place(position: PointStamped) -> str:
    there = position.point
    return "" if math.isfinite(there.x) and math.isfinite(there.y) else "it is not finite"
