"""Measures the load of a running robot's channels, as `load:` of its plan."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from hyphos._errors import Error
from hyphos.observe import Look, is_hidden, key_of, look
from hyphos.tools.waiting import stoppable


@dataclass
class Seen:
    """One channel between two looks. Publishers that only pass pointers count no bytes, and the
    size stays unknown."""

    publishers: int = 0
    messages: int = 0
    sizes: list[float] = field(default_factory=list)
    work_us: dict[str, float] = field(default_factory=dict)  # by subscribing node


def observe(domain: str, seconds: float) -> str:
    """YAML for `include:` of the plan. Raises Error if nothing runs in the domain."""
    before = look(domain)
    if not before.processes:
        raise Error("not_found", f"nothing runs in the domain '{domain}'", advice="hyphos run …")
    with stoppable() as stop:
        stop.wait(seconds)
    now = look(domain)
    return _yaml(_seen(before, now), now.time_s - before.time_s)


def _seen(before: Look, now: Look) -> dict[str, Seen]:
    old = before.by_key()
    found: dict[str, Seen] = defaultdict(Seen)
    for process, end in now.ends():
        earlier = old.get(key_of(process, end))
        if is_hidden(end.channel) or earlier is None:
            continue
        seen = found[end.channel]
        sent = end.counter("sent") - earlier.counter("sent")
        taken = end.counter("received") - earlier.counter("received")
        count = sent if end.is_publisher else taken
        size = (end.counter("bytes") - earlier.counter("bytes")) / count if count else 0.0
        if size:
            seen.sizes.append(size)
        if end.is_publisher:
            seen.publishers += 1
            seen.messages += sent
        elif taken:
            callback = dict(end.layers)["callback"].since(dict(earlier.layers)["callback"])
            seen.work_us[end.node] = callback.mean_ns / 1e3
    return found


def _yaml(found: dict[str, Seen], seconds: float) -> str:
    lines = [
        "# Loads of channels and durations of callbacks, measured with `hyphos lab loads`.",
        "# Callbacks include their wait for a processor or a lock.",
        "channels:",
    ]
    unknown = []
    for name, seen in sorted(found.items()):
        if not seen.messages:
            continue
        rate = seen.messages / seconds / max(1, seen.publishers)
        size = max(seen.sizes, default=0.0)
        if not size:
            unknown.append(name)
        lines.append(f"  {name}: {{load: {{rate_hz: {rate:.4g}, size: {round(size)}}}}}")
    lines.append("nodes:")
    nodes: dict[str, dict[str, float]] = defaultdict(dict)
    for name, seen in found.items():
        for node, work_us in seen.work_us.items():
            nodes[node][name] = work_us
    for node, works in sorted(nodes.items()):
        inner = ", ".join(f"{name}: {us:.3g}" for name, us in sorted(works.items()))
        lines.append(f"  {node}: {{load: {{work_us: {{{inner}}}}}}}")
    if unknown:
        lines.append(f"# Only pointers travelled, so add the sizes of: {', '.join(unknown)}")
    return "\n".join(lines) + "\n"
