"""A folder of results: the experiment, the machines, and every run in order of measurement."""

from __future__ import annotations

import csv
import json
import math
import operator
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from statistics import median
from typing import Any

from hyphos._errors import Error
from hyphos.lab.case import Case, case_from
from hyphos.lab.machine import Load
from hyphos.lab.stats import (
    Estimate,
    Histogram,
    bootstrap,
    percentile_intervals,
    pooled,
    wilson,
)

# Figures of a run whose median over the runs represents them.
PLAIN = (
    "cpu_us_per_msg",
    "pub_cpu_us_per_msg",
    "pub_cost_p50_us",
    "memory_mb",
    "messages_per_s",
    "mb_per_s",
    "cpu_utilization",  # per cent of one processor, including the daemon
    "daemon_cpu_utilization",  # the daemon alone
    "pub_cpu_utilization",  # the publishers alone
)
# The arrival rates in the windows of an uncapped run, and the statistic over the windows of all
# runs.
RATES: dict[str, Callable[[Sequence[float]], float]] = {
    "publishing_rate_hz": median,
    "publishing_rate_low_hz": min,
    "publishing_rate_high_hz": max,
}
# Percentiles over the messages of all runs. `open`: from the due time of a message.
# `average_delay`: of the means of ten messages.
PERCENTILES = {
    f"{prefix}p{name}_us": (histogram, percent)
    for prefix, histogram in (("", "histogram_ns"), ("open_", "open_histogram_ns"))
    for name, percent in (("50", 50.0), ("95", 95.0), ("99", 99.0), ("999", 99.9), ("100", 100.0))
} | {
    f"average_delay_p{percent}_us": ("average_delay_histogram_ns", float(percent))
    for percent in (5, 50, 95)
}
SHARES = ("lost_share", "unsent_share")
# The mean over the messages of all runs, for the same two latencies.
MEANS = {"mean_us": "histogram_ns", "open_mean_us": "open_histogram_ns"}
# The size divided by the mean latency: the throughput of a publisher that waits for each message.
LATENCY_THROUGHPUT = "latency_mb_per_s"
METRICS = (*PERCENTILES, *MEANS, LATENCY_THROUGHPUT, *PLAIN, *RATES, *SHARES)
# Results of `hyphos lab saturate`: the saturation point, and N·f·S there in MB/s.
KNEE_METRICS = ("knee_hz", "knee_mb_per_s")
# Counts of events, summed over all runs.
COUNTS = ("lost", "unsent", "duplicates", "corrupt", "late_sends")
HIGHER_IS_BETTER = ("messages_per_s", "mb_per_s", LATENCY_THROUGHPUT, *RATES)
VERDICTS = "verdicts.json"
HISTOGRAMS = ("histogram_ns", "open_histogram_ns", "average_delay_histogram_ns")
WINDOWS = "publishing_rates_hz"
# Histograms as `json` writes them. A histogram in another format is parsed with the rest of its
# line.
_BUCKETS = re.compile(rb'"((?:open_|average_delay_)?histogram_ns)": (?=\[\[)')


@dataclass(frozen=True)
class Stored:
    """The location of a run's histograms in its file, since thousands of runs do not fit in
    memory."""

    path: Path
    spans: dict[str, tuple[int, int]]  # offset and length

    def read(self, name: str) -> Histogram:
        at, length = self.spans[name]
        try:
            with self.path.open("rb") as file:
                file.seek(at)
                return Histogram(json.loads(file.read(length)))
        except (OSError, ValueError, TypeError):
            raise Error(
                "corrupt",
                "the results were changed while they were read",
                str(self.path),
                "run the command again",
            ) from None


@dataclass(frozen=True)
class Run:
    """One run of one case by one peer."""

    case: Case
    peer: str
    repeat: int
    result: dict[str, Any] | None  # the program's result; None if it failed
    failure: str = ""
    load: Load = field(default_factory=lambda: Load(0.0, 0.0))
    at: str = ""
    machine: str = ""  # its name in machine.json
    stored: Stored | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str, int]:
        return self.case.key(), self.peer, self.repeat

    def to_json(self) -> dict[str, Any]:
        """For a new run only: histograms of a run from a file stay in that file."""
        told = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "stored"}
        return told | {"case": asdict(self.case), "load": asdict(self.load)}

    def histogram(self, name: str) -> Histogram:
        """Reads the file if the run comes from one, so keep a histogram that you use repeatedly."""
        if self.stored is not None and name in self.stored.spans:
            return self.stored.read(name)
        return Histogram((self.result or {}).get(name, ()))


