"""hyphos log"""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.text import Text

from hyphos._hyphos import MessageInfo, Policy
from hyphos.log import LEVELS, level_number
from hyphos.msgs import Log
from hyphos.tools.console import console
from hyphos.tools.join import open_tool
from hyphos.tools.waiting import stoppable
from hyphos.tools.waits import channel_lines, reporting

_WAITING = 4096  # lines that wait for a slow terminal
_STYLES = {10: "dim", 20: "", 30: "yellow", 40: "red", 50: "bold white on red"}


@dataclass
class LogOptions:
    level: str = "debug"
    nodes: Sequence[str] = ()
    count: int | None = None
    seconds: float | None = None
    as_json: bool = False
    where: bool = False
    channel: str = "log"
    domain: str = "0"


def _level_word(number: int) -> str:
    at = number // 10 - 1
    return LEVELS[at] if 0 <= at < len(LEVELS) else str(number)


class Gaps:
    """Counts lost lines by the sequence numbers of each sender."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self.lost = 0

    def add(self, info: MessageInfo) -> int:
        """The number of lines missing before this one."""
        before = self._last.get(info.sender)
        self._last[info.sender] = info.sequence
        missing = max(0, info.sequence - before - 1) if before is not None else 0
        self.lost += missing
        return missing


def wanted(line: Log, least: int, nodes: Sequence[str]) -> bool:
    """True for a line of at least this level (in the message's numbers), from one of these nodes or
    a part of it."""
    if line.level < least:
        return False
    return not nodes or any(line.name == n or line.name.startswith(f"{n}.") for n in nodes)


def _as_json(line: Log) -> str:
    members: dict[str, Any] = {
        "stamp_ns": line.stamp_ns,
        "level": _level_word(line.level),
        "name": line.name,
        "msg": line.msg,
    }
    if line.file:
        members |= {"file": line.file, "line": line.line, "function": line.function}
    return json.dumps(members, ensure_ascii=False)


def _as_text(line: Log, where: bool) -> Text:
    stamp = datetime.fromtimestamp(line.stamp_ns // 10**9).strftime("%H:%M:%S")
    text = Text(f"{stamp}.{line.stamp_ns // 10**6 % 1000:03d} ", "dim")
    style = _STYLES.get(line.level, "")
    text.append(f"{_level_word(line.level).upper():<5} ", style)
    text.append(f"{line.name}: ", "bold")
    text.append(line.msg, style)
    if where and line.file:
        text.append(f"  ({line.file}:{line.line}, {line.function})", "dim")
    return text


def show_log(options: LogOptions) -> int:
    """Prints lines as they arrive, until Ctrl-C, `count` or `seconds`."""
    least = (level_number(options.level) + 1) * 10
    inbox: queue.Queue[tuple[Log, int]] = queue.Queue(_WAITING)
    gaps = Gaps()
    skipped = shown = 0
    out = console()

    def arrived(line: Log, info: MessageInfo) -> None:
        nonlocal skipped
        missing = gaps.add(info)
        if not missing and not wanted(line, least, options.nodes):
            return
        try:
            inbox.put_nowait((line, missing))
        except queue.Full:
            skipped += 1 + missing

    def enough() -> bool:
        return options.count is not None and shown >= options.count

    def show(line: Log, missing: int) -> None:
        nonlocal shown
        if missing:
            _say(f"{missing} lines of this sender were lost here", options.as_json)
        if not wanted(line, least, options.nodes):
            return
        end_report()
        if options.as_json:
            print(_as_json(line), flush=True)
        else:
            out.print(_as_text(line, options.where), soft_wrap=True)
            out.file.flush()
        shown += 1

    with (
        stoppable() as stop,
        open_tool("log", options.domain) as node,
        reporting(lambda: _awaited(options)) as end_report,
    ):
        node.subscribe(options.channel, Log, arrived, policy=Policy(depth=1024))
        stop.end_after(options.seconds)
        while not stop.now and not enough():
            try:
                show(*inbox.get(timeout=0.1))
            except queue.Empty:
                time.sleep(0)
        for _ in range(inbox.qsize()):  # they arrived in time
            if stop.requested or enough():
                break
            show(*inbox.get())
    if skipped:
        _say(f"{skipped} lines were skipped: the terminal is too slow", options.as_json)
    return 0


def _awaited(options: LogOptions) -> list[str]:
    chosen = f" of {' or '.join(options.nodes)}" if options.nodes else ""
    head = f"waiting for a line{chosen} of level {options.level} or higher"
    return channel_lines(head, options.domain, options.channel)


def _say(text: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"note": text}), flush=True)
    else:
        print(f"# {text}", flush=True)
