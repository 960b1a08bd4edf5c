"""The report of a command that waits: after two seconds, on stderr, once.

It names the thing that the command waits for, and the endpoints or processes that exist meanwhile.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, ProcessInfo
from hyphos.observe import Look, domains_text, drops_of, duration, look

AFTER_S = 2.0
_MOST = 8  # lines or names in a report


@contextmanager
def reporting(
    text: Callable[[], str | Sequence[str]],
    after_s: float | None = AFTER_S,
    *,
    limit_s: float = math.inf,
) -> Iterator[Callable[[], None]]:
    """Prints the lines of text() on stderr once the block has lasted `after_s`.

    `limit_s`: the longest time of the block. A block that should end before the report prints none,
    also if the machine stalls.

    Yields a function that ends the wait earlier, such as at the first message. Thread-safe. text()
    runs in another thread, and must only read. `after_s` None: no report.
    """
    ended = threading.Event()
    if after_s is not None and limit_s <= after_s:
        after_s = None

    def report() -> None:
        if ended.wait(after_s) or after_s is None:
            return
        try:
            found = text()
        except Error as error:  # shared memory cannot be read
            found = str(error)
        lines = [found] if isinstance(found, str) else found
        print("\n".join(lines), file=sys.stderr, flush=True)

    thread = threading.Thread(target=report, name="wait-report", daemon=True)
    thread.start()
    try:
        yield ended.set
    finally:
        ended.set()
        thread.join()


def channel_lines(head: str, domain: str, *channels: str) -> list[str]:
    """`head`, then the endpoints of each channel with their counts, or the processes without it."""
    lines = [head]
    for channel in channels[:_MOST]:
        lines += (f"  {line}" for line in _channel(domain, channel))
    if len(channels) > _MOST:
        lines.append(f"  and {len(channels) - _MOST} more channels")
    return lines


def _channel(domain: str, channel: str) -> list[str]:
    now = others(look(domain))
    ends = list(now.ends(channel))
    publishers = [pair for pair in ends if pair[1].is_publisher]
    subscribers = [pair for pair in ends if not pair[1].is_publisher]
    lines = [*_end_lines(publishers, "publisher"), *_end_lines(subscribers, "subscriber")]
    if not publishers:
        lines.insert(0, f"no publisher of '{channel}' on this machine")
        lines += _elsewhere(now, domain)
    elif not any(end.counter("sent") for _, end in publishers):
        plural = "" if len(publishers) == 1 else "s"
        lines.append(f"the publisher{plural} of '{channel}' sent nothing yet")
    return lines


def process_lines(head: str, domain: str) -> list[str]:
    """`head`, then the processes of the domain, with their peers on other machines."""
    return [head, *(f"  {line}" for line in _elsewhere(others(look(domain)), domain))]


def others(now: Look) -> Look:
    """The snapshot without this process, which is a tool."""
    return Look(now.time_s, [one for one in now.processes if one.pid != os.getpid()])


def names_text(names: Sequence[str]) -> str:
    """At most eight names, then the number of the rest."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _end_lines(ends: Sequence[tuple[ProcessInfo, EndpointInfo]], role: str) -> list[str]:
    lines = [
        f"{role} {end.node} (process {process.name}, pid {process.pid}): {_counts(end)}"
        for process, end in ends[:_MOST]
    ]
    if len(ends) > _MOST:
        lines.append(f"and {len(ends) - _MOST} more {role}s")
    return lines


def _counts(end: EndpointInfo) -> str:
    name = "sent" if end.is_publisher else "received"
    parts = [f"{end.counter(name):,} {name}"]
    if drops := drops_of(end):
        parts.append(f"{drops:,} dropped")
    if end.last_ns:
        age_ns = max(0, _hyphos.monotonic_ns() - end.last_ns)
        parts.append(f"the last {duration(age_ns)} ago")
    return ", ".join(parts)


def _elsewhere(now: Look, domain: str) -> list[str]:
    """The processes of the domain and their peers, or the domains with processes."""
    names = sorted({process.name for process in now.processes})
    if not names:
        more = domains_text(domain)
        return [f"no other process runs in domain '{domain}'", *([more] if more else [])]
    lines = [f"processes in domain '{domain}': {names_text(names)}"]
    peers = {
        f"{peer.process} at {peer.endpoint}"
        for process in now.processes
        for peer in process.peer_clocks
    }
    if peers:
        lines.append(
            f"peers on other machines: {names_text(sorted(peers))}. A tool sees the channels of "
            "its own machine: run it there"
        )
    return lines