def _run_of(line: bytes, path: Path, at: int) -> Run:
    """The run of a line that begins at `at`. Skips the buckets of histograms, which are nearly all
    of the line and of the parsing time."""
    spans: dict[str, tuple[int, int]] = {}
    rest = bytearray()
    end = 0
    while (found := _BUCKETS.search(line, end)) is not None:
        begin = found.end()
        after = line.find(b"]]", begin) + 2
        spans[found[1].decode()] = at + begin, after - begin
        rest += line[end:begin] + b"null"
        end = after
    run = run_from(json.loads(bytes(rest + line[end:])))
    if run.result is not None:
        for name in spans:
            run.result.pop(name, None)
    return replace(run, stored=Stored(path, spans)) if spans else run


def run_from(data: dict[str, Any]) -> Run:
    return Run(
        case_from(data["case"]),
        data["peer"],
        data["repeat"],
        data["result"],
        data["failure"],
        Load(**data["load"]),
        data["at"],
        data.get("machine", ""),
    )


@dataclass
class Row:
    """All runs of one case by one peer."""

    case: Case
    peer: str
    runs: list[Run] = field(default_factory=list)
    # The intervals of all requested percentiles of each histogram. They cost more than everything
    # else, and one pass gives all of them.
    _known: dict[str, dict[float, Estimate]] = field(default_factory=dict, repr=False)

    @property
    def failure(self) -> str:
        return next((run.failure for run in self.runs if run.failure), "")

    @property
    def disturbed(self) -> int:
        return sum(run.load.disturbed for run in self.done)

    @property
    def done(self) -> list[Run]:
        return [run for run in self.runs if run.result is not None]

    @property
    def used(self) -> list[Run]:
        """The quiet runs if they are at least half of all, else all."""
        quiet = [run for run in self.done if not run.load.disturbed]
        return quiet if len(quiet) * 2 >= len(self.done) else self.done

    def total(self, name: str) -> int:
        if name == "unsent":  # by a publisher that stopped, far behind its schedule
            return self.total("planned") - self.total("sent")
        return sum(int((run.result or {}).get(name) or 0) for run in self.done)

    def estimate(self, metric: str) -> Estimate:
        """A metric of this row with its interval. NaN if there is none."""
        if metric == "lost_share":
            lost = max(0, self.total("lost"))
            return wilson(lost, lost + self.total("received"))
        if metric == "unsent_share":
            return wilson(self.total("unsent"), self.total("planned"))
        if metric in PERCENTILES:
            name, percent = PERCENTILES[metric]
            return self._percentiles(name)[percent]
        if metric in MEANS:  # sum each run once, because a bootstrap reads it many times
            sums = [run.histogram(MEANS[metric]).sum_and_count() for run in self.used]
            return bootstrap(sums, _mean_us)
        if metric == LATENCY_THROUGHPUT:
            sums = [run.histogram(MEANS["mean_us"]).sum_and_count() for run in self.used]
            return bootstrap(sums, lambda some: _divided(self.case.size, _mean_us(some)))
        return bootstrap(self.used, lambda runs: statistic(runs, metric))

    def _percentiles(self, name: str) -> dict[float, Estimate]:
        if name not in self._known:
            percents = sorted({percent for of, percent in PERCENTILES.values() if of == name})
            found = percentile_intervals([run.histogram(name) for run in self.used], percents)
            self._known[name] = {
                percent: Estimate(one.value / 1e3, one.low / 1e3, one.high / 1e3)
                for percent, one in zip(percents, found, strict=True)
            }
        return self._known[name]

    def ratio(self, base: Row, metric: str) -> Estimate:
        """This row's metric divided by `base`'s."""
        return self._beside(base, metric, lambda mine, below: mine / below if below else math.nan)

    def excess(self, base: Row, metric: str) -> Estimate:
        """This row's metric minus `base`'s."""
        return self._beside(base, metric, operator.sub)

    def _beside(self, base: Row, metric: str, compare: Callable[[float, float], float]) -> Estimate:
        """Runs of the same repeat were made side by side, so they are resampled together."""
        mine = {run.repeat: run for run in self.used}
        theirs = {run.repeat: run for run in base.used}
        both = [(mine[i], theirs[i]) for i in sorted(mine.keys() & theirs.keys())]

        def compared(pairs: Sequence[tuple[Run, Run]]) -> float:
            of_mine, of_theirs = (statistic(runs, metric) for runs in zip(*pairs, strict=True))
            return compare(of_mine, of_theirs)

        return bootstrap(both, compared)


