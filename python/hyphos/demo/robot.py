"""Runs the robot of the demo, and judges the run from its recording and its counters."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.demo.drive import read_drive
from hyphos.demo.picture import draw
from hyphos.demo.png import write_png
from hyphos.demo.verdict import Verdict, judge
from hyphos.observe import Look
from hyphos.tools import view as viewer
from hyphos.tools.launch import Ending, LaunchOptions, launch
from hyphos.tools.totals import Totals

FOLDER = Path(__file__).parent / "patrol"
PLAN = FOLDER / "three_processes.yaml"
RECORDING, PICTURE, REPORT = "patrol.mcap", "map.png", "report.html"


@dataclass
class DemoOptions:
    seconds: float
    out: Path
    live: bool | None  # None: if the output is a terminal
    domain: str


class _Judge:
    """Reads the recording when the robot has ended, and draws the map."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.verdict = Verdict("the robot did not start", False, None)

    def __call__(self, totals: Totals) -> Ending:
        try:
            drive = read_drive(self._out / RECORDING)
        except (Error, OSError) as error:
            self.verdict = Verdict(f"there is no recording: {error}", False, None)
            return Ending([self.verdict.line])
        self.verdict = judge(drive, totals)
        if self.verdict.error is None:
            return Ending([self.verdict.line])
        picture = self._out / PICTURE
        write_png(picture, draw(drive, self.verdict.error))
        return Ending([self.verdict.line], [picture])


def _setting(key: str, value: object) -> str:
    """A value of the plan for `--set`. JSON is YAML, and keeps every character of a path."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def _all_recorded(settings: list[str]) -> Callable[[Look], bool]:
    """True as soon as the recorder has received each channel of the plan: then every node works."""
    plan = json.loads(Plan.load(str(PLAN), settings, False).json())
    wanted = {channel["name"] for channel in plan["channels"]}

    def check(seen: Look) -> bool:
        received = {
            end.channel
            for process, end in seen.ends()
            if process.name.startswith("recorder-") and end.counter("received")
        }
        return wanted <= received

    return check


def _prepare(out: Path) -> None:
    """Creates the folder, without the results of an earlier run."""
    out.mkdir(parents=True, exist_ok=True)
    for name in (RECORDING, PICTURE, REPORT):
        (out / name).unlink(missing_ok=True)


def demo(options: DemoOptions) -> int:
    """Runs the robot until its time is over or Ctrl-C. The last line of the output is the verdict.

    Returns 1 if a process failed, or if the run has no map, no pose with a truth, or a damaged
    recording.
    """
    if not PLAN.exists():
        raise Error(
            "not_found",
            "this package has no robot for the demo",
            str(PLAN),
            "build it with: cmake --build build/release --target patrol",
        )
    out = options.out.absolute()
    _prepare(out)
    judging = _Judge(out)
    live = sys.stdout.isatty() if options.live is None else options.live
    settings = [
        _setting("domain", options.domain),
        _setting("plugin_path", [str(FOLDER)]),
        _setting("record.path", str(out / RECORDING)),
    ]
    print(f"A robot maps a building for {options.seconds:g} s in three processes. Ctrl-C ends it.")
    code = launch(
        LaunchOptions(
            file=PLAN,
            live=live,
            seconds=options.seconds,
            settings=settings,
            only=[],
            hosts=[],
            logs=out / "logs",
            record=True,
            keep_going=False,
            grace_s=None,
            quiet=False,
            report=out / REPORT,
            tables=True,
            has_begun=_all_recorded(settings),
            at_end=judging,
        )
    )
    for name, file in (("map", PICTURE), ("recording", RECORDING)):
        if (out / file).exists():
            print(f"{name}: {out / file}")
    if viewer.program() is not None and (out / RECORDING).exists():
        print(f"see it: hyphos view {out / RECORDING}")
    failed = "the robot failed: " if code else ""
    print(f"{failed}{judging.verdict.line}", flush=True)
    return 1 if code or not judging.verdict.good else 0
