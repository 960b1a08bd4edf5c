"""view_soak.py SECONDS [POINTS]: the viewer shows POINTS points (5 million), which is all that its
memory budget allows, and the robot publishes 20,000 more in each second. So the oldest points leave
all the time.

Fails if a message was lost, if a message was uploaded more than once, if displays exceed the
budget, or if memory grows by 2 MB per hour or more. Runs below half an hour cannot show this slope,
because the driver takes 16 MB at some redraws. There the memory beyond the budget is bounded.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from soak import LONG_S, Samples
from viewers import POINTS, VIEWER, Robot, Viewer, viewer, virtual_screen, wait_until

RATE_HZ = 10.0
FILL_HZ = 100.0
POINT_BYTES = 16
MOST_MB_AN_HOUR = 2.0
# Beyond the budget: pictures, buffers of the driver and of the window.
MOST_BESIDES_MB = 64
WARM_UP = 0.1
# While all points are drawn again, the driver takes 15 MB more. The smallest of so many samples is
# without that.
VALLEY = 6
LAYOUT = """\
hyphos_view: 1
camera: {target: [0, 0, 0], distance: 40}
displays: [{show: points, channel: cloud, color: field, history_s: -1}]
panels: {panel: scene}
"""


def publish(robot: Robot, rate_hz: float, until: float) -> None:
    """Publishes until that time, CLOCK_MONOTONIC."""
    due = time.monotonic()
    while due < until:
        time.sleep(max(0.0, due - time.monotonic()))
        robot.publish()
        due += 1 / rate_hz


def fill(robot: Robot, points: int) -> None:
    count = points // POINTS - robot.sent
    publish(robot, FILL_HZ, time.monotonic() + count / FILL_HZ)
    wait_until(lambda: robot.received() == robot.sent, "arrival of all messages")


def watch(robot: Robot, shown: Viewer, seconds: float) -> Samples:
    samples = Samples()
    begun = time.monotonic()
    step = max(0.5, min(10.0, seconds / 60))
    used = shown.cpu_s()
    while (passed := time.monotonic() - begun) < seconds:
        publish(robot, RATE_HZ, time.monotonic() + step)
        if passed >= seconds * WARM_UP:
            samples.add(time.monotonic() - begun, shown.held_kb())
    percent = (shown.cpu_s() - used) / (time.monotonic() - begun) * 100
    print(f"{percent:.1f} % of a processor at {RATE_HZ * POINTS:,.0f} points a second")
    return samples


def valleys(samples: Samples) -> Samples:
    made = Samples()
    for at in range(0, len(samples.kb) - VALLEY + 1, VALLEY):
        made.add(samples.seconds[at], min(samples.kb[at : at + VALLEY]))
    return made


def faults(report: dict[str, Any], robot: Robot, samples: Samples, seconds: float) -> list[str]:
    """The claims that do not hold."""
    samples = valleys(samples)
    slope, error = samples.line()
    grown = samples.kb[-1] - samples.kb[0]
    print(
        f"{samples.kb[-1] / 1000:.1f} MB, {slope:+.2f} ± {2 * error:.2f} MB/h over "
        f"{len(samples.kb)} samples in {samples.seconds[-1] - samples.seconds[0]:.0f} s "
        f"({grown:+.0f} kB)"
    )
    flat = seconds < LONG_S or slope - 2 * error < MOST_MB_AN_HOUR
    displayed = report["budget_bytes"] * 31 // 32
    claims = {
        "memory grows": flat,
        "messages were lost": report["received"] == robot.sent
        and report["missing"] == report["dropped"] == 0,
        "a message was not displayed": report["messages"] == robot.sent,
        "uploads are not messages": report["uploads"] == report["messages"],
        "displays exceed the budget": report["display_bytes"] <= displayed,
        "the past exceeds its part": report["source_bytes"] <= report["budget_bytes"] // 32,
        "the budget was not reached": report["display_bytes"] > displayed * 0.9,
        "no message has left": report["removed"] > 0,
        "the removed messages are not stated": "messages were removed" in report["notice"],
        "points are not messages": report["points"] == (robot.sent - report["removed"]) * POINTS,
    }
    return [text for text, holds in claims.items() if not holds]


def main() -> None:
    seconds = float(sys.argv[1])
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    if not VIEWER.exists():
        sys.exit("the viewer is not built")
    # A twentieth leaves at once when the budget is reached.
    budget_mb = points * POINT_BYTES * 32 / 31 / 0.95 / 1e6
    domain = f"viewsoak{os.getpid()}"
    with tempfile.TemporaryDirectory() as name, virtual_screen() as display:
        words = ("--budget", f"{budget_mb:.2f}")
        with viewer(display, Path(name), domain, LAYOUT, *words) as shown:
            robot = Robot(domain)
            wait_until(lambda: robot.listeners() > 0, "viewer")
            robot.publish()
            wait_until(lambda: robot.received() == 1, "first message")
            empty_kb = shown.held_kb()
            fill(robot, round(points * 1.1))
            samples = watch(robot, shown, seconds)
            besides_mb = (shown.held_kb() - empty_kb) / 1e3 - budget_mb
            wait_until(lambda: robot.received() == robot.sent, "arrival of all messages")
            report = shown.end()
            wrong = faults(report, robot, samples, seconds)
            robot.close()
    print(
        f"{report['points']:,} points, {report['messages']:,} of {robot.sent:,} messages, "
        f"{report['uploads']:,} uploads, {report['frames']:,} frames, "
        f"{report['full_redraws']:,} redraws, {report['removed']:,} messages removed, "
        f"{besides_mb:+.0f} MB besides the budget"
    )
    if besides_mb > MOST_BESIDES_MB:
        wrong.append("memory exceeds the budget")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
