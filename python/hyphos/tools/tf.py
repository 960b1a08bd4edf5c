"""hyphos tf tree | echo | pub"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.tree import Tree

from hyphos._errors import Error
from hyphos._hyphos import TransformEdge
from hyphos.observe import duration, look
from hyphos.tools.console import console, print_json
from hyphos.tools.draw import draw
from hyphos.tools.join import open_tool
from hyphos.tools.waiting import Stop, stoppable, until
from hyphos.tools.waits import channel_lines, names_text, reporting
from hyphos.transforms import Transform, Transforms

_SAME_CLOCK_NS = 86_400_000_000_000  # stamps more than a day from now belong to another clock


def nothing_came(transforms: Transforms, seconds: float, domain: str) -> Error:
    """The error after no transform arrived. It names other channels with transforms."""
    names = {end.channel for _, end in look(domain).ends() if end.is_publisher}
    prefixes = sorted({name.rpartition("/")[0] for name in names if _is_tf(name)})
    advice = f"hyphos channel info {transforms.channel} shows its publishers"
    if prefixes:
        words = " or ".join(f"--prefix {p}" if p else "no --prefix" for p in prefixes)
        advice = f"transforms are on {', '.join(sorted(filter(_is_tf, names)))}: give {words}"
    return Error(
        "timeout",
        f"no transform arrived on '{transforms.channel}' or '{transforms.channel}_static' "
        f"within {seconds:g} s",
        advice=advice,
    )


def awaited(transforms: Transforms, head: str, domain: str) -> list[str]:
    """The report of a wait for transforms: frames so far, and endpoints of the channel."""
    lines = channel_lines(head, domain, transforms.channel)
    edges = transforms.edges()
    frames = sorted({frame for edge in edges for frame in (edge.parent, edge.child)})
    known = names_text(frames) if frames else "none"
    return [*lines, f"  frames so far: {known}"]


def _is_tf(channel: str) -> bool:
    return channel.rpartition("/")[2] in ("tf", "tf_static")


def age(stamp_ns: int) -> str:
    """The age of a stamp on this machine's clock, or the stamp itself if it is of another clock."""
    ago = time.time_ns() - stamp_ns
    if abs(ago) > _SAME_CLOCK_NS:
        return f"stamp {stamp_ns / 1e9:.3f} s"
    return f"{duration(ago)} ago" if ago >= 0 else f"{duration(-ago)} ahead of this clock"


def rate_of(edge: TransformEdge) -> float:
    """Samples per second, from their stamps. 0 if there are too few."""
    span_s = (edge.newest_ns - edge.oldest_ns) / 1e9
    return (edge.samples - 1) / span_s if edge.samples > 1 and span_s > 0 else 0.0


def roots(edges: Sequence[TransformEdge]) -> list[str]:
    """The frames without a parent, in the order of their arrival."""
    children = {edge.child for edge in edges}
    return list(dict.fromkeys(edge.parent for edge in edges if edge.parent not in children))


def _describe(edge: TransformEdge) -> str:
    if edge.is_static:
        return "static"
    if not edge.samples:
        return "no sample since the clock was set back"
    rate = rate_of(edge)
    return (f"{rate:.1f} Hz, " if rate else "one sample, ") + age(edge.newest_ns)


def _as_dict(edge: TransformEdge) -> dict[str, Any]:
    return {
        "parent": edge.parent,
        "child": edge.child,
        "static": edge.is_static,
        "rate_hz": round(rate_of(edge), 3),
        "samples": edge.samples,
        "oldest_ns": edge.oldest_ns,
        "newest_ns": edge.newest_ns,
    }


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _dot(edges: Sequence[TransformEdge]) -> str:
    lines = ["digraph frames {", "  node [shape=box, fontname=sans];", "  edge [fontname=sans];"]
    for edge in edges:
        label = "static" if edge.is_static else f"{rate_of(edge):.1f} Hz"
        style = ", style=dashed" if edge.is_static else ""
        lines.append(
            f"  {_quoted(edge.parent)} -> {_quoted(edge.child)} [label={_quoted(label)}{style}];"
        )
    return "\n".join([*lines, "}"])


def _print_tree(edges: Sequence[TransformEdge]) -> None:
    below: dict[str, list[TransformEdge]] = {}
    for edge in edges:
        below.setdefault(edge.parent, []).append(edge)
    found = roots(edges)
    for root in found:
        shown = Tree(escape(root))
        open_branches = [(root, shown)]
        while open_branches:
            name, branch = open_branches.pop()
            for edge in below.get(name, []):
                text = f"{escape(edge.child)}  [dim]{escape(_describe(edge))}[/dim]"
                open_branches.append((edge.child, branch.add(text)))
        console().print(shown)
    if len(found) > 1:
        names = ", ".join(f"'{name}'" for name in found)
        print(f"{len(found)} separate trees: no transform connects {names}", file=sys.stderr)


