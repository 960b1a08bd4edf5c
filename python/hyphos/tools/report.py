"""The page report.html of a run: one self-contained file.

It shows the graph, one row per channel, a latency histogram per channel with the time of each
layer, and pictures that the run produced (maps).
"""

from __future__ import annotations

import base64
import html
import math
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hyphos._errors import Error
from hyphos.observe import ChannelState, Delays, duration
from hyphos.tools.draw import svg_of
from hyphos.tools.totals import Totals

_WIDTH, _HEIGHT = 420, 120  # of a histogram, px
_PER_DECADE = 12  # bars
_KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml"}

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #2a7de1; --text: #555; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem } .dim { color: var(--text) }
table { border-collapse: collapse; width: 100% }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line);
  white-space: nowrap }
th:first-child, td:first-child, .left { text-align: left }
td.bad { color: #c00; font-weight: 600 }
.graph { background: #fff; padding: .5rem; overflow-x: auto }
.graph svg { max-width: 100%; height: auto }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(430px, 1fr)); gap: 1rem }
figure { margin: 0 } figcaption { font-size: 13px }
.picture img { max-width: 100%; image-rendering: pixelated; border: 1px solid var(--line) }
"""


@dataclass
class Report:
    """The content of a report. Rates are means over the run."""

    title: str
    plan_dot: str
    seconds: float
    totals: Totals
    pictures: Sequence[Path] = ()
    notes: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Writes the page. Raises an error if the file or a picture is not accessible."""
        found = self.totals.channels()
        parts = [
            f"<h1>{html.escape(self.title)}</h1>",
            f'<p class="dim">{html.escape(_machine())}, ran {self.seconds:.1f} s</p>',
            *(f"<p>{html.escape(note)}</p>" for note in self.notes),
            "<h2>Graph</h2>",
            f'<div class="graph">{_graph(self.plan_dot)}</div>',
            "<h2>Channels</h2>",
            _table(found),
            *(f"<p>{html.escape(line)}</p>" for line in self.totals.drops()),
            "<h2>Latency, from publish() to the start of the callback</h2>",
            f'<div class="plots">{"".join(self._plots(found))}</div>',
            *(_picture(picture) for picture in self.pictures),
        ]
        text = (
            "<!doctype html><html lang=en><meta charset=utf-8>"
            '<meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(self.title)}</title><style>{_STYLE}</style>"
            + "\n".join(parts)
            + "</html>\n"
        )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise Error("io", f"cannot write the report: {error.strerror}", str(path)) from error

    def _plots(self, found: dict[str, ChannelState]) -> list[str]:
        return [
            _histogram(state, self.totals.layers(name))
            for name, state in found.items()
            if state.delays.count > 0
        ]


def _graph(dot_text: str) -> str:
    """The drawing, or the text of the graph if Graphviz is not installed."""
    try:
        return svg_of(dot_text)
    except Error as error:
        if error.code != "unsupported":
            raise
        note = f"{error.message}. This is the graph in its language: {error.advice}"
        return f"<p>{html.escape(note)}</p><pre>{html.escape(dot_text)}</pre>"


def _machine() -> str:
    when = time.strftime("%Y-%m-%d %H:%M %Z")
    system = f"{platform.system()} {platform.release()}"
    return f"{when} on {platform.node()}: {os.cpu_count()} cores, {system}"


def _table(found: dict[str, ChannelState]) -> str:
    rows = []
    for s in found.values():
        measured = s.delays.count > 0
        cells = [
            duration(s.delays.percentile_ns(p)) if measured else "–" for p in (0.5, 0.95, 0.99)
        ]
        bad = ' class="bad"' if s.dropped else ""
        rows.append(
            f"<tr><td>{html.escape(s.name)}<td class=left>{html.escape(s.type_name)}"
            f"<td class=left>{html.escape(s.transports)}<td>{s.rate_hz:.1f}"
            f"<td>{s.megabytes_text}<td>{s.sent:,}<td>{s.received:,}<td{bad}>{s.dropped:,}"
            + "".join(f"<td>{cell}" for cell in cells)
        )
    head = (
        "<tr><th>channel<th class=left>type<th class=left>transport<th>Hz<th>MB/s<th>sent"
        "<th>received<th>dropped<th>p50<th>p95<th>p99"
    )
    return f"<table>{head}{''.join(rows)}</table>"


def _histogram(state: ChannelState, layers: list[tuple[str, Delays]]) -> str:
    """Bars over a logarithmic time axis."""
    bars: dict[int, int] = {}
    for edge, count in state.delays.buckets.items():
        at = math.floor(math.log10(max(edge, 1)) * _PER_DECADE)
        bars[at] = bars.get(at, 0) + count
    first = min(bars) // _PER_DECADE * _PER_DECADE
    last = (max(bars) // _PER_DECADE + 1) * _PER_DECADE
    step = _WIDTH / (last - first)
    tallest = max(bars.values())
    drawn = "".join(
        f'<rect x="{(at - first) * step:.1f}" y="{_HEIGHT * (1 - count / tallest):.1f}" '
        f'width="{step * 0.9:.1f}" height="{_HEIGHT * count / tallest:.1f}" fill="var(--bar)"/>'
        for at, count in sorted(bars.items())
    )
    ticks = "".join(
        _tick((at - first) * step, 10 ** (at // _PER_DECADE))
        for at in range(first, last + 1, _PER_DECADE)
    )
    medians = ", ".join(f"{name} {duration(d.percentile_ns(0.5))}" for name, d in layers)
    name = html.escape(state.name)
    caption = (
        f"<b>{name}</b> {state.delays.count:,} messages, "
        f"p50 {duration(state.delays.percentile_ns(0.5))}, "
        f"p99 {duration(state.delays.percentile_ns(0.99))}"
        f'<br><span class="dim">medians by layer: {html.escape(medians)}</span>'
    )
    return (
        f'<figure><svg viewBox="-2 0 {_WIDTH + 4} {_HEIGHT + 20}" role="img" '
        f'aria-label="latencies of {name}">{ticks}{drawn}</svg>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _tick(x: float, ns: float) -> str:
    anchor = "start" if x < 1 else "end" if x > _WIDTH - 1 else "middle"
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{_HEIGHT}" stroke="var(--line)"/>'
        f'<text x="{x:.1f}" y="{_HEIGHT + 14}" font-size="11" fill="currentColor" '
        f'text-anchor="{anchor}">{duration(ns)}</text>'
    )


def check_picture(path: Path) -> str:
    """The media type of a picture, from its name. Raises an error if a report cannot show it."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise Error("unsupported", f"a report can only show {', '.join(_KINDS)} files", str(path))
    return kind


def _picture(path: Path) -> str:
    kind = check_picture(path)
    try:
        data = base64.b64encode(path.read_bytes()).decode()
    except OSError as error:
        raise Error(
            "not_found", f"cannot read the picture for the report: {error.strerror}", str(path)
        ) from error
    name = html.escape(path.name)
    image = f'<img alt="{name}" src="data:{kind};base64,{data}">'
    return f'<h2>{name}</h2><div class="picture">{image}</div>'
