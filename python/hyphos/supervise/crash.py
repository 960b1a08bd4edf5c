"""Reports of crashed processes: the stack that a process printed, with functions, files and lines.

A process of a plan prints its stack when it crashes (base/crash.cpp). Only the machine on which it
ran can look up the lines, in the debug information of its programs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_HEAD = re.compile(
    rb"^hyphos: crash of process '(?P<process>[^']*)': (?P<signal>[A-Z]+)(?P<cause>.*?)"
    rb" in thread '(?P<thread>.*?)'(?: in (?P<place>.+))?$"
)
_FRAME = re.compile(rb"^  #\d+ (?P<file>\S.*)\(\+0x(?P<offset>[0-9a-f]+)\)(?: (?P<symbol>\S+))?$")
_MOST_FRAMES = 64
_MOST_SHOWN = 16
_LOOK_UP_S = 10.0  # for addr2line, per file


@dataclass
class Frame:
    file: str
    offset: int
    symbol: str
    line: str = ""  # "function at file:line", once looked up


@dataclass
class Report:
    """The stack of one crash, as printed by the process."""

    signal: str
    place: str  # the work of the thread: "node 'x', callback of channel 'scan'", or ""
    frames: list[Frame] = field(default_factory=list)


class Reports:
    """Finds the reports in the output of processes. Used by one thread at a time per process."""

    def __init__(self) -> None:
        self._found: dict[str, Report] = {}

    def line(self, process: str, line: bytes) -> None:
        """Takes one line of the output. A line that is not part of a report costs a comparison."""
        if line.startswith(b"hyphos: crash of process"):
            if head := _HEAD.match(line.rstrip()):
                place = (head["place"] or b"").decode(errors="replace")
                self._found[process] = Report(head["signal"].decode(), place)
        elif line.startswith(b"  #") and (report := self._found.get(process)) is not None:
            frame = _FRAME.match(line.rstrip())
            if frame is not None and len(report.frames) < _MOST_FRAMES:
                words = [frame[k] or b"" for k in ("file", "offset", "symbol")]
                file, offset, symbol = (word.decode(errors="replace") for word in words)
                report.frames.append(Frame(file, int(offset, 16), symbol))

    def take(self, process: str) -> Report | None:
        """The report of the last run of the process. The next run starts without one."""
        return self._found.pop(process, None)


def _look_up(file: Path, frames: Sequence[Frame], first: Frame) -> None:
    # A return address belongs to the instruction after the call.
    offsets = [hex(frame.offset - (frame is not first)) for frame in frames]
    words = ["addr2line", "-C", "-f", "-p", "-e", str(file), *offsets]
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(words, capture_output=True, check=True, timeout=_LOOK_UP_S)
        for frame, line in zip(
            frames, done.stdout.decode(errors="replace").splitlines(), strict=False
        ):
            if not line.startswith("??"):
                frame.line = line.removesuffix(" at ??:?").removesuffix(" at ??:0")


def _demangle(frames: Sequence[Frame]) -> None:
    with suppress(OSError, subprocess.SubprocessError):
        words = ["c++filt", *(frame.symbol for frame in frames)]
        done = subprocess.run(words, capture_output=True, check=True, timeout=_LOOK_UP_S)
        for frame, name in zip(
            frames, done.stdout.decode(errors="replace").splitlines(), strict=False
        ):
            frame.line = name


def explain(process: str, report: Report, folder: Path) -> list[str]:
    """The stack with functions, files and lines. Empty if nothing can be looked up.

    Needs the programs of binutils. `folder` is the working directory of the process.
    """
    if not report.frames or shutil.which("addr2line") is None:
        return []
    shown = report.frames[:_MOST_SHOWN]
    by_file: dict[str, list[Frame]] = {}
    for frame in shown:
        by_file.setdefault(frame.file, []).append(frame)
    for file, frames in by_file.items():
        path = folder / file
        if path.is_file():
            _look_up(path, frames, shown[0])
    if unknown := [frame for frame in shown if not frame.line and frame.symbol]:
        _demangle(unknown)
    if not any(frame.line for frame in shown):
        return []
    place = f", {report.place}" if report.place else ""
    lines = [f"the stack of {process} ({report.signal}{place}):"]
    lines += [
        f"  #{number} {frame.line or '?'} ({Path(frame.file).name})"
        for number, frame in enumerate(shown)
    ]
    return lines
