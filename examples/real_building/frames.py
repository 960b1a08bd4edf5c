"""Converts a ROS recording to the mapper's input: level scans, and odometry.

Odometry is the transform from `odom_frame` to its child in tf. A recording without one is taken for
a robot that stands still. With `tilt_frame`, the moving frame of a nodding laser, the node levels
each scan: it turns the returns by the nod at that time. It keeps the returns between `lowest_m` and
`highest_m`, relative to the laser, and projects them to the ground plane. `lowest_m` excludes the
floor.
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
        # `inline` callbacks of one transport come one at a time, so these two need no lock.
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
                    self.tilt.clear()  # the clock was set back
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
        """Publishes the scans with a known nod."""
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
    """The reason why a transform cannot be used, or "" if it can."""
    place, q = transform.translation, transform.rotation
    if not all(map(math.isfinite, (place.x, place.y, place.z))):
        return "a translation is not finite"
    norm = math.hypot(q.x, q.y, q.z, q.w)
    return "" if 0.95 < norm < 1.05 else "a rotation is not a unit quaternion"


def unusable_scan(scan: LaserScan) -> str:
    """The reason why a scan cannot be levelled, or "" if it can. The mapper checks the rest."""
    if scan.header.stamp_ns == 0:
        return "the stamp is 0, which means unset"
    if not scan.ranges:
        return "it has no ranges"
    if not all(map(math.isfinite, (scan.angle_min, scan.angle_increment))):
        return "an angle is not finite"
    if abs(scan.angle_increment) * len(scan.ranges) > 4 * math.pi or abs(scan.angle_min) > 13:
        return "the angles span more than two turns"
    # Written so that NaN is refused.
    return "" if 0 <= scan.range_min < math.inf and scan.range_max >= 0 else "a limit is invalid"


def level(scan: LaserScan, nod: float, lowest_m: float, highest_m: float) -> LaserScan:
    """Converts a scan to the view of a level laser: the nearest return per direction."""
    ranges = np.asarray(scan.ranges, np.float32)
    angles = scan.angle_min + scan.angle_increment * np.arange(len(ranges))
    most = scan.range_max or np.inf  # 0 means that the driver sets no limit
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
    # A direction without a return near the laser's height is unknown, not free.
    flat[np.isinf(flat)] = np.nan
    out.ranges.extend(flat.tolist())
    return out
