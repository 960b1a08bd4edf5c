"""Measures graphs, and compares the results with the predictions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from hyphos.lab.capacity import families
from hyphos.lab.capacity.bench import Bench, Measured
from hyphos.lab.capacity.check import Answer, Verdict, check
from hyphos.lab.capacity.fit import linear
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph
from hyphos.lab.capacity.profile import Profile

KB = 1 << 10
SHORT = "short"  # shown as the transport of graphs with short queues


@dataclass(frozen=True)
class Comparison:
    """One graph: its saturation point as predicted, also by the rivals, and as measured."""

    graph: str
    way: str
    predicted: float
    low: float
    high: float
    classic: float
    linear: float
    measured: Measured

    @property
    def error(self) -> float:
        """Relative error: +0.1 means predicted 10 % too high."""
        return self.predicted / self.measured.scale - 1.0

    def verdict(self, load: float) -> Verdict:
        """The predicted verdict on the graph at `load` times its rates."""
        if self.low >= load:
            return Verdict.FITS
        return Verdict.DOES_NOT_FIT if self.high < load else Verdict.MARGINAL


def comparison_json(one: Comparison) -> dict[str, Any]:
    told = {key: value for key, value in asdict(one).items() if key != "measured"}
    return {
        **told,
        "measured": one.measured.scale,
        "searches": [(knee.low, knee.high) for knee in one.measured.searches],
        "disturbed": one.measured.disturbed,
        "apart": one.measured.apart,
        "pace": one.measured.pace,
        "error": one.error,
    }


def compare(
    graph: Graph, profile: Profile, bench: Bench, link: str = "", way: str = ""
) -> Comparison | None:
    """Predicts, then measures. None if stopped. Raises Error if the graph cannot be predicted. The
    search begins near the prediction."""
    answer = check(graph, profile, link, shared=True)
    measured = bench.measure(graph, answer.knee * 0.8)
    return None if measured is None else _beside(answer, measured, way)


def comparison(
    graph: Graph, profile: Profile, measured: Measured, link: str = "", way: str = ""
) -> Comparison:
    """Predicts a measured graph. Raises Error if the graph cannot be predicted."""
    return _beside(check(graph, profile, link, shared=True), measured, way)


def _beside(answer: Answer, measured: Measured, way: str) -> Comparison:
    points = [point for one in answer.ways.values() for point in one.measured()]
    return Comparison(
        answer.graph.name,
        way or "+".join(answer.ways),
        answer.knee,
        answer.low,
        answer.high,
        answer.classic,
        linear(points)(answer.graph),
        measured,
    )


@dataclass(frozen=True)
class Summary:
    """Absolute errors of the model or a rival."""

    median: float
    worst: float


def summary(errors: Iterable[float]) -> Summary:
    sizes = [abs(error) for error in errors]
    return Summary(median(sizes), max(sizes))


LOADS = (0.5, 0.7, 0.85, 1.2, 1.5, 2.0)


def confusion(compared: Iterable[Comparison]) -> dict[Verdict, tuple[int, int]]:
    """The number of each verdict for carried and for failed graphs. Takes every graph at loads
    below and above its measured saturation point."""
    counts = {verdict: [0, 0] for verdict in Verdict}
    for one in compared:
        for load in LOADS:
            counts[one.verdict(load * one.measured.scale)][load > 1.0] += 1
    return {verdict: (held, broke) for verdict, (held, broke) in counts.items()}


def held_out(way: str, largest: int = 1 << 18) -> list[Graph]:
    """The test set: graphs outside every calibration, with messages of at most `largest` bytes."""
    build = families
    if way == POINTER:
        return [
            build.echo(4, 64, way),
            build.echo(16, 64, way),
            build.fanout(11, 64, way),
            build.pipeline(10, 64, way),
            build.fanout(4, 64, way, work_us=200.0),
            build.robot(2, KB, way),
            *(build.scattered(seed, 64, way) for seed in (1, 2, 4, 5)),
        ]
    if way == LINK:
        return [
            build.echo(2, 4 * KB, way),
            build.echo(8, 64, way),
            build.echo(4, min(largest, 64 * KB), way),
            build.fanout(2, 16 * KB, way),
            build.fanout(6, 4 * KB, way),
            build.fanin(8, KB, way),
            build.pipeline(3, min(largest, 64 * KB), way),
            build.robot(1, 16 * KB, way),
            build.fanin(4, 512, way),
            build.echo(6, 16 * KB, way),
            build.fanout(3, KB, way),
            *(build.scattered(seed, min(largest, 64 * KB), way) for seed in (1, 2, 4, 5, 6, 7)),
        ]
    assert way in (SHM, TCP)
    return [
        build.echo(2, 4 * KB, way),
        build.echo(4, 108 * KB, way),
        build.echo(16, 4 * KB, way),
        build.echo(24, 32 * KB, way),
        build.fanout(4, KB, way),
        build.fanout(12, 64 * KB, way),
        build.fanin(8, KB, way),
        build.pipeline(8, 4 * KB, way),
        build.echo(6, KB, way, work_us=100.0),
        build.robot(2, 64 * KB, way),
        build.echo(12, 8 * KB, way),
        build.fanout(6, 32 * KB, way),
        build.fanin(4, 4 * KB, way),
        *(build.scattered(seed, 256 * KB, way) for seed in range(1, 9)),
    ]


def held_out_short(way: str) -> list[Graph]:
    """Graphs whose queues drop before a processor is full. A calibration contains none."""
    size = 64 if way == POINTER else 4 * KB
    return [
        families.with_short_queues(graph, depth)
        for graph, depth in (
            (families.robot(2, KB, way), 2),
            (families.robot(1, size, way), 4),
            (families.scattered(2, size, way), 2),
            (families.scattered(4, size, way), 4),
            (families.echo(8, 64, way), 8),
            (families.pipeline(5, KB, way), 4),
        )
    ]
