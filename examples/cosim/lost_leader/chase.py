"""A follower that searches a leader whose messages it no longer receives. It is independent of any
middleware: the nodes of Hyphos and of ROS beside this file pass their messages on to it."""

import math

SILENT_S = 1.0  # without a position for this long, the leader is lost
GAP_M = 4.0
FAST = 1.7  # m/s
TURN = 1.5  # rad/s
CLEAR_M = 2.5  # free space ahead, below which the follower turns away
SIDE_M = 1.2  # least distance to a wall beside it


class Chase:
    def __init__(self) -> None:
        self.here: tuple[float, float, float] | None = None  # x, y, yaw
        self.heard: list[tuple[float, float, float]] = []  # t, x, y of the leader
        self.beams: list[tuple[float, float]] = []  # angle, range
        self.lost_at: float | None = None
        self.losses = 0
        self.side = 0.0  # of a wall that it follows: +1 left, -1 right
        self.away_m = 0.0  # the longest distance to the leader when it was found

    def on_position(self, t: float, x: float, y: float) -> str:
        """Returns a line to report, or ""."""
        if not (math.isfinite(x) and math.isfinite(y)):
            return ""
        self.heard = [*self.heard[-9:], (t, x, y)]
        if self.lost_at is None or self.here is None:
            return ""
        silent, self.lost_at, self.side = t - self.lost_at, None, 0.0
        far = math.hypot(x - self.here[0], y - self.here[1])
        return f"found the leader at {t:.1f} s, {far:.1f} m away, after {silent:.1f} s"

    def on_scan(self, first: float, step: float, ranges: list[float], most: float) -> None:
        self.beams = [
            (first + i * step, min(most, r)) for i, r in enumerate(ranges) if not math.isnan(r)
        ]

    def on_odometry(self, t: float, x: float, y: float, yaw: float) -> tuple[float, float, str]:
        """Returns speed and turn, and a line to report, or ""."""
        self.here = (x, y, yaw)
        if not self.heard:
            return 0.0, 0.0, ""
        told = ""
        if self.lost_at is None and t - self.heard[-1][0] > SILENT_S:
            self.lost_at = self.heard[-1][0]
            self.losses += 1
            told = f"lost the leader at {self.lost_at:.1f} s, its last position is {self._last()}"
        goal = self._goal(t)
        gap = math.hypot(goal[0] - x, goal[1] - y) - (GAP_M if self.lost_at is None else 0.0)
        off = math.remainder(math.atan2(goal[1] - y, goal[0] - x) - yaw, 2 * math.pi)
        speed = min(max(gap, 0.0), FAST) * max(0.0, math.cos(off))
        return *self._around(speed, min(max(2 * off, -TURN), TURN), off), told

    def _last(self) -> str:
        return f"({self.heard[-1][1]:.1f}, {self.heard[-1][2]:.1f})"

    def _goal(self, t: float) -> tuple[float, float]:
        """The leader, or the place at which it should be: on its last course for as long as the
        follower needs to the place of its last message."""
        _, x, y = self.heard[-1]
        first = self.heard[0]
        passed = self.heard[-1][0] - first[0]
        if self.lost_at is None or passed <= 0:
            return x, y
        since = min(t - self.lost_at, 12.0)
        return x + (x - first[1]) / passed * since, y + (y - first[2]) / passed * since

    def _free(self, low: float, high: float) -> float:
        return min((r for angle, r in self.beams if low <= angle <= high), default=math.inf)

    def _around(self, speed: float, turn: float, off: float) -> tuple[float, float]:
        """Keeps clear of walls by the scan: stops in front of them and follows them on one side."""
        ahead = self._free(-0.45, 0.45)
        left, right = self._free(0.45, 1.8), self._free(-1.8, -0.45)
        if ahead < CLEAR_M:
            if self.side == 0.0:
                # Turn to the side with more room: the wall is then on the other one.
                self.side = 1.0 if self._free(0.1, 1.2) < self._free(-1.2, -0.1) else -1.0
            slow = max(0.0, min(1.0, (ahead - 0.8) / (CLEAR_M - 0.8)))
            return speed * slow, -self.side * TURN
        beside = left if self.side > 0 else right
        if self.side != 0.0 and off * self.side > 0 and beside < CLEAR_M:
            # The goal is behind the wall: go along the wall.
            return max(speed, 0.8), -self.side * min(TURN, max(-0.6, 1.2 * (1.6 - beside)))
        self.side = 0.0
        if left < SIDE_M:
            turn = min(turn, -0.5)
        if right < SIDE_M:
            turn = max(turn, 0.5)
        return speed, turn


def yaw_of(z: float, w: float) -> float:
    return 2 * math.atan2(z, w)
