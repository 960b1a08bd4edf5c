"""hyphos time: shows clocks, and publishes and controls simulated time."""

from __future__ import annotations

import json
import secrets
import threading
import time
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import ClockStatus, PeerClock, Policy, ProcessInfo
from hyphos.clock import SimTime
from hyphos.observe import domains_text, duration, look
from hyphos.tools.console import console, print_json, table
from hyphos.tools.join import open_tool
from hyphos.tools.waiting import until
from hyphos.tools.waits import process_lines, reporting

_ANSWER_S = 10.0
_LISTENER_S = 5.0
_YEAR_NS = 365 * 86_400 * 10**9
_POOR_NS = 1_000_000  # larger differences of wall clocks disturb comparisons of stamps


def parse_seconds(text: str) -> int:
    """ "0.1" → 100000000. Exact, unlike a float of a Unix time."""
    try:
        return int(Decimal(text) * 10**9)
    except (InvalidOperation, OverflowError, ValueError):
        raise Error("invalid_config", f"'{text}' is not a number of seconds") from None


def moment(ns: int) -> str:
    """A date if the value is a plausible Unix time, else seconds."""
    if ns < _YEAR_NS:
        return f"{ns / 1e9:.3f} s"
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ns // 10**9))
    return f"{whole}.{ns // 10**6 % 1000:03d} UTC"


def signed(ns: int) -> str:
    return ("+" if ns >= 0 else "-") + duration(abs(ns))


def state_of(clock: ClockStatus) -> str:
    if clock.mode == "real":
        return "running"
    if not clock.ready:
        return "waiting for the first message"
    origin = "replayed" if clock.replayed else "simulated"
    speed = f", speed {clock.speed:g}" if clock.speed > 0 else ""
    return f"{origin}, {'paused' if clock.paused else 'running'}{speed}"


def show(domain: str, as_json: bool, follow: bool) -> int:
    while True:
        processes = sorted(look(domain).processes, key=lambda p: (p.name, p.pid))
        if as_json:
            print_json(_as_data(processes))
        else:
            _print(processes, domain)
        if not follow:
            return 0
        time.sleep(1.0)


def _print(processes: list[ProcessInfo], domain: str) -> None:
    out = console()
    if not processes:
        now_ns = time.time_ns()
        more = domains_text(domain)
        text = f"real time, {moment(now_ns)}, no process runs in domain '{domain}'"
        out.print(f"{text}. {more}" if more else text, soft_wrap=True)
        return
    clocks = table("", ["process", "clock", "now", "since base", "state", "jumps"], ["jumps"])
    for process in processes:
        clock = process.clock
        source = "real" if clock.mode == "real" else f"sim, from {clock.channel}"
        if clock.ready:
            since = duration(max(0, clock.now_ns - clock.base_ns))
            clocks.add_row(
                process.name, source, moment(clock.now_ns), since, state_of(clock), str(clock.jumps)
            )
        else:
            clocks.add_row(process.name, source, "-", "-", state_of(clock), "0")
    out.print(clocks)
    peers = [(process, peer) for process in processes for peer in process.peer_clocks]
    if not peers:
        return
    columns = ["seen from", "other machine", "its wall clock", "±", "round trip", "drift", "age"]
    machines = table("Clocks of other machines", columns, columns[2:])
    for process, peer in peers:
        drift = f"{peer.drift_ppm:+.2f} ppm" if peer.drift_ppm else "-"
        machines.add_row(
            process.name,
            f"{peer.process} at {peer.endpoint}",
            signed(peer.wall_ahead_ns),
            duration(peer.uncertainty_ns),
            duration(peer.round_trip_ns),
            drift,
            duration(_hyphos.monotonic_ns() - peer.measured_ns),
        )
    out.print(machines)
    if any(abs(peer.wall_ahead_ns) - peer.uncertainty_ns > _POOR_NS for _, peer in peers):
        out.print(
            "warning: wall clocks differ by more than a millisecond: latencies are corrected, but "
            "times inside messages are not. Run chrony or ptp4l on the machines"
        )


def _clock_data(clock: ClockStatus) -> dict[str, Any]:
    names = (
        "mode",
        "channel",
        "ready",
        "paused",
        "replayed",
        "speed",
        "now_ns",
        "base_ns",
        "jumps",
    )
    return {name: getattr(clock, name) for name in names}


