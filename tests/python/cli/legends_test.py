"""Pictures: legends and titles stay inside the figure, and a baseline has the same colour
everywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import yaml
from hyphos.cosim import draw
from hyphos.lab import curves, plots
from hyphos.lab.case import Case
from hyphos.lab.experiment import BUILT_IN
from hyphos.lab.plots import COLOURS, Plot
from hyphos.lab.profile.draw import stacked_bars
from hyphos.lab.profile.layers import LAYERS
from hyphos.lab.results import Row, Run
from matplotlib.backends.backend_agg import FigureCanvasAgg

SHAPES = ((1, 4), (1, 150), (5, 60), (12, 60), (12, 150))  # number of names, length of each


def long_names(count: int, length: int) -> list[str]:
    """Long names. Every second one has spaces where it may be broken."""
    filler = ("middleware_out" * 20, "a middleware of words " * 20)
    return [(f"{i}/" + filler[i % 2])[:length].strip() for i in range(count)]


def made_run(case: Case, peer: str) -> Run:
    """A run with a few latencies that looks like a measured one."""
    buckets = [[10_000, 5], [20_000, 4], [900_000, 1]]
    result = {
        **{"planned": 10, "sent": 10, "received": 9, "lost": 1, "duplicates": 0},
        **{"sources": 1, "flows": 1, "seconds": 10 / case.rate_hz, "p50_us": 20.0},
        **{"histogram_ns": buckets, "open_histogram_ns": buckets},
    }
    return Run(case, peer, 0, result)


def texts_outside(plot: Plot) -> list[str]:
    """The items that extend beyond the edges of the picture."""
    figure = plot.figure
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw_without_rendering()
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    titles = [ax.title for ax in figure.axes if ax.get_title()]
    outside = []
    for part in [*filter(None, legends), *titles]:
        box = part.get_window_extent(renderer)
        edge = figure.bbox
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= edge.x1 + 1 and box.y1 <= edge.y1 + 1
        if not inside:
            outside.append(f"{part}: {box} beyond {edge}")
    return outside


def of_lab(names: Sequence[str]) -> Iterator[Plot]:
    cases = [Case("pair", size=size, rate_hz=rate) for size in (1024, 4096) for rate in (10.0,)]
    rows = [Row(case, peer, [made_run(case, peer)]) for case in cases for peer in names]
    varied = ["size", "rate_hz"]
    yield from plots.against(rows, varied, "size", "p50_us")
    yield from curves.cumulative(rows, ["size"])
    yield from curves.knee_curves(rows, ["size"], {})


def of_cosim(names: Sequence[str]) -> Iterator[Plot]:
    ways = {name: [[0, i, 0], [1, i, 5]] for i, name in enumerate(names)}
    yield draw.field_map({"trajectories": ways, "boxes": [[0, 0, 0, 1, 1, 1]]})
    series = {
        name: [[s * 10**9, (s + 1) * 10**9, 100, 10**6, 10**7] for s in range(3)] for name in names
    }
    yield draw.windows(series)
    layers = ("physics", "network", "wait", "codec", "programs", "engine")
    yield draw.profile({name: dict.fromkeys(layers, 1.0) for name in names})
    bins = [
        {
            "from_m": 5.0 * i,
            "to_m": 5.0 * (i + 1),
            "blocked": blocked,
            "copies": 10,
            "delivered": 9,
            "delay_mean_ms": 0.6,
            "delay_least_ms": 0.4,
            "delay_most_ms": 0.9,
        }
        for i, blocked in itertools.product(range(3), (False, True))
    ]
    found = draw.by_distance({"distances": bins})
    assert found is not None
    yield found


def of_profile(names: Sequence[str]) -> Iterator[Plot]:
    yield stacked_bars(names, np.ones((len(names), len(LAYERS))) * 1e6, "bars", "caption")


@pytest.mark.parametrize(("count", "length"), SHAPES)
@pytest.mark.parametrize("make", [of_lab, of_cosim, of_profile])
def test_legends_and_titles_stay_inside(
    make: Callable[[Sequence[str]], Iterator[Plot]], count: int, length: int
) -> None:
    for plot in make(long_names(count, length)):
        assert texts_outside(plot) == [], plot.name


def test_fields_keep_their_height_beside_a_long_legend() -> None:
    def height(names: Sequence[str]) -> float:
        plot = next(of_lab(names))
        plot.figure.draw_without_rendering()
        return float(plot.figure.axes[0].get_window_extent().height)

    assert height(long_names(12, 60)) > 0.8 * height(long_names(1, 4))


def peers_together() -> list[list[str]]:
    return [
        sorted(set(plots._peers_in(yaml.safe_load(file.read_text()))))
        for file in sorted(BUILT_IN.glob("*.yaml"))
    ]


def test_a_baseline_has_one_colour_in_all_experiments() -> None:
    seen: dict[str, Any] = {}
    for peers in peers_together():
        if len(peers) > len(COLOURS):
            continue  # more names than colours
        looks = plots.styles([Row(Case("pair"), peer, []) for peer in peers])
        assert len({look["color"] for look in looks.values()}) == len(peers)
        for peer, look in looks.items():
            assert seen.setdefault(peer, look) == look, peer


def test_line_styles_in_one_picture_differ() -> None:
    for count in (2, 8, 20):
        names = [f"other/{i}" for i in range(count)]
        looks = plots.styles([Row(Case("pair"), name, []) for name in names])
        assert len({tuple(look.values()) for look in looks.values()}) == count


@pytest.mark.parametrize("span", [(0.4, 0.9), (0.06, 3.0), (1.0, 1.5), (2.0, 4000.0)])
def test_logarithmic_axes_have_plain_numbers(span: tuple[float, float]) -> None:
    with plots.facets(["field"]) as (figure, [ax]):
        ax.plot([1, 2], span)
        ax.set_yscale("log")
        plots.plain_log(ax.yaxis)
    figure.draw_without_rendering()
    texts = [label.get_text() for label in (*ax.get_yticklabels(), *ax.get_yticklabels(minor=True))]
    assert any(texts)
    assert not [text for text in texts if "\\times" in text or "×" in text or "^" in text]
