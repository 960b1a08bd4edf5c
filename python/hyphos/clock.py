"""The time of a robot: real, simulated or replayed through one clock. See docs/time.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hyphos import _hyphos
from hyphos._closing import Closing

if TYPE_CHECKING:
    from hyphos.node import Node


def _to_ns(value: float, ns_per_unit: float) -> int:
    return round(value * ns_per_unit)


class Clock:
    """The time of this process; `node.clock`. Node code is the same whatever makes the time.

    For the contents of messages, for transforms and for whatever the robot reasons about. Stamps of
    messages and latencies stay on the monotonic clock. All functions are thread-safe; `sleep_*`
    release the GIL, and let Ctrl-C through.
    """

    def __init__(self, core: _hyphos.Clock) -> None:
        self._core = core

    def now_ns(self) -> int:
        """Nanoseconds since 1970 UTC; in simulated mode whatever the simulator counts from, and 0
        until it has told (see `ready`)."""
        return self._core.now_ns()

    def now_s(self) -> float:
        """The same in seconds, rounded to about a microsecond by the float."""
        return self._core.now_ns() / 1e9

    def base_ns(self) -> int:
        """When the time of this robot began."""
        return self._core.base_ns()

    def elapsed_ns(self) -> int:
        """Time since `base_ns()`. In real mode it never jumps, even if the wall clock is set."""
        return self._core.elapsed_ns()

    def elapsed_s(self) -> float:
        """The same in seconds."""
        return self._core.elapsed_ns() / 1e9

    @property
    def mode(self) -> str:
        """ "real" or "sim"."""
        return self._core.mode

    @property
    def ready(self) -> bool:
        """False in simulated mode until the first message of the channel has come."""
        return self._core.ready

    @property
    def paused(self) -> bool:
        """Simulated time that stands until somebody resumes or steps it."""
        return self._core.paused

    @property
    def speed(self) -> float:
        """Seconds of this time in one real second; 1 in real mode, 0 if a simulator does not
        tell."""
        return self._core.speed

    @property
    def jumps(self) -> int:
        """How often the time was set."""
        return self._core.jumps

    def sleep_until(self, *, time_ns: int) -> bool:
        """Blocks until `now_ns() >= time_ns`. False if it ended because the process is asked to
        stop, or the time has jumped back."""
        return self._core.sleep_until_ns(time_ns)

    def sleep_for(self, *, duration_ms: float) -> bool:
        """The same for a span."""
        return self._core.sleep_for_ns(_to_ns(duration_ms, 1e6))


class Rate:
    """A loop with a fixed period on a clock, for threads of the program's own.

        rate = hyphos.Rate(node.clock, rate_hz=50)
        while rate.sleep():
            work()

    The grid does not drift. In real mode, instants that passed while the loop worked are left out
    and counted (`skipped`), in simulated mode they are made up for.
    """

    def __init__(
        self, clock: Clock, *, period_ms: float | None = None, rate_hz: float | None = None
    ) -> None:
        if (period_ms is None) == (rate_hz is None):
            raise TypeError("Rate() takes either period_ms or rate_hz")
        period_s = period_ms / 1e3 if period_ms is not None else 1.0 / (rate_hz or float("inf"))
        self._core = _hyphos.Rate(clock._core, _to_ns(period_s, 1e9))

    def sleep(self) -> bool:
        """Waits for the next instant. False once the process is asked to stop."""
        return self._core.sleep()

    @property
    def skipped(self) -> int:
        """Instants that were left out."""
        return self._core.skipped

    @property
    def period_ms(self) -> float:
        return self._core.period_ns / 1e6


class SimTime(Closing):
    """Makes the simulated time of a robot: publishes it on the channel `clock` to all processes
    whose clock is "sim", and obeys `hyphos time pause | resume | step | speed | jump`.

    Runs by itself unless `manual`, where each `advance()` brings the time on: for simulators with a
    step of their own. A robot has one such object; close it, or use it in a `with`.
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
        """`start_ns`: where it begins, or now. `speed`: seconds of it in one real second, or as the
        plan says. `tick_ms`: simulated time between messages, of which at most 1000 are sent in a
        real second. `channel`: empty for the plan's, or "clock"."""
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
        """The time stands from now on."""
        self._core.pause()

    def resume(self) -> None:
        """It goes on."""
        self._core.resume()

    def step(self, *, duration_ms: float) -> None:
        """When paused: one message that brings the time on. Raises `hyphos.Error` when it runs."""
        self._core.step_ns(_to_ns(duration_ms, 1e6))

    def advance(self, *, duration_ms: float, give_up: Callable[[], bool] | None = None) -> bool:
        """Brings the time on, for simulators that are `manual`. Waits while it is paused. False if
        the process is asked to stop, or `give_up()`, which is asked while it waits, says true."""
        return self._core.advance_ns(_to_ns(duration_ms, 1e6), give_up)

    def set_speed(self, speed: float) -> None:
        """Above 0, at most 1000."""
        self._core.set_speed(speed)

    def jump(self, *, time_ns: int) -> None:
        """Sets the time: timers begin anew, `Node.on_clock_jump` tells."""
        self._core.jump_ns(time_ns)

    def now_ns(self) -> int:
        return self._core.now_ns()

    def base_ns(self) -> int:
        return self._core.base_ns()

    @property
    def paused(self) -> bool:
        return self._core.paused

    @property
    def speed(self) -> float:
        return self._core.speed

    def close(self) -> None:
        """Ends it; the last time stands."""
        self._core.close()


class SimTimeNode:
    """SimTime as a node of a plan, for robots without a simulator of their own:

        nodes:
          time: {python: "hyphos.clock:SimTimeNode", params: {tick_ms: 1, paused: false}}

    Params: `tick_ms`, `paused`, `start_ns`, `speed` (else the plan's `clock.speed`).
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
