"""Brings a ROS recording into the form that the mapper wants: level scans, and odometry.

Odometry is the transform from `odom_frame` to its child in tf; a recording without one is of a
robot that stands still. With `tilt_frame` (the frame that nods, as of a tilting laser) each scan is
levelled: its returns are turned by the nod at that time, and those between `lowest_m` and
`highest_m`, seen from the laser, are seen from above: high enough to be no floor.
"""

import math
from collections import deque

import hyphos
import numpy as np
from hyphos.msgs import LaserScan, Odometry, Quaternion, TfMessage, Transform, TransformStamped

BEAMS = 720  # of a levelled scan, over the full circle


class Frames:
    def __init__(self, node: hyphos.Node) -> None:
        self.odom_frame = node.param("odom_frame", "odom")
        self.tilt_frame = node.param("tilt_frame", "")
        self.lowest_m = node.param("lowest_m", -0.2)
        self.highest_m = node.param("highest_m", 0.6)
        self.tilt: deque[tuple[int, float]] = deque(maxlen=1000)  # stamp in ns, pitch in rad
        self.waiting: deque[LaserScan] = deque(maxlen=50)
        self.has_odometry = False
        self.refusals = hyphos.Refusals(node)
        self.odom = node.publisher("level_odom", Odometry)
        self.scan = node.publisher("level_scan", LaserScan)
        # One channel after the other, in this process: a lock is not needed for `inline` callbacks
        # of one transport, which come one at a time.
        node.subscribe("tf", TfMessage, self.on_tf, mode="inline")
        node.subscribe("scan", LaserScan, self.on_scan, mode="inline")

    def on_tf(self, message: TfMessage) -> None:
        for stamped in message.transforms:
            if not self.is_of_use(stamped):
                continue
            if self.refusals.refuse("tf", unusable_transform(stamped.transform)):
                continue
            stamp_ns = stamped.header.stamp_ns
            if stamped.header.frame_id.strip("/") == self.odom_frame:
                self.has_odometry = True
                odometry = Odometry()
                odometry.header.stamp_ns = stamp_ns
                odometry.pose.pose.position.x = stamped.transform.translation.x
                odometry.pose.pose.position.y = stamped.transform.translation.y
                odometry.pose.pose.orientation.CopyFrom(stamped.transform.rotation)
                self.odom.publish(odometry)
            if self.tilt_frame and stamped.child_frame_id.strip("/") == self.tilt_frame:
                if self.tilt and stamp_ns < self.tilt[-1][0]:
                    self.tilt.clear()  # time was set back
                self.tilt.append((stamp_ns, pitch(stamped.transform.rotation)))
        self.flush()

    def is_of_use(self, stamped: TransformStamped) -> bool:
        frame, child = stamped.header.frame_id.strip("/"), stamped.child_frame_id.strip("/")
        return frame == self.odom_frame or (self.tilt_frame != "" and child == self.tilt_frame)

    def on_scan(self, scan: LaserScan) -> None:
        if self.refusals.refuse("scan", unusable_scan(scan)):
            return
        if len(self.waiting) == self.waiting.maxlen:
            self.refusals.refuse("scan", f"no transform of {self.tilt_frame} came for its time")
        self.waiting.append(scan)
        self.flush()

    def flush(self) -> None:
        """Publishes the scans whose nod is known."""
        while self.waiting:
            stamp_ns = self.waiting[0].header.stamp_ns
            if self.tilt_frame and (not self.tilt or self.tilt[-1][0] < stamp_ns):
                return
            scan = self.waiting.popleft()
            if self.tilt_frame:
                stamps, angles = zip(*self.tilt, strict=True)
                nod = float(np.interp(stamp_ns, stamps, angles))
                scan = level(scan, nod, self.lowest_m, self.highest_m)
            if not self.has_odometry:
                still = Odometry()
                still.header.stamp_ns = stamp_ns
                still.pose.pose.orientation.w = 1.0
                self.odom.publish(still)
            self.scan.publish(scan)


def pitch(q: Quaternion) -> float:
    return math.asin(max(-1.0, min(1.0, 2 * (q.w * q.y - q.z * q.x))))


def unusable_transform(transform: Transform) -> str:
    """Why a transform cannot be used; "" if it can."""
    place, q = transform.translation, transform.rotation
    if not all(map(math.isfinite, (place.x, place.y, place.z))):
        return "a translation is not finite"
    norm = math.hypot(q.x, q.y, q.z, q.w)
    return "" if 0.95 < norm < 1.05 else "a rotation is no unit quaternion"


def unusable_scan(scan: LaserScan) -> str:
    """Why a scan cannot be levelled; "" if it can. The mapper checks what is left."""
    if scan.header.stamp_ns == 0:
        return "the stamp is 0, which means unset"
    if not scan.ranges:
        return "it has no ranges"
    if not all(map(math.isfinite, (scan.angle_min, scan.angle_increment))):
        return "an angle is not finite"
    if abs(scan.angle_increment) * len(scan.ranges) > 4 * math.pi or abs(scan.angle_min) > 13:
        return "the angles span more than two turns"
    # Written so that NaN is refused.
    return "" if 0 <= scan.range_min < math.inf and scan.range_max >= 0 else "a limit is no range"


def level(scan: LaserScan, nod: float, lowest_m: float, highest_m: float) -> LaserScan:
    """The scan as a level laser would have seen it: per direction the nearest return."""
    ranges = np.asarray(scan.ranges, np.float32)
    angles = scan.angle_min + scan.angle_increment * np.arange(len(ranges))
    most = scan.range_max or np.inf  # 0 is the limit of a driver that sets none
    good = np.isfinite(ranges) & (ranges > 0) & (ranges >= scan.range_min) & (ranges < most)
    ranges = np.where(good, ranges, 0)
    forward = ranges * np.cos(angles)
    x, y, z = forward * math.cos(nod), ranges * np.sin(angles), -forward * math.sin(nod)
    good &= (z > lowest_m) & (z < highest_m)
    beams = np.floor((np.arctan2(y, x)[good] + math.pi) / (2 * math.pi) * BEAMS).astype(int) % BEAMS
    flat = np.full(BEAMS, np.inf, np.float32)
    np.minimum.at(flat, beams, np.hypot(x, y)[good])
    out = LaserScan()
    out.header.CopyFrom(scan.header)
    out.angle_increment = 2 * math.pi / BEAMS
    out.angle_min = -math.pi + out.angle_increment / 2
    out.angle_max = math.pi - out.angle_increment / 2
    out.range_min, out.range_max = scan.range_min, scan.range_max
    # Directions without a return near the laser's height say nothing, not that all is free.
    flat[np.isinf(flat)] = np.nan
    out.ranges.extend(flat.tolist())
    return out
