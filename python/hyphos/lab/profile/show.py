"""A profile on the terminal: tables, stacked bars, and the flow of single messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from hyphos.lab.profile.flows import Flows, Way
from hyphos.lab.profile.layers import COLOURS, LAYERS
from hyphos.lab.profile.profile import ChannelProfile, PathProfile, Profile
from hyphos.observe import duration
from hyphos.tools.console import table

BAR = 48  # characters
LANE = 64
# Without colours, letters distinguish the layers.
LETTERS = ("e", "h", "t", "d", "q", "p", "C", "·")


def print_profile(out: Console, told: Profile, *, paths: int = 8) -> None:
    """Prints the profile, with at most `paths` paths."""
    out.print(_summary(told))
    out.print(_legend(out))
    out.print(channel_table(out, told.channels))
    if not told.paths:
        out.print("no message was followed from its source to its end")
        return
    out.print("paths: first publish → end of the last callback\n")
    for block in path_blocks(out, told.paths[:paths]):
        out.print(block)
    if len(told.paths) > paths:
        out.print(f"… and {len(told.paths) - paths} more paths (--path chooses, --json has all)")
    path = told.paths[0]
    out.print()
    out.print(critical_line(path))
    for fraction in (0.5, 0.95):
        out.print(swimlane(out, told.flows, path.at(fraction), f"p{fraction * 100:.0f}"))


def _summary(told: Profile) -> str:
    flows = told.flows
    lines = [
        f"{len(flows.publishes):,} publishes and {len(flows.receptions):,} callbacks in "
        f"{flows.found.seconds:.1f} s"
    ]
    if told.cut or flows.unheard:
        lines.append(
            f"{flows.unheard:,} publishes have no reception or are still in flight, "
            f"{told.cut:,} paths began before the first look"
        )
    if flows.found.missed:
        names = ", ".join(f"{name} {count:,}" for name, count in flows.found.missed.items())
        lines.append(f"missed, because they were overwritten before they were read: {names}")
    lines.append(cost_line(flows.found.cost()))
    return "\n".join(lines)


def cost_line(cost: Mapping[str, float]) -> str:
    """The cost of profiling."""
    events, missed = int(cost["events"]), int(cost["missed"])
    return (
        f"the profiler itself: {cost['cpu_s']:.2f} s of CPU, {cost['cores']:.2%} of a core while "
        f"it read {cost['messages_per_s']:,.0f} messages/s, {missed:,} of "
        f"{events + missed:,} events missed"
    )


def _block(out: Console, layer: int, width: int) -> Text:
    if out.color_system is None:
        return Text(LETTERS[layer] * width)
    return Text("█" * width, style=COLOURS[layer])


def _legend(out: Console) -> Text:
    line = Text()
    for i, name in enumerate(LAYERS):
        line.append_text(_block(out, i, 1)).append(f" {name}  ")
    return line


def stacked(out: Console, parts: Sequence[float], whole: float, width: int = BAR) -> Text:
    """A bar of the layers, `width` characters for `whole`. Rounds the end of each layer, so that
    the length of the bar is that of the sum."""
    bar = Text()
    sum_ns, drawn = 0.0, 0
    for i, ns in enumerate(parts):
        sum_ns += max(0.0, ns)
        end = round(sum_ns / whole * width) if whole > 0 else 0
        bar.append_text(_block(out, i, end - drawn))
        drawn = end
    return bar


def channel_table(out: Console, channels: Sequence[ChannelProfile]) -> RenderableType:
    """Each bar shows the whole mean latency of its row."""
    right = ["messages", "p50", "p95", "p99", "mean", "callback"]
    made = table("channels: publish → callback", ["channel", *right[:5], "", "callback"], right)
    for one in channels:
        exact = f" ± {duration(one.uncertainty_ns)}" if one.uncertainty_ns else ""
        means = [one.layers[name].mean for name in LAYERS[:6]]
        made.add_row(
            f"{', '.join(one.publishers) or '?'} ─{one.channel}→ {one.subscriber}",
            f"{one.latency.count:,}",
            duration(one.latency.p50),
            duration(one.latency.p95),
            duration(one.latency.p99),
            duration(one.latency.mean) + exact,
            stacked(out, means, sum(means)),
            duration(one.layers["callback"].mean),
        )
    return made


def path_blocks(out: Console, paths: Sequence[PathProfile]) -> Iterator[RenderableType]:
    """Each path with its hops, whose bars add up to its mean."""
    for path in paths:
        whole = path.total.mean
        head = Text(path.name, style="bold" if path.critical else "")
        if path.critical and path.rivals:
            head.append(f"  slowest of {path.rivals + 1} between its ends", style="red")
        if path.inferred:
            head.append("  inferred", style="dim")
        exact = f" ± {duration(path.uncertainty_ns)}" if path.uncertainty_ns else ""
        total = path.total
        head.append(
            f"\n  {total.count:,} messages, p50 {duration(total.p50)}, p95 {duration(total.p95)}, "
            f"p99 {duration(total.p99)}, mean {duration(total.mean)}{exact}",
            style="not bold",
        )
        yield head
        grid = Table.grid(padding=(0, 2))
        grid.add_column()
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(no_wrap=True)
        for i, (channel, place) in enumerate(path.hops):
            row = path.parts[i]
            name = f"    ─{channel}→ {place}"
            grid.add_row(name, duration(row.sum()), stacked(out, row.tolist(), whole))
        yield grid


def critical_line(path: PathProfile) -> Text:
    hop, layer, share = path.costliest()
    channel, place = path.hops[hop]
    ns = float(path.tail[hop].max())
    where = f"in {place}" if layer in ("callback", "hold") else f"of {channel} to {place}"
    return Text.assemble(
        "critical: ",
        (path.name, "bold"),
        f", p95 {duration(path.total.p95)}. Its slowest messages spend {share:.0%} "
        f"({duration(ns)}) in ",
        (f"{layer} {where}", "bold"),
    )


def swimlane(out: Console, flows: Flows, way: Way, title: str) -> RenderableType:
    """One message over time: a lane for each node on the path, a column for each moment."""
    whole = max(way.total_ns, 1)
    begin = way.steps[0].publish_ns
    head = Text.assemble(
        (f"{title}: {duration(way.total_ns)}", "bold"),
        f"  (a column is {duration(whole / LANE)})",
    )
    lines: list[Text] = [head]
    names = [flows.end(step.row).place for step in way.steps]
    width = max(len(name) for name in names) + 1
    for name, step in zip(names, way.steps, strict=True):
        before = round((step.publish_ns - begin) / whole * LANE)
        bar = stacked(out, step.parts, whole, LANE)
        cells = Text(name.ljust(width) + "│" + " " * before).append_text(bar)
        cells.append(" " * (LANE - before - len(bar)) + "│ ")
        cells.append(f"{flows.end(step.row).channel}, {duration(sum(step.parts))}")
        lines.append(cells)
    return Group(*lines, "")