def _peer_data(peer: PeerClock) -> dict[str, Any]:
    names = (
        "process",
        "endpoint",
        "offset_ns",
        "wall_ahead_ns",
        "uncertainty_ns",
        "round_trip_ns",
        "drift_ppm",
        "samples",
        "measured_ns",
    )
    return {"host": f"{peer.host:016x}"} | {name: getattr(peer, name) for name in names}


def _as_data(processes: list[ProcessInfo]) -> list[dict[str, Any]]:
    return [
        {
            "process": process.name,
            "pid": process.pid,
            "clock": _clock_data(process.clock),
            "peers": [_peer_data(peer) for peer in process.peer_clocks],
        }
        for process in processes
    ]


@dataclass
class SimOptions:
    speed: float | None
    start: str
    tick_ms: float
    paused: bool
    plan: Path | None
    channel: str
    domain: str


def simulate(options: SimOptions) -> int:
    channel, speed, domain = options.channel, options.speed, options.domain
    if options.plan is not None:
        plan = json.loads(_hyphos.Plan.load(str(options.plan), [], False).json())
        channel = channel or plan["clock"]["channel"]
        speed = plan["clock"]["speed"] if speed is None else speed
        domain = domain or plan["domain"]
    start_ns = parse_seconds(options.start) if options.start else None
    with open_tool("time", domain or "0") as node:
        _refuse_second(domain or "0", channel or "clock")
        with SimTime(
            node,
            start_ns=start_ns,
            speed=speed,
            tick_ms=options.tick_ms,
            paused=options.paused,
            channel=channel or "clock",
        ) as made:
            state = "paused" if made.paused else "running"
            print(
                f"simulated time on channel {channel or 'clock'}: {moment(made.now_ns())}, "
                f"{state}, speed {made.speed:g}, Ctrl-C ends it",
                flush=True,
            )
            return node.spin()


def _refuse_second(domain: str, channel: str) -> None:
    for process, end in look(domain).ends(channel):
        if end.is_publisher:
            raise Error(
                "already_exists",
                f"process '{process.name}' (pid {process.pid}) already publishes the time on "
                f"channel '{channel}'",
                advice="control it: hyphos time pause | resume | step | speed | jump",
            )


def _channel_of(domain: str) -> str:
    """The clock channel of the domain's simulated processes."""
    for process in look(domain).processes:
        if process.clock.mode == "sim":
            return process.clock.channel
    return "clock"


def _make_command(action: str, value: str) -> Any:
    from hyphos.msgs import ClockCommand  # noqa: PLC0415

    command = ClockCommand(id=secrets.randbits(63) | 1)
    command.action = getattr(ClockCommand, action.upper())
    if action in ("step", "jump"):
        command.value_ns = parse_seconds(value)
    elif action == "speed":
        command.speed = float(value)
    return command


def command(domain: str, channel: str, action: str, value: str) -> int:
    """Sends one command to the source of simulated time and waits for its reply."""
    from hyphos.msgs import Clock, ClockCommand  # noqa: PLC0415

    channel = channel or _channel_of(domain)
    order = _make_command(action, value)
    answered = threading.Event()
    answers: list[Any] = []

    def take(clock: Any) -> None:
        if clock.last_command == order.id:
            answers.append(clock)
            answered.set()

    with open_tool("time", domain) as node:
        node.subscribe(f"{channel}/answer", Clock, take, policy=Policy(latched=True))
        control = node.publisher(
            f"{channel}/control", ClockCommand, policy=Policy(reliability="reliable")
        )
        head = f"waiting for the source of simulated time on channel '{channel}'"
        with reporting(lambda: process_lines(head, domain)):
            if not until(lambda: control.listeners > 0, _LISTENER_S):
                raise Error(
                    "not_found",
                    f"no simulated time on channel '{channel}' of domain '{domain}'",
                    advice="start it with: hyphos time sim",
                )
            control.publish(order)
            if not answered.wait(_ANSWER_S):
                raise Error("timeout", f"no reply on '{channel}/answer' in {_ANSWER_S:g} s")
    state = answers[0]
    if state.refusal:
        raise Error("invalid_config", state.refusal)
    running = "paused" if state.paused else "running"
    print(f"{moment(state.clock_ns)}, {running}, speed {state.speed:g}")
    return 0
