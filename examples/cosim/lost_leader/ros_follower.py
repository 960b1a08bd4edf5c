#!/usr/bin/python3
"""The follower as a program of ROS 1. It knows nothing of Hyphos or of a simulation."""

# mypy: disable-error-code="import-not-found,misc"
import rospy
from chase import Chase, yaw_of
from geometry_msgs.msg import PointStamped, Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan


class Follower:
    def __init__(self) -> None:
        self.chase = Chase()
        self.command = rospy.Publisher("cmd_vel", Twist, queue_size=None)
        rospy.Subscriber("ahead/position", PointStamped, self.on_position)
        rospy.Subscriber("scan", LaserScan, self.on_scan)
        rospy.Subscriber("odom", Odometry, self.on_odometry)

    def on_position(self, position: PointStamped) -> None:
        there = position.point
        tell(self.chase.on_position(rospy.get_time(), there.x, there.y))

    def on_scan(self, scan: LaserScan) -> None:
        self.chase.on_scan(scan.angle_min, scan.angle_increment, list(scan.ranges), scan.range_max)

    def on_odometry(self, odometry: Odometry) -> None:
        here, q = odometry.pose.pose.position, odometry.pose.pose.orientation
        now = rospy.get_time()
        speed, turn, news = self.chase.on_odometry(now, here.x, here.y, yaw_of(q.z, q.w))
        tell(news)
        twist = Twist()
        twist.linear.x, twist.angular.z = speed, turn
        self.command.publish(twist)


def tell(news: str) -> None:
    if news:
        print(news, flush=True)


rospy.init_node("follower")
follower = Follower()
rospy.spin()
