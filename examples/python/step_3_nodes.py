"""Step 3: nodes for the plan step_3_robot.yaml. Start them with

hyphos run examples/python/step_3_robot.yaml --live
"""

import math

import hyphos
from hyphos.msgs import Odometry, Twist


class Driver:
    """Drives a circle. The plan sets its radius."""

    def __init__(self, node: hyphos.Node) -> None:
        self.radius = node.param("radius_m", 1.0)
        self.cmd = node.publisher("cmd_vel", Twist)
        node.every(self.steer, rate_hz=20)

    def steer(self) -> None:
        twist = Twist()
        twist.linear.x = 0.5
        twist.angular.z = twist.linear.x / self.radius
        self.cmd.publish(twist)


class Wheels:
    """A robot that follows each command at once and publishes its position."""

    def __init__(self, node: hyphos.Node) -> None:
        self.x = self.y = self.heading = 0.0
        self.twist = Twist()
        self.refusals = hyphos.Refusals(node)
        self.odom = node.publisher("odom", Odometry)
        node.subscribe("cmd_vel", Twist, self.on_cmd)
        node.every(self.move, period_ms=10)

    def on_cmd(self, twist: Twist) -> None:
        if not self.refusals.refuse("cmd_vel", unusable(twist)):
            self.twist = twist

    def move(self) -> None:
        self.heading += self.twist.angular.z * 0.01
        self.x += self.twist.linear.x * math.cos(self.heading) * 0.01
        self.y += self.twist.linear.x * math.sin(self.heading) * 0.01
        odometry = Odometry(child_frame_id="base")
        odometry.pose.pose.position.x = self.x
        odometry.pose.pose.position.y = self.y
        odometry.pose.pose.orientation.z = math.sin(self.heading / 2)
        odometry.pose.pose.orientation.w = math.cos(self.heading / 2)
        self.odom.publish(odometry)


class Judge:
    """Measures the diameter of the circle: the distance between its lowest and highest point."""

    def __init__(self, node: hyphos.Node) -> None:
        self.low = self.high = 0.0
        self.refusals = hyphos.Refusals(node)
        node.subscribe("odom", Odometry, self.on_odom)

    def on_odom(self, odometry: Odometry) -> None:
        y = odometry.pose.pose.position.y
        if self.refusals.refuse("odom", "" if math.isfinite(y) else "y is not finite"):
            return
        self.low, self.high = min(self.low, y), max(self.high, y)

    def close(self) -> None:
        print(f"so far {self.high - self.low:.2f} m across", flush=True)


def unusable(twist: Twist) -> str:
    """The reason why a command cannot be used, or "" if it can."""
    # Written so that NaN is refused.
    fine = abs(twist.linear.x) < 100 and abs(twist.angular.z) < 100
    return "" if fine else "the speed is not finite, or beyond 100 m/s or rad/s"
