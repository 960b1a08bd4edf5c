"""hyphos channel hz | bw | delay"""

from __future__ import annotations

from collections.abc import Iterator

from hyphos._hyphos import EndpointInfo, ProcessInfo
from hyphos.observe import Delays, Look, duration, key_of, look, require_channel, states
from hyphos.tools.waiting import stoppable
from hyphos.tools.waits import channel_lines, reporting


def _windows(
    domain: str, channel: str, window_s: float, count: int | None
) -> Iterator[tuple[Look, Look]]:
    """Yields pairs of snapshots, `window_s` apart, `count` times or until Ctrl-C.

    Raises an error if the channel is gone.
    """
    before = look(domain)
    require_channel(before, channel, domain)
    done = 0

    def awaited() -> list[str]:
        head = f"measuring '{channel}' for {window_s:g} s"
        return channel_lines(head, domain, channel)

    with stoppable() as stop, reporting(awaited, limit_s=window_s) as end_report:
        while (count is None or done < count) and not stop.wait(window_s):
            now = look(domain)
            end_report()
            require_channel(now, channel, domain)
            yield before, now
            before = now
            done += 1


def rate(domain: str, channel: str, window_s: float, count: int | None) -> int:
    for before, now in _windows(domain, channel, window_s, count):
        state = states(now, before)[channel]
        silent = "" if state.publishers else ", no publisher"
        counts = f"{state.sent:,} sent, {state.dropped:,} dropped{silent}"
        print(f"{state.rate_hz:.2f} Hz  ({counts})", flush=True)
    return 0


def bandwidth(domain: str, channel: str, window_s: float, count: int | None) -> int:
    for before, now in _windows(domain, channel, window_s, count):
        state = states(now, before)[channel]
        if not state.encoded:
            print(
                f"{state.rate_hz:.1f} Hz, but nothing is encoded: no other process subscribes, and "
                "messages inside a process are passed by pointer",
                flush=True,
            )
            continue
        mean = state.megabytes_per_s * 1e3 / state.rate_hz if state.rate_hz else 0.0
        print(
            f"{state.megabytes_per_s:.3f} MB/s  ({state.rate_hz:.1f} Hz × {mean:,.3f} kB)",
            flush=True,
        )
    return 0


def _exactness(process: ProcessInfo, end: EndpointInfo) -> str:
    """The uncertainty of a latency between machines, or "" if no other machine takes part."""
    if "zmq" not in end.transports or not process.peer_clocks:
        return ""
    worst = max(peer.uncertainty_ns for peer in process.peer_clocks)
    return f", ± {duration(worst)} between machines"


def delay(domain: str, channel: str, window_s: float, count: int | None) -> int:
    for before, now in _windows(domain, channel, window_s, count):
        old = {key_of(p, e): e.latency for p, e in before.ends(channel)}
        ends = [(p, e) for p, e in now.ends(channel) if not e.is_publisher]
        if not ends:
            print("no subscriber, so there is no delay to measure", flush=True)
        names = [end.node for _, end in ends]
        for process, end in ends:
            earlier = old.get(key_of(process, end))
            delays = Delays()
            delays.add(end.latency.since(earlier) if earlier else end.latency)
            figures = (
                "  ".join(
                    f"{name} {duration(delays.percentile_ns(fraction))}"
                    for name, fraction in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
                )
                if delays.count
                else "no message"
            )
            # Nodes of two processes may have the same name.
            name = end.node if names.count(end.node) == 1 else f"{end.node} ({process.pid})"
            print(
                f"{name:<20} {figures}  ({delays.count:,} messages{_exactness(process, end)})",
                flush=True,
            )
    return 0
