"""The live table of `hyphos run --live`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.text import Text

from hyphos._errors import Error
from hyphos.observe import ChannelState, Delays, Look, look, states
from hyphos.supervise.children import Usage
from hyphos.supervise.remote import RemotePlace
from hyphos.supervise.supervisor import Managed, State
from hyphos.tools.console import table
from hyphos.tools.live_area import LiveArea
from hyphos.tools.tables import channel_table
from hyphos.tools.totals import Totals

_WINDOW_S = 2.0  # values cover about the last two seconds
_STYLES = {
    State.RUNNING: "green",
    State.FAILED: "red",
    State.RESTARTING: "yellow",
    State.STARTING: "yellow",
}


class LiveView:
    """Shows processes and channels. Keeps the last values of ended processes, whose counters are
    gone."""

    def __init__(
        self,
        domain: str,
        console: Console,
        processes: Sequence[Managed],
        remotes: Mapping[str, RemotePlace],
        totals: Totals,
        *,
        draws: bool,
    ) -> None:
        self._domain = domain
        self._console = console
        self._draws = draws and console.is_terminal
        self._processes = processes
        self._remotes = remotes
        self._looks: list[Look] = []
        self._usages: list[tuple[float, dict[str, tuple[int, Usage]]]] = []
        self._channels: dict[str, ChannelState] = {}
        self._spans: dict[tuple[str, int], tuple[float, Usage, float, Usage]] = {}
        self._rows: dict[str, object] = {}  # the last report of each other machine
        self._totals = totals
        self._live = LiveArea(console)

    def __enter__(self) -> Self:
        if self._draws:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def refresh(self, *, adds_up: bool = True) -> None:
        """Takes a snapshot, and redraws on a terminal if the view `draws`.

        `adds_up` adds the values to the totals. At the end of the run they would lower the mean
        rates.
        """
        now = time.monotonic()
        usages = {one.name: (one.pid, one.place.usage(one.name)) for one in self._processes}
        self._usages.append((now, usages))
        for one in self._processes:
            if one.alive:
                self._extend(one.name, now, *usages[one.name])
        self._look(now, adds_up)
        self._forget(now)
        if self._draws:
            self._live.update(self.render(), refresh=True)

    def _extend(self, name: str, now: float, pid: int, usage: Usage) -> None:
        if usage.resident == 0:
            return  # it has just ended, and /proc no longer has its values
        first_s, first, _, _ = self._spans.get((name, pid), (now, usage, now, usage))
        self._spans[(name, pid)] = (first_s, first, now, usage)

    def _look(self, now_s: float, adds_up: bool) -> None:
        try:
            self._looks.append(look(self._domain))
            if adds_up:
                self._totals.add(self._looks[-1])
            now = states(self._looks[-1], self._looks[0])
            ending = any(not one.alive for one in self._processes)
            for name, state in now.items():
                before = self._channels.get(name)
                if before is not None:  # all transports of the channel in this run
                    ways = [*before.transports.split("+"), *state.transports.split("+")]
                    state.transports = "+".join(dict.fromkeys(way for way in ways if way))
                # At the end of a run the first processes to end take their endpoints with them.
                if before is None or not ending or state.publishers >= before.publishers > 0:
                    self._channels[name] = state
        except Error:
            pass  # the processes are still starting
        for host, place in self._remotes.items():
            if self._rows.get(host) is place.channels:
                continue
            self._rows[host] = place.channels
            for row in place.channels:
                state = _from_row(row)
                state.name = f"{host}: {state.name}"
                self._channels[state.name] = state
                if adds_up:
                    self._totals.add_row(now_s, _from_row({**row, "name": state.name}))

    def _forget(self, now: float) -> None:
        while len(self._looks) > 2 and now - self._looks[1].time_s > _WINDOW_S:
            del self._looks[0]
        while len(self._usages) > 2 and now - self._usages[1][0] > _WINDOW_S:
            del self._usages[0]

    def _cpu_percent(self, name: str) -> float:
        if not self._usages:
            return 0.0
        (before_s, before), (now_s, now) = self._usages[0], self._usages[-1]
        if name not in before or now_s <= before_s or before[name][0] != now[name][0]:
            return 0.0  # another run of the process
        used_s = now[name][1].cpu_s - before[name][1].cpu_s
        return max(0.0, used_s) / (now_s - before_s) * 100

    def _mean_cpu_percent(self, one: Managed) -> float:
        """The mean over the life of the process, up to its end."""
        spans = [span for (name, _), span in self._spans.items() if name == one.name]
        seconds = sum(last_s - first_s for first_s, _, last_s, _ in spans)
        used_s = sum(last.cpu_s - first.cpu_s for _, first, _, last in spans)
        return max(0.0, used_s) / seconds * 100 if seconds > 0 else 0.0

    def _table(self, *, whole: bool = False) -> RenderableType:
        columns = ["process", "state", "pid", "CPU", "memory", "restarts"]
        columns += ["host"] if self._remotes else []
        columns += ["note"]
        made = table("", columns, ["pid", "CPU", "memory", "restarts"])
        for one in self._processes:
            usage = self._usages[-1][1][one.name][1] if self._usages else Usage()
            if whole and (one.name, one.pid) in self._spans:
                usage = self._spans[(one.name, one.pid)][3]
            cpu = self._mean_cpu_percent(one) if whole else self._cpu_percent(one.name)
            cells: list[str | Text] = [
                one.name,
                Text(one.label, _STYLES.get(one.state, "")),
                str(one.pid) if one.pid else "–",
                f"{cpu:.1f} %" if self._usages else "",
                f"{usage.resident / 1e6:.1f} MB",
                str(one.restarts),
            ]
            cells += [one.place.host or "here"] if self._remotes else []
            cells += [self._note(one)]
            made.add_row(*cells)
        return made

    def _note(self, one: Managed) -> str:
        if one.state == State.WAITING:
            return f"after {', '.join(one.plan['after'])}"
        if one.state == State.RESTARTING:
            return one.end
        return one.complaint

    def render(self) -> RenderableType:
        """The tables with the current values."""
        return Group(self._table(), channel_table(self._channels, rates=True))

    def render_run(self, seconds: float) -> RenderableType:
        """The tables of the whole run: CPU and rates are means over it."""
        words = Text(f"the whole run of {seconds:.1f} s, with mean CPU and rates", "dim")
        channels = channel_table(self._totals.channels(), rates=True)
        return Group(words, self._table(whole=True), channels)


def _from_row(row: dict[str, Any]) -> ChannelState:
    """A channel from the report of an agent. Unknown members belong to a newer version."""
    known = {key: row[key] for key in ChannelState.__dataclass_fields__ if key in row}
    buckets = known.pop("delays", {})
    state = ChannelState(**known)
    state.delays = Delays({int(edge): int(n) for edge, n in buckets.items()})
    return state
