"""The follower as a node of Hyphos."""

# mypy: disable-error-code="import-not-found,misc"
import math

import hyphos
from chase import Chase, yaw_of
from hyphos.msgs import LaserScan, Odometry, PointStamped, Twist


class Follower:
    def __init__(self, node: hyphos.Node) -> None:
        self.clock = node.clock
        self.chase = Chase()
        self.refusals = hyphos.Refusals(node)
        self.command = node.publisher("cmd_vel", Twist)
        node.subscribe("ahead/position", PointStamped, self.on_position)
        node.subscribe("scan", LaserScan, self.on_scan)
        node.subscribe("odom", Odometry, self.on_odometry)

    def now_s(self) -> float:
        return self.clock.now_ns() * 1e-9

    def on_position(self, position: PointStamped) -> None:
        there = position.point
        if self.refusals.refuse("ahead/position", unusable(there.x, there.y)):
            return
        tell(self.chase.on_position(self.now_s(), there.x, there.y))

    def on_scan(self, scan: LaserScan) -> None:
        self.chase.on_scan(scan.angle_min, scan.angle_increment, list(scan.ranges), scan.range_max)

    def on_odometry(self, odometry: Odometry) -> None:
        here, q = odometry.pose.pose.position, odometry.pose.pose.orientation
        if self.refusals.refuse("odom", unusable(here.x, here.y, q.z, q.w)):
            return
        now = self.now_s()
        speed, turn, news = self.chase.on_odometry(now, here.x, here.y, yaw_of(q.z, q.w))
        tell(news)
        twist = Twist()
        twist.linear.x, twist.angular.z = speed, turn
        self.command.publish(twist)


def tell(news: str) -> None:
    if news:
        print(f"follower: {news}", flush=True)


def unusable(*values: float) -> str:
    return "" if all(map(math.isfinite, values)) else "a number is not finite"
