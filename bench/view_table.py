"""The tables of bench/view.py."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

TITLES = {"rviz": "RViz", "rerun": "rerun", "hyphos": "Hyphos"}


def _median(values: list[float]) -> float:
    return statistics.median(values) if values else float("nan")


def _ms(values: list[float]) -> str:
    return ", ".join("–" if math.isnan(value) else f"{value:.0f}" for value in values) + " ms"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _bytes_a_point(marks: list[dict[str, Any]]) -> float:
    first, last = marks[0], marks[-1]
    if first["points"] == last["points"]:
        return float("nan")
    return float((last["rss_mb"] - first["rss_mb"]) * 1e6 / (last["points"] - first["points"]))


def _mark(at: int, growth: dict[str, Any]) -> str:
    mark = growth["marks"][at]
    return f"{mark['cpu_percent']:.1f} %, {mark['rss_mb']:,.0f} MB"


def _points(found: list[dict[str, Any]]) -> str:
    there = [each for each in found if each["marks"]]
    head = ["", *(f"{TITLES[each['name']]} {each['version']}" for each in there), "bar"]
    rows: list[list[str]] = []

    def row(title: str, text: Callable[[dict[str, Any]], str], bar: str = "") -> None:
        rows.append([title, *(text(each) for each in there), bar])

    row("start → first picture", lambda e: f"{_median(e['start_s']):.2f} s")
    for at, mark in enumerate(there[0]["marks"] if there else []):
        title = f"{mark['points'] / 1e6:g} M points: processor, resident memory"
        row(title, partial(_mark, at), "≤ 10 %, flat, ≤ 200 MB")
    row("the last without files of libraries", lambda e: f"{e['marks'][-1]['own_mb']:,.0f} MB")
    row("pictures a second meanwhile",
        lambda e: f"{_median([m['frames'] for m in e['marks']]) / 10:.1f}")  # fmt: skip
    row("the X server's processor",
        lambda e: f"{_median([m['x_percent'] for m in e['marks']]):.1f} %")  # fmt: skip
    row("10 s after the stream has stopped: processor, pictures in 10 s",
        lambda e: f"{e['after_percent']:.2f} %, {e['after_frames']}", "≤ 0.5 %")  # fmt: skip
    row("bytes a point", lambda e: f"{_bytes_a_point(e['marks']):.0f}", "≤ 20")
    row("camera moves over all points: period of a picture, p50 and p95",
        lambda e: _ms([e["moving_p50_ms"], e["moving_p95_ms"]]), "≤ 60 ms")  # fmt: skip
    row("processor time of such a picture", lambda e: f"{e['moving_cpu_ms']:.0f} ms")
    row("complete picture after it", lambda e: f"{e['complete_s'] or 0:.2f} s", "≤ 1.5 s")
    text = _table(head, rows)
    for each in found:
        if each["absent"]:
            text += f"\n{TITLES[each['name']]} is left out: {each['absent']}\n"
        if each["report"]:
            r = each["report"]
            text += (
                f"\nHyphos: {r['messages']:,} messages, {r['uploads']:,} uploads, "
                f"{r['frames']:,} frames, {r['received']:,} received, {r['dropped']:,} dropped.\n"
            )
    return text


def _picture(runs: list[dict[str, Any]], start: dict[str, Any] | None) -> str:
    def middle(name: str) -> float:
        return _median([float(run[name]) for run in runs])

    rows = []
    if runs:
        rows += [
            ["frame while the camera moves, p50 and p95",
             f"{middle('moving_p50_ms'):.0f}, {middle('moving_p95_ms'):.0f} ms",
             f"{middle('moving_cpu_ms'):.0f} ms", "≤ 60 ms"],
            ["complete after it has stopped", f"{middle('complete_ms') / 1e3:.2f} s",
             f"{middle('complete_cpu_ms') / 1e3:.2f} s", "≤ 1.5 s"],
            ["bytes a point, all memory", f"{middle('bytes_a_point'):.1f}", "", "≤ 20"],
            ["uploads, and uploads of a frame without a change",
             f"{middle('uploads'):.0f}, {middle('idle_uploads'):.0f}", "", "messages, 0"],
            [f"plot of {runs[0]['samples']:,} samples: pan, p50 and p95",
             f"{middle('pan_p50_ms'):.1f}, {middle('pan_p95_ms'):.1f} ms",
             f"{middle('plot_cpu_ms'):.1f} ms", "≤ 20 ms"],
            ["the same: zoom, p50 and p95",
             f"{middle('zoom_p50_ms'):.1f}, {middle('zoom_p95_ms'):.1f} ms", "", "≤ 20 ms"],
        ]  # fmt: skip
    if start is not None:
        rows += [
            ["recording: start → first picture of the window",
             f"{_median(start['window_s']):.2f} s", "", "≤ 0.3 s"],
            ["recording: `--png`, start → exit", f"{_median(start['png_s']):.2f} s",
             f"{_median(start['png_cpu_s']):.2f} s", "≤ 1 s"],
        ]  # fmt: skip
    return _table(["", "time", "processor time", "bar"], rows)


def _ratios(rows: dict[str, list[dict[str, Any]]], name: str, channel: str, what: str) -> str:
    pairs = zip(rows[name], rows["alone"], strict=True)
    ratios = sorted(own[channel][what] / alone[channel][what] for own, alone in pairs)
    low, high = ratios[len(ratios) // 4], ratios[len(ratios) * 3 // 4]
    return f"{_median(ratios):.2f} ({low:.2f} to {high:.2f})"


def _robot(found: dict[str, Any]) -> str:
    rows = found["rows"]
    lines = []
    for channel, title in (("odom", "odometry, 500 Hz"), ("lidar", "lidar, 320 KB, 10 Hz")):
        for what in ("p50", "p99"):
            values = [f"{_median([r[channel][what] for r in rows[n]]):.0f} µs" for n in rows]
            ratios = [_ratios(rows, name, channel, what) for name in list(rows)[1:]]
            lines.append([f"{title}: {what}", *values, *ratios])
    text = _table(
        ["latency", "alone", "second subscriber", "viewer", "stopped viewer", "subscriber ÷ alone",
         "viewer ÷ alone", "stopped ÷ alone"], lines)  # fmt: skip
    shown = found["shown"]
    received = sum(each["received"] for each in shown)
    missing = sum(each["missing"] for each in shown)
    dropped = sum(each["dropped"] for each in shown)
    text += (
        f"\n{len(rows['alone'])} rounds, {found['seconds']:g} s each. Ratios are medians over the "
        f"rounds, with their quartiles. The viewers received {received:,} messages, and reported "
        f"{missing:,} as missing and {dropped:,} as dropped. The robot's counters at the end of a "
        f"round, at most: "
    )
    return text + (", ".join(f"`{k}` {v:,}" for k, v in found["drops"].items()) or "none") + ".\n"


def markdown(found: dict[str, Any]) -> str:
    machine = found["machine"]
    load = ", ".join(f"{value:.1f}" for value in found["load"])
    parts = [
        f"Machine: {machine['cores']} × {machine['cpu']}, {machine['memory']}, "
        f"{machine['system']}, kernel {machine['kernel']}.\nLoad at the begin and end: {load}.\n"
    ]
    if "points" in found:
        parts.append(_points(found["points"]))
    if "picture" in found or "start" in found:
        parts.append(_picture(found.get("picture", []), found.get("start")))
    if "robot" in found:
        parts.append(_robot(found["robot"]))
    return "\n".join(parts)
