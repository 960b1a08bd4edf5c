"""The time for Foxglove: the wall clock, or the simulated or replayed time of the robot."""

from __future__ import annotations

import time
from collections.abc import Callable

from hyphos import _hyphos
from hyphos._hyphos import MessageInfo, Policy, Subscription
from hyphos.msgs import Clock
from hyphos.node import Node
from hyphos.observe import Look

_TICK_S = 0.01  # shortest time between two ticks


class RobotTime:
    """The time of messages for Foxglove, and the ticks of a simulated time. Thread-safe except
    look().

    Messages of a robot in real time get the wall clock at publish(), as in recordings: the current
    time minus the latency of the message. With simulated time they get that time at arrival.
    """

    def __init__(self, node: Node, tick: Callable[[int], None]) -> None:
        self._node = node
        self._tick = tick
        self._subscription: Subscription | None = None
        self._channel = ""
        self._now_ns = self._told_ns = 0
        self._told_s = 0.0

    @property
    def simulated(self) -> bool:
        return self._subscription is not None

    @property
    def now_ns(self) -> int:
        """The present time of the robot in nanoseconds since its epoch."""
        return self._now_ns if self.simulated else time.time_ns()

    def look(self, now: Look) -> None:
        """Follows the clock of the robot's processes."""
        if self._now_ns != self._told_ns:  # the last of many ticks was not published yet
            self._say(self._now_ns)
        channels = [p.clock.channel for p in now.processes if p.clock.mode == "sim"]
        wanted = channels[0] if channels else ""
        if wanted == self._channel:
            return
        if self._subscription is not None:
            self._subscription.close()
            self._subscription = None
        self._channel, self._now_ns, self._told_ns = wanted, 0, 0
        if wanted:
            policy = Policy(latched=True, depth=1)
            self._subscription = self._node.subscribe(wanted, Clock, self._came, policy=policy)

    def _came(self, clock: Clock) -> None:
        self._now_ns = max(0, clock.clock_ns)
        if time.monotonic() - self._told_s >= _TICK_S:
            self._say(self._now_ns)

    def _say(self, now_ns: int) -> None:
        self._told_s, self._told_ns = time.monotonic(), now_ns
        self._tick(now_ns)

    def of(self, info: MessageInfo) -> int:
        """The time of a message in nanoseconds since the epoch of the robot's time."""
        if self._subscription is not None and self._now_ns:
            return self._now_ns
        return time.time_ns() - max(0, _hyphos.monotonic_ns() - info.stamps["publish"])
