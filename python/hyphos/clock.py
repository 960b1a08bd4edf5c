"""The time of a robot: real, simulated or replayed through one clock. See docs/how-to/time.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hyphos import _hyphos
from hyphos._closing import Closing
from hyphos._timeouts import to_ns

if TYPE_CHECKING:
    from hyphos.node import Node


def _to_ns(value: float, ns_per_unit: float) -> int:
    return round(value * ns_per_unit)


class Clock:
    """The time of this process: `node.clock`. Node code is the same for every source of time.

    Use it for message contents, for transforms and for the decisions of the robot. Message stamps
    and latencies use the monotonic clock instead. Thread-safe. `sleep_*` release the GIL and handle
    Ctrl-C.
    """

    def __init__(self, core: _hyphos.Clock) -> None:
        self._core = core

    def now_ns(self) -> int:
        """Nanoseconds since 1970 UTC. In simulated mode the epoch is that of the simulator, and the
        value is 0 until its first message (see `ready`)."""
        return self._core.now_ns()

    def now_s(self) -> float:
        """now_ns() in seconds. The float rounds it to about a microsecond."""
        return self._core.now_ns() / 1e9

    def base_ns(self) -> int:
        """The time at which the time of this robot began, in nanoseconds."""
        return self._core.base_ns()

    def elapsed_ns(self) -> int:
        """Nanoseconds since `base_ns()`. In real mode it never jumps, even if the wall clock is
        set."""
        return self._core.elapsed_ns()

    def elapsed_s(self) -> float:
        """elapsed_ns() in seconds."""
        return self._core.elapsed_ns() / 1e9

    @property
    def mode(self) -> str:
        """ "real" or "sim"."""
        return self._core.mode

    @property
    def ready(self) -> bool:
        """False in simulated mode until the first message of the clock channel has arrived."""
        return self._core.ready

    @property
    def paused(self) -> bool:
        """True while simulated time is paused. It then changes only on resume or step."""
        return self._core.paused

    @property
    def speed(self) -> float:
        """Seconds of this time per real second. 1 in real mode. 0 if a simulator does not publish
        its speed."""
        return self._core.speed

    @property
    def jumps(self) -> int:
        """The number of times that the clock was set."""
        return self._core.jumps

    def sleep_until(self, *, time_ns: int) -> bool:
        """Blocks until `now_ns() >= time_ns`. Returns False if the wait ended early: the process
        was asked to stop, or the time jumped back."""
        return self._core.sleep_until_ns(time_ns)

    def sleep_for(self, *, duration_ms: float) -> bool:
        """Blocks for a span of this time. Result as of sleep_until()."""
        return self._core.sleep_for_ns(to_ns(max(0, duration_ms)))


class Rate:
    """A loop with a fixed period on a clock, for the program's own threads.

        rate = hyphos.Rate(node.clock, rate_hz=50)
        while rate.sleep():
            work()

    The grid does not drift. In real mode, instants that passed during the work are skipped and
    counted (`skipped`). In simulated mode sleep() returns once for each of them.
    """

    def __init__(
        self, clock: Clock, *, period_ms: float | None = None, rate_hz: float | None = None
    ) -> None:
        if (period_ms is None) == (rate_hz is None):
            raise TypeError("Rate() takes either period_ms or rate_hz")
        period_s = period_ms / 1e3 if period_ms is not None else 1.0 / (rate_hz or float("inf"))
        self._core = _hyphos.Rate(clock._core, _to_ns(period_s, 1e9))

    def sleep(self) -> bool:
        """Waits for the next instant. Returns False once the process has been asked to stop."""
        return self._core.sleep()

    @property
    def skipped(self) -> int:
        """The number of instants that were skipped."""
        return self._core.skipped

    @property
    def period_ms(self) -> float:
        """The period in milliseconds."""
        return self._core.period_ns / 1e6


class SimTime(Closing):
    """The source of a robot's simulated time. It publishes the time on the channel `clock`.

    All processes whose clock is "sim" receive it. The commands `hyphos time pause | resume | step |
    speed | jump` control it. Time advances by itself. With `manual` each `advance()` advances it,
    for simulators with their own step. A robot has one such object. Close it, or use `with`.
    Thread-safe.
    """

    def __init__(
        self,
        node: Node,
        *,
        start_ns: int | None = None,
        speed: float | None = None,
        tick_ms: float = 1.0,
        paused: bool = False,
        manual: bool = False,
        replayed: bool = False,
        channel: str = "",
    ) -> None:
        """`start_ns` is the start time, or now. `speed` is in simulated seconds per real second, or
        that of the plan. `tick_ms` is the simulated time between messages. At most 1000 messages
        are sent per real second. An empty `channel` means that of the plan, or "clock". Raises
        `hyphos.Error`."""
        self._core = _hyphos.SimTime.open(
            node._core,
            start_ns=start_ns,
            speed=speed,
            tick_ns=_to_ns(tick_ms, 1e6),
            paused=paused,
            manual=manual,
            replayed=replayed,
            channel=channel,
        )

    def pause(self) -> None:
        """Stops the time."""
        self._core.pause()

    def resume(self) -> None:
        """Continues the time after pause()."""
        self._core.resume()

    def step(self, *, duration_ms: float) -> None:
        """Advances a paused time by one message. Raises `hyphos.Error` if it is not paused."""
        self._core.step_ns(_to_ns(duration_ms, 1e6))

    def advance(self, *, duration_ms: float, give_up: Callable[[], bool] | None = None) -> bool:
        """Advances a `manual` time. Blocks while it is paused.

        Returns False if the process was asked to stop, or if `give_up()` returned True.
        `give_up()` is called repeatedly during the wait.
        """
        return self._core.advance_ns(_to_ns(duration_ms, 1e6), give_up)

    def set_speed(self, speed: float) -> None:
        """Sets the speed: above 0, at most 1000 simulated seconds per real second."""
        self._core.set_speed(speed)

    def jump(self, *, time_ns: int) -> None:
        """Sets the time. Timers restart, and `Node.on_clock_jump` callbacks run."""
        self._core.jump_ns(time_ns)

    def now_ns(self) -> int:
        """The simulated time in nanoseconds."""
        return self._core.now_ns()

    def base_ns(self) -> int:
        """The time at which the simulated time began, in nanoseconds."""
        return self._core.base_ns()

    @property
    def paused(self) -> bool:
        """True while the time is paused."""
        return self._core.paused

    @property
    def speed(self) -> float:
        """Simulated seconds per real second."""
        return self._core.speed

    def close(self) -> None:
        """Ends the source. The clocks keep its last time."""
        self._core.close()


class SimTimeNode:
    """SimTime as a node of a plan, for robots without their own simulator:

        nodes:
          time: {python: "hyphos.clock:SimTimeNode", params: {tick_ms: 1, paused: false}}

    Params: `tick_ms`, `paused`, `start_ns`, `speed` (default: the plan's `clock.speed`).
    """

    def __init__(self, node: Node) -> None:
        start_ns = node.param("start_ns", -1)
        speed = node.param("speed", 0.0)
        self.time = SimTime(
            node,
            start_ns=start_ns if start_ns >= 0 else None,
            speed=speed if speed > 0 else None,
            tick_ms=node.param("tick_ms", 1.0),
            paused=node.param("paused", False),
        )
