"""The live table of `hyphos run --live`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from hyphos._errors import Error
from hyphos.tools.children import Child, Usage, usage_of
from hyphos.tools.console import table
from hyphos.tools.observe import ChannelState, Look, look, states
from hyphos.tools.tables import channel_table

_WINDOW_S = 2.0  # figures are those of the last two seconds or so


class LiveView:
    """Shows processes and channels. Keeps what it saw last, since ended processes take their
    counters with them."""

    def __init__(self, domain: str, console: Console, children: Sequence[Child]) -> None:
        self._domain = domain
        self._console = console
        self._children = children
        self._looks: list[Look] = []
        self._usages: list[tuple[float, dict[int, Usage]]] = []
        self._channels: dict[str, ChannelState] = {}
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def refresh(self) -> None:
        """Looks again and redraws, if there is a terminal."""
        now = time.monotonic()
        self._usages.append((now, {child.pid: usage_of(child.pid) for child in self._children}))
        try:
            self._looks.append(look(self._domain))
        except Error:
            return  # the processes are only starting
        self._forget(now)
        found = states(self._looks[-1], self._looks[0])
        if found:
            self._channels.update(found)
        if self._console.is_terminal:
            self._live.update(self._render(), refresh=True)

    def _forget(self, now: float) -> None:
        while len(self._looks) > 2 and now - self._looks[1].time_s > _WINDOW_S:
            del self._looks[0]
        while len(self._usages) > 2 and now - self._usages[1][0] > _WINDOW_S:
            del self._usages[0]

    def _cpu_percent(self, pid: int) -> float:
        (before_s, before), (now_s, now) = self._usages[0], self._usages[-1]
        if pid not in before or now_s <= before_s:
            return 0.0
        return max(0.0, now[pid].cpu_s - before[pid].cpu_s) / (now_s - before_s) * 100

    def _processes(self) -> RenderableType:
        made = table("", ["process", "state", "pid", "CPU", "memory"], ["pid", "CPU", "memory"])
        for child in self._children:
            usage = self._usages[-1][1].get(child.pid, Usage()) if self._usages else Usage()
            busy = f"{self._cpu_percent(child.pid):.1f} %" if self._usages else ""
            style = "red" if child.failed else "green" if child.running else ""
            made.add_row(
                child.name,
                Text(child.state, style),
                str(child.pid),
                busy,
                f"{usage.resident / 1e6:.1f} MB",
            )
        return made

    def _render(self) -> RenderableType:
        return Group(self._processes(), channel_table(self._channels, rates=True))

    def print(self) -> None:
        """The tables as they are, for good."""
        self._console.print(self._render())