def _mean_us(sums: Sequence[tuple[float, int]]) -> float:
    count = sum(part[1] for part in sums)
    return sum(part[0] for part in sums) / count / 1e3 if count else math.nan


def _divided(size: int, mean_us: float) -> float:
    """MB/s. One byte in a microsecond is 1 MB/s. NaN without messages."""
    return size / mean_us if mean_us > 0 else math.nan


def statistic(runs: Sequence[Run], metric: str) -> float:
    """A metric of some runs taken together."""
    if metric == LATENCY_THROUGHPUT:
        return _divided(runs[0].case.size, statistic(runs, "mean_us")) if runs else math.nan
    if metric in MEANS:
        return _mean_us([run.histogram(MEANS[metric]).sum_and_count() for run in runs])
    if metric in PERCENTILES:
        name, percent = PERCENTILES[metric]
        return pooled([run.histogram(name) for run in runs]).percentile(percent) / 1e3
    if metric in RATES:
        windows = [float(r) for run in runs for r in (run.result or {}).get(WINDOWS) or ()]
        return RATES[metric](windows) if windows else math.nan
    values = [float(value) for run in runs if (value := (run.result or {}).get(metric)) is not None]
    return median(values) if values else math.nan


class Results:
    """A folder of results, with one writing process. Each run is appended as one line, so that a
    kill loses at most the current run. Memory has the results without histograms, which are read on
    demand: a thousand runs take about 3 MB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: list[Run] = []
        self.machine = ""  # the machine of new runs
        self._path = folder / "runs.jsonl"
        self._whole = 0  # bytes of whole lines
        self._rows: list[Row] | None = None
        self._failed: set[tuple[str, str, int]] = set()
        if self._path.exists():
            for run in self._read():
                self._keep(run)

    def _keep(self, run: Run) -> None:
        """Adds a run. It replaces an earlier failed attempt at the same run."""
        if self._failed and run.key in self._failed:
            self.runs = [one for one in self.runs if not one.failure or one.key != run.key]
            self._failed.discard(run.key)
        if run.failure:
            self._failed.add(run.key)
        self.runs.append(run)
        self._rows = None

    def _read(self) -> Iterator[Run]:
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return  # a kill cut this line, so the run is repeated
                try:
                    yield _run_of(line, self._path, self._whole)
                except (ValueError, KeyError, TypeError) as error:
                    raise Error(
                        "corrupt",
                        f"not a run of an experiment: {error}",
                        f"{self._path}:{number}",
                        "delete the line, and `hyphos lab run --resume` measures it again",
                    ) from None
                self._whole += len(line)

    def add(self, run: Run) -> None:
        line = (json.dumps(run.to_json()) + "\n").encode()
        with self._path.open("ab") as file:
            if file.tell() > self._whole:
                os.truncate(self._path, self._whole)
            file.write(line)
        self._keep(_run_of(line, self._path, self._whole))
        self._whole += len(line)

    def rows(self) -> list[Row]:
        """Returns the same rows until a run is added, because rows cache their estimates."""
        if self._rows is None:
            rows: dict[tuple[str, str], Row] = {}
            for run in self.runs:
                row = rows.setdefault(run.key[:2], Row(run.case, run.peer))
                row.runs.append(run)
            self._rows = list(rows.values())
        return list(self._rows)

    def write_verdicts(self, verdicts: Sequence[dict[str, Any]]) -> None:
        """Writes the verdicts: one entry for each criterion, case and peer."""
        (self.folder / VERDICTS).write_text(json.dumps(verdicts, indent=1) + "\n")

    def write_summary(self) -> None:
        """Writes summary.json and summary.csv: one entry for each case and peer."""
        entries = [summary(row) for row in self.rows()]
        (self.folder / "summary.json").write_text(json.dumps(entries, indent=1))
        with (self.folder / "summary.csv").open("w", newline="") as file:
            names = list(dict.fromkeys(name for entry in entries for name in flat(entry)))
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(flat(entry) for entry in entries)


def summary(row: Row) -> dict[str, Any]:
    return {
        "peer": row.peer,
        "case": asdict(row.case),
        "failure": row.failure,
        "runs": len(row.done),
        "disturbed": row.disturbed,
        **{name: row.total(name) for name in ("planned", "sent", "received", *COUNTS)},
        "metrics": {metric: row.estimate(metric).to_json() for metric in METRICS},
    }


def flat(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of the summary as one line of a table."""
    line = {name: value for name, value in entry.items() if name not in ("case", "metrics")}
    line |= entry["case"]
    for metric, (value, low, high) in entry["metrics"].items():
        line |= {metric: value, f"{metric}_low": low, f"{metric}_high": high}
    return line