def show_tree(
    domain: str, prefix: str, wait_s: float, *, as_json: bool, dot: bool, svg: Path | None
) -> int:
    """Collects transforms for a time and prints them. Raises an error if there are none."""
    with stoppable() as stop, open_tool("tf", domain) as node:
        transforms = node.transforms(prefix)
        head = f"collecting transforms for {wait_s:g} s"
        with reporting(lambda: awaited(transforms, head, domain), limit_s=wait_s):
            stop.wait(wait_s)
        edges = transforms.edges()
        if not edges:
            raise nothing_came(transforms, wait_s, domain)
    if svg is not None:
        draw(_dot(edges), svg)
    elif dot:
        print(_dot(edges))
    elif as_json:
        print_json({"roots": roots(edges), "frames": [_as_dict(edge) for edge in edges]})
    else:
        _print_tree(edges)
    return 0


@dataclass
class EchoOptions:
    target: str
    source: str
    rate_hz: float
    count: int | None
    timeout_s: float
    as_json: bool
    prefix: str
    domain: str


def _text(found: Transform, chain: Sequence[str]) -> str:
    x, y, z = found.translation
    qx, qy, qz, qw = found.rotation
    angles = found.roll_pitch_yaw
    degrees = ", ".join(f"{math.degrees(angle):.3f}°" for angle in angles)
    when = f"stamp_ns: {found.stamp_ns}  # {age(found.stamp_ns)}" if found.stamp_ns else "static"
    return "\n".join(
        [
            f"'{found.child}' in '{found.parent}'  # {' → '.join(chain)}",
            f"  {when}",
            f"  translation: [{x:.6f}, {y:.6f}, {z:.6f}]  # m",
            f"  rotation: [{qx:.6f}, {qy:.6f}, {qz:.6f}, {qw:.6f}]  # quaternion x, y, z, w",
            f"  roll_pitch_yaw: [{', '.join(f'{a:.6f}' for a in angles)}]  # rad, {degrees}",
            "---",
        ]
    )


def _json(found: Transform, chain: Sequence[str]) -> str:
    return json.dumps(
        {
            "target": found.parent,
            "source": found.child,
            "stamp_ns": found.stamp_ns,
            "translation": found.translation.tolist(),
            "rotation": found.rotation.tolist(),
            "roll_pitch_yaw": list(found.roll_pitch_yaw),
            "matrix": found.matrix.tolist(),
            "chain": list(chain),
        }
    )


def echo(options: EchoOptions) -> int:
    """Prints the newest transform until Ctrl-C or `count`.

    Errors after the first transform are printed, and the loop continues.
    """
    with stoppable() as stop, open_tool("tf", options.domain) as node:
        transforms = node.transforms(options.prefix)
        head = f"waiting for a transform from '{options.source}' to '{options.target}'"
        with reporting(lambda: awaited(transforms, head, options.domain)):
            known = until(lambda: _known(transforms, options), options.timeout_s, stop)
        if not known and not stop.now:
            transforms.get(
                options.target, options.source
            )  # raises the error with the missing frame
        start, shown = time.monotonic(), 0
        while not stop.now:
            try:
                found = transforms.get(options.target, options.source)
                chain, _ = transforms.chain(options.target, options.source)
                print((_json if options.as_json else _text)(found, chain), flush=True)
            except Error as error:
                print(f"# {error}", file=sys.stderr, flush=True)
            shown += 1
            if shown == options.count:
                break
            stop.wait(max(0.0, start + shown / options.rate_hz - time.monotonic()))
    return 0


def _known(transforms: Transforms, options: EchoOptions) -> bool:
    try:
        transforms.get(options.target, options.source)
    except Error:
        return False
    return True


@dataclass
class PubOptions:
    parent: str
    child: str
    xyz: tuple[float, float, float]
    rpy: tuple[float, float, float] | None
    rpy_deg: tuple[float, float, float] | None
    quaternion: tuple[float, float, float, float] | None
    static: bool
    rate_hz: float
    count: int | None
    prefix: str
    domain: str

    def transform(self, stamp_ns: int) -> Transform:
        angles = self.rpy
        if self.rpy_deg is not None:
            roll, pitch, yaw = (math.radians(angle) for angle in self.rpy_deg)
            angles = (roll, pitch, yaw)
        return Transform(
            self.parent,
            self.child,
            self.xyz,
            self.quaternion,
            roll_pitch_yaw=angles,
            stamp_ns=stamp_ns,
        )


def publish(options: PubOptions) -> int:
    """Publishes until Ctrl-C, or `count` times."""
    with stoppable() as stop, open_tool("tf", options.domain) as node:
        transforms = node.transforms(options.prefix)
        if options.static:
            transforms.set_static(options.transform(time.time_ns()))
            print(
                f"publishing '{options.child}' in '{options.parent}' until Ctrl-C",
                file=sys.stderr,
                flush=True,
            )
            stop.wait()
            return 0
        sent = _publish_moving(transforms, options, stop)
    print(f"published {sent} on {transforms.channel}", file=sys.stderr)
    return 0


def _publish_moving(transforms: Transforms, options: PubOptions, stop: Stop) -> int:
    start, sent = time.monotonic(), 0
    while not stop.now:
        transforms.set(options.transform(time.time_ns()))
        sent += 1
        if sent == options.count:
            break
        stop.wait(max(0.0, start + sent / options.rate_hz - time.monotonic()))
    return sent
