"""view_watch.py: the pictures that appear on an X server, and input for its windows. A program of
the distribution's Python, which has python3-xlib. Used by bench/view.py.

Each line of stdin is a command, and gives one line of JSON. Times are those of CLOCK_MONOTONIC.

    first SECONDS PIXELS   the time of the first picture of at least that many pixels, or null
    drag SECONDS           moves the pointer with the left button down, 125 times a second
    wheel SECONDS          turns the wheel up and down, 125 times a second
    quiet SECONDS          waits that long
    picture FILE           writes the screen (PPM)

The reply to drag, wheel and quiet has `frames`, the times of all pictures since the previous
command, `last`, the time of the last input, and `seconds`.
"""

from __future__ import annotations

import json
import math
import select
import sys
import time
from pathlib import Path
from typing import Any

from Xlib import X, display
from Xlib.ext import damage, xtest

# Rectangles of one picture come together.
GAP_S = 0.003


class Watch:
    def __init__(self) -> None:
        self.display = display.Display()
        self.root = self.display.screen().root
        self.size = self.root.get_geometry()
        self.display.damage_query_version()
        self.root.damage_create(damage.DamageReportRawRectangles)
        self.display.sync()
        self.frames: list[float] = []
        self.pixels: list[int] = []

    def collect(self, until: float) -> None:
        """Takes the events that come until then."""
        while True:
            while self.display.pending_events():
                event = self.display.next_event()
                if event.type != self.display.extension_event.DamageNotify:
                    continue
                now = time.monotonic()
                area = event.area.width * event.area.height
                if self.frames and now - self.frames[-1] < GAP_S:
                    self.frames[-1] = now
                    self.pixels[-1] += area
                else:
                    self.frames.append(now)
                    self.pixels.append(area)
            left = until - time.monotonic()
            if left <= 0:
                return
            select.select([self.display.fileno()], [], [], left)

    def first(self, seconds: float, pixels: int) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.collect(min(time.monotonic() + 0.005, end))
            for at, area in zip(self.frames, self.pixels, strict=True):
                if area >= pixels:
                    return {"first": at}
        return {"first": None}

    def input(self, kind: int, detail: int = 0, x: int = 0, y: int = 0) -> None:
        xtest.fake_input(self.display, kind, detail, x=x, y=y)
        self.display.flush()

    def drag(self, seconds: float) -> float:
        x, y = self.size.width // 2, self.size.height // 2
        self.input(X.MotionNotify, x=x, y=y)
        self.collect(time.monotonic() + 0.3)
        self.input(X.ButtonPress, 1)
        self.clear()
        start = time.monotonic()
        last = start
        while last - start < seconds:
            phase = (last - start) * 2
            self.input(
                X.MotionNotify,
                x=x + round(200 * math.sin(phase)),
                y=y + round(60 * math.sin(2 * phase)),
            )
            self.collect(last + 0.008)
            last = time.monotonic()
        self.input(X.ButtonRelease, 1)
        return last

    def wheel(self, seconds: float) -> float:
        x, y = self.size.width // 2, self.size.height // 2
        self.input(X.MotionNotify, x=x, y=y)
        self.collect(time.monotonic() + 0.3)
        self.clear()
        start = time.monotonic()
        last = start
        while last - start < seconds:
            button = 4 if int((last - start) * 2) % 2 == 0 else 5
            self.input(X.ButtonPress, button)
            self.input(X.ButtonRelease, button)
            self.collect(last + 0.008)
            last = time.monotonic()
        return last

    def picture(self, path: str) -> dict[str, Any]:
        width, height = self.size.width, self.size.height
        bgrx = self.root.get_image(0, 0, width, height, X.ZPixmap, 0xFFFFFFFF).data
        rgb = bytearray(width * height * 3)
        for at in range(3):
            rgb[at::3] = bgrx[2 - at :: 4]
        Path(path).write_bytes(f"P6 {width} {height} 255\n".encode() + rgb)
        return {"written": path}

    def clear(self) -> None:
        self.frames.clear()
        self.pixels.clear()

    def run(self, words: list[str]) -> dict[str, Any]:
        if words[0] == "first":
            return self.first(float(words[1]), int(words[2]))
        if words[0] == "picture":
            return self.picture(words[1])
        seconds = float(words[1])
        last = time.monotonic()
        if words[0] == "drag":
            last = self.drag(seconds)
        elif words[0] == "wheel":
            last = self.wheel(seconds)
        else:
            self.collect(last + seconds)
        reply = {"frames": list(self.frames), "last": last, "seconds": seconds}
        self.clear()
        return reply


def main() -> None:
    watch = Watch()
    print(json.dumps({"ready": [watch.size.width, watch.size.height]}), flush=True)
    while True:
        while not select.select([sys.stdin], [], [], 0)[0]:
            watch.collect(time.monotonic() + 0.02)
        line = sys.stdin.readline()
        if not line:
            return
        print(json.dumps(watch.run(line.split())), flush=True)


if __name__ == "__main__":
    main()
