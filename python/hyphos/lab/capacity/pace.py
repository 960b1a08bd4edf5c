"""The duration of a calibration."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hyphos.lab.capacity.calibrate import Plan


class Pace:
    """The duration of a calibration, computed from its graphs and one run, and the time left after
    each search."""

    def __init__(self) -> None:
        self.expected_s = 0.0
        self._each: list[float] = []
        self._began = 0.0
        self._done = 0  # transports done
        self._searches = 0  # of the current transport
        self._way_began = 0.0

    def begin(self, plans: Sequence[Plan], around: float) -> str:
        self._each = [plan.expected_s(around) for plan in plans]
        self.expected_s = sum(self._each)
        self._began = self._way_began = time.monotonic()
        graphs = sum(len(plan.kinds) for plan in plans)
        return (
            f"{len(plans)} transport{'s' * (len(plans) > 1)} to calibrate, {graphs} graphs: about "
            f"{minutes(self.expected_s)}, a run of a second now takes {around:.1f} s more"
        )

    def measured(self, graphs: int) -> None:
        """Counts the end of a search of a transport with `graphs` graphs. The estimate is the
        longer of the extrapolation from the searches and the expected duration."""
        self._searches += 1
        spent = time.monotonic() - self._way_began
        first_pass = spent * max(1.0, graphs / self._searches)
        self._each[self._done] = max(self._each[self._done], first_pass)

    def way_done(self) -> None:
        self._each[self._done] = time.monotonic() - self._way_began
        self._way_began = time.monotonic()
        self._searches = 0
        self._done += 1

    def left(self) -> str:
        spent = time.monotonic() - self._way_began
        return f"about {minutes(max(0.0, sum(self._each[self._done :]) - spent))} left"


def minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
