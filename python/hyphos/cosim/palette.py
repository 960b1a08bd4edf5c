"""One colour and mark for each peer in all pictures of the co-simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from hyphos.lab.plots import COLOURS, MARKS

# Peers that stand beside each other in a picture have different colours.
_KNOWN = (
    ("udp", "tcp"),
    ("plain", "acknowledged"),
    ("masterless", "master"),
    ("line of sight", "blocked path"),
    ("analytic", "ns3", "replay", "ideal"),
    ("lockstep", "fixed_window", "sliding_window", "variable_stepped", "global_event", "adaptive"),
    ("physics", "network", "wait", "codec", "programs", "engine"),
)
_PLACES = {name: place for group in _KNOWN for place, name in enumerate(group)}
# Figures of the paper: a lighter tone of the same peer, so that UDP and TCP of the paper differ.
_PAPER = ("#7fb8dc", "#f0a36b", "#7fcfb2", "#e3bcd0", "#f2cd7a", "#a9d8f2", "#777777", "#cccccc")


def place_of(name: str) -> int:
    """The place of a peer in the palette, the same in every picture."""
    known = _PLACES.get(name.lower())
    return crc32(name.encode()) % len(COLOURS) if known is None else known


def places(names: Sequence[str]) -> dict[str, int]:
    """A place for each of the names of one picture. If two have the same, the later one takes a
    free one."""
    taken: dict[str, int] = {}
    for name in names:
        wanted = place_of(name)
        free = [i for i in range(len(COLOURS)) if i not in taken.values()]
        taken[name] = wanted if wanted in free or not free else free[0]
    return taken


def style(place: int, *, paper: bool = False) -> dict[str, Any]:
    """The colour and mark of a place. The figures of the paper have a lighter tone, a hollow mark
    and a broken line."""
    mark = MARKS[place % len(MARKS)]
    if not paper:
        return {"color": COLOURS[place % len(COLOURS)], "marker": mark}
    return {
        "color": _PAPER[place % len(_PAPER)],
        "marker": mark,
        "markerfacecolor": "none",
        "linestyle": "--",
    }


def robot_colours(robots: Sequence[str]) -> dict[str, str]:
    """The colours of the robots of a scenario, by their order in it."""
    return {robot: COLOURS[i % len(COLOURS)] for i, robot in enumerate(robots)}
