"""Flies behind another robot at a fixed height and faces it. The other robot sends its position."""

import math

import hyphos
from hyphos.msgs import Odometry, PointStamped, Twist


class Escort:
    def __init__(self, node: hyphos.Node) -> None:
        self.clock = node.clock
        self.distance_m = node.param("distance_m", 4.0)
        self.height_m = node.param("height_m", 8.0)
        self.here: Odometry | None = None
        self.there: PointStamped | None = None
        self.refusals = hyphos.Refusals(node)
        self.command = node.publisher("cmd_vel", Twist)
        node.subscribe("odom", Odometry, self.on_odometry)
        node.subscribe("ahead/position", PointStamped, self.on_position)
        node.every(self.fly, period_ms=50)

    def on_odometry(self, odometry: Odometry) -> None:
        if not self.refusals.refuse("odom", unusable(odometry)):
            self.here = odometry

    def on_position(self, position: PointStamped) -> None:
        if not self.refusals.refuse("ahead/position", unusable_place(position)):
            self.there = position

    def heard_lately(self, position: PointStamped) -> bool:
        return abs(self.clock.now_ns() - position.header.stamp_ns) < 1e9

    def fly(self) -> None:
        twist = Twist()  # zero: hover if the other robot was silent for a second
        if self.here and self.there and self.heard_lately(self.there):
            pose = self.here.pose.pose
            q = pose.orientation
            dx = self.there.point.x - pose.position.x
            dy = self.there.point.y - pose.position.y
            yaw = math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))
            off = math.remainder(math.atan2(dy, dx) - yaw, 2 * math.pi)
            speed = min(max(math.hypot(dx, dy) - self.distance_m, -2.0), 5.0)
            twist.linear.x = speed * math.cos(off)
            twist.linear.y = speed * math.sin(off)
            twist.linear.z = min(max(self.height_m - pose.position.z, -1.0), 1.0)
            twist.angular.z = min(max(2 * off, -1.5), 1.5)
        self.command.publish(twist)


def unusable(odometry: Odometry) -> str:
    """The reason why a message cannot be used, or "" if it can."""
    here, q = odometry.pose.pose.position, odometry.pose.pose.orientation
    if not all(map(math.isfinite, (here.x, here.y, here.z))):
        return "the position is not finite"
    norm = math.hypot(q.x, q.y, q.z, q.w)
    return "" if 0.1 < norm < math.inf else "the orientation is unset or not finite"


def unusable_place(position: PointStamped) -> str:
    there = position.point
    return "" if math.isfinite(there.x) and math.isfinite(there.y) else "it is not finite"
