"""hyphos top: processes and channels of a running robot, live.

Reads shared memory and /proc, so it does not disturb the robot.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hyphos._errors import Error
from hyphos._hyphos import ProcessInfo
from hyphos.observe import ChannelState, Delays, Look, drops_of, key_of, look, nobody, states
from hyphos.supervise.children import Usage, usage_of
from hyphos.tools.console import console, print_json, table
from hyphos.tools.terminal import key_presses, read_keys
from hyphos.tools.waiting import stoppable

SORTS = ("name", "rate", "bandwidth", "latency", "queue", "drops", "cpu", "memory")
_KEYS = {"n": "name", "r": "rate", "b": "bandwidth", "l": "latency", "u": "queue", "d": "drops"}
_KEYS |= {"c": "cpu", "m": "memory"}
_WINDOW_S = 2.0  # values cover about the last two seconds


@dataclass
class ProcessRow:
    name: str
    state: str
    host: str
    pid: int
    cpu_percent: float
    memory_bytes: int
    nodes: list[str]


@dataclass
class ChannelRow:
    state: ChannelState
    queue: Delays  # time that messages waited for their callback
    drops_per_s: float


@dataclass
class Shot:
    """A snapshot, and the resources that each process has used until then."""

    look: Look
    usages: dict[int, Usage]


def shoot(domain: str) -> Shot:
    """Raises an error if no process runs: a wrong --domain would also give an empty table."""
    now = look(domain)
    if not now.processes:
        raise nobody(domain)
    return Shot(now, {one.pid: usage_of(one.pid) for one in now.processes})


def process_rows(now: Shot, before: Shot) -> list[ProcessRow]:
    seconds = now.look.time_s - before.look.time_s
    same = {(one.participant, one.pid) for one in before.look.processes}
    rows = []
    for one in now.look.processes:
        usage = now.usages[one.pid]
        percent = 0.0
        if (one.participant, one.pid) in same and seconds > 0:
            used_s = usage.cpu_s - before.usages[one.pid].cpu_s
            percent = max(0.0, used_s) / seconds * 100
        rows.append(
            ProcessRow(one.name, one.state, one.host, one.pid, percent, usage.resident, _nodes(one))
        )
    return rows


def _nodes(process: ProcessInfo) -> list[str]:
    return sorted({end.node for end in process.endpoints})


def channel_rows(now: Shot, before: Shot) -> list[ChannelRow]:
    seconds = now.look.time_s - before.look.time_s
    old = before.look.by_key()
    found = states(now.look, before.look)
    rows = {name: ChannelRow(state, Delays(), 0.0) for name, state in found.items()}
    for process, end in now.look.ends():
        row = rows.get(end.channel)
        earlier = old.get(key_of(process, end))
        if row is None:
            continue
        if seconds > 0:
            dropped = drops_of(earlier) if earlier is not None else 0
            row.drops_per_s += (drops_of(end) - dropped) / seconds
        if end.is_publisher:
            continue
        since = dict(earlier.layers) if earlier is not None else {}
        for layer, histogram in end.layers:
            if layer == "queue":
                row.queue.add(histogram.since(since[layer]) if layer in since else histogram)
    return list(rows.values())


def sort_rows(
    processes: list[ProcessRow], channels: list[ChannelRow], by: str
) -> tuple[list[ProcessRow], list[ChannelRow]]:
    """Largest first, equal rows by name. A table without the column is sorted by name."""
    of_process = {"cpu": lambda p: p.cpu_percent, "memory": lambda p: p.memory_bytes}
    of_channel = {
        "rate": lambda c: c.state.rate_hz,
        "bandwidth": lambda c: c.state.megabytes_per_s,
        "latency": lambda c: c.state.delays.percentile_ns(0.99),
        "queue": lambda c: c.queue.percentile_ns(0.99),
        "drops": lambda c: (c.drops_per_s, c.state.dropped),
    }
    processes = sorted(processes, key=lambda p: (p.name, p.pid))
    channels = sorted(channels, key=lambda c: c.state.name)
    if by in of_process:
        processes.sort(key=of_process[by], reverse=True)
    if by in of_channel:
        channels.sort(key=of_channel[by], reverse=True)
    return processes, channels


def _process_table(rows: list[ProcessRow]) -> Table:
    made = table(
        "", ["process", "state", "pid", "CPU", "memory", "nodes"], ["pid", "CPU", "memory"]
    )
    for row in rows:
        made.add_row(
            Text(row.name),
            Text(row.state, "green" if row.state == "ready" else "yellow"),
            str(row.pid),
            f"{row.cpu_percent:.1f} %",
            f"{row.memory_bytes / 1e6:.1f} MB",
            Text(" ".join(row.nodes)),
        )
    return made


def _channel_table(rows: list[ChannelRow]) -> Table:
    figures = ["pub", "sub", "rate", "MB/s", "p50", "p99", "queue p99", "drops", "drops/s"]
    made = table("", ["channel", "transport", *figures], figures)
    for row in rows:
        state = row.state
        made.add_row(
            Text(state.name),
            state.transports,
            str(state.publishers),
            str(state.subscribers),
            f"{state.rate_hz:.1f} Hz",
            state.megabytes_text,
            state.delays.text(0.5),
            state.delays.text(0.99),
            row.queue.text(0.99),
            Text(f"{state.dropped:,}", "red" if state.dropped else ""),
            Text(f"{row.drops_per_s:.1f}", "bold red" if row.drops_per_s > 0 else ""),
        )
    return made


def _render(now: Shot, before: Shot, by: str) -> RenderableType:
    processes, channels = sort_rows(process_rows(now, before), channel_rows(now, before), by)
    return Group(_process_table(processes), _channel_table(channels))


def as_json(now: Shot, before: Shot, by: str) -> dict[str, Any]:
    processes, channels = sort_rows(process_rows(now, before), channel_rows(now, before), by)
    return {
        "seconds": now.look.time_s - before.look.time_s,
        "processes": [vars(row) for row in processes],
        "channels": [
            {
                "name": row.state.name,
                "type": row.state.type_name,
                "transports": row.state.transports,
                "publishers": row.state.publishers,
                "subscribers": row.state.subscribers,
                "rate_hz": row.state.rate_hz,
                "megabytes_per_s": row.state.megabytes_per_s,
                "encoded": row.state.encoded,
                "latency_ns": row.state.delays.as_dict(),
                "queue_ns": row.queue.as_dict(),
                "sent": row.state.sent,
                "received": row.state.received,
                "drops": row.state.dropped,
                "drops_per_s": row.drops_per_s,
            }
            for row in channels
        ],
    }


def top(domain: str, by: str, interval_s: float, *, once: bool, json: bool) -> int:
    """Runs until q or Ctrl-C. Without a terminal, or with `once`, prints one table."""
    if by not in SORTS:
        raise Error("invalid_config", f"unknown --sort '{by}': give one of {', '.join(SORTS)}")
    shots = [shoot(domain)]
    out = console()
    if once or json or not out.is_terminal:
        time.sleep(interval_s)
        now = shoot(domain)
        if json:
            print_json(as_json(now, shots[0], by))
        else:
            out.print(_render(now, shots[0], by))
        return 0
    with (
        stoppable() as stop,
        key_presses() as keys,
        Live(console=out, screen=True, auto_refresh=False) as live,
    ):
        while not stop.now:
            pressed = read_keys(keys, interval_s, 1).decode(errors="replace")
            if pressed == "q":
                break
            by = _KEYS.get(pressed, by)
            shots.append(shoot(domain))
            while len(shots) > 2 and shots[-1].look.time_s - shots[1].look.time_s > _WINDOW_S:
                del shots[0]
            keys_line = Text(f"by {by} · sort: " + " ".join(_KEYS) + " · q: quit", "dim")
            live.update(Group(_render(shots[-1], shots[0], by), keys_line), refresh=True)
    return 0
