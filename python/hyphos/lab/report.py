"""report.html of an experiment: one file with all results, which needs no network."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.lab import knee, machines, page, saturation
from hyphos.lab.asserts import judge_each, parse
from hyphos.lab.curves import plots
from hyphos.lab.experiment import Experiment
from hyphos.lab.findings import beside
from hyphos.lab.folder import in_order, reopen
from hyphos.lab.page import Cell, findings_table
from hyphos.lab.plots import Plot
from hyphos.lab.results import Results, Row
from hyphos.lab.saturation import Saturation
from hyphos.lab.show import (
    KNEE,
    by_workload,
    case_label,
    knee_cells,
    number,
    result_lines,
    unlike_lines,
)
from hyphos.lab.stats import Estimate

PROFILE = "profile.json"

METHOD = (
    "Messages are due on a schedule that is independent of the peers. Latency runs from the start "
    "of the publish call to the start of the callback. “From due” runs from the due time of a "
    "message. The peers of a case run one after the other, in an order that rotates. Percentiles "
    "are those of all messages of all runs together. Intervals are 95 % intervals, by a bootstrap "
    "over whole runs. A run is disturbed if other programs took more than 5 % of the machine, or "
    "the hypervisor more than 2 %, or if a processor reached less than 80 % of its best earlier "
    "speed, or if a hand-over between processors took more than twice the best time. Disturbed "
    "runs are left out if at least half of a row's runs were quiet. Warm-up ends when every "
    "subscriber has received enough messages."
)
WORDS = {
    "case, peer": "A case is one combination of the parameters of the experiment. A peer is a "
    "middleware with one transport. All peers run a case with the same programs and schedule.",
    "p50, p95, p99": "Half of the messages took at most the p50. 95 and 99 of a hundred took at "
    "most the p95 and the p99. A small grey range behind a figure is its interval. With repeated "
    "runs, it contains the true figure 95 times of 100.",
    "from due": "Counted from the due time of a message, not from its publish call. If something "
    "stalls, all messages that were due meanwhile count with the whole wait. "
    "A sender that waits for its own late message would hide them.",
    "unsent": "Messages that were due and never sent, because a publisher stops when it is more "
    "than five seconds behind. All of its sent messages may have arrived.",
    "lost": "Messages that did not arrive within four seconds of the last progress, nor within 20 "
    "seconds of the last message sent.",
    "disturbed": "Runs during which other programs used the machine.",
}
_KNEE_WORDS = {
    "saturation point": "The highest rate that a case carries. Below it, all messages arrive in "
    "time. Above it, messages wait longer and longer, or are lost. Each search halves the distance "
    "between a carried rate and a failed rate until they are 6 % apart. "
    f"{knee.DEFINITION} If no rate failed, the search ended, and the saturation point is higher.",
    "N·f·S": "Publishers × rate × size at the saturation point, in bytes a second. Jordan (On "
    "the Scalability of ROS) assumes a constant of the machine. The table and the plot show how "
    "constant it is here.",
}
_PAPER_WORDS = {
    "average delay": "The mean latency of ten consecutive messages, as in Allspaw et al. "
    "(Comparing Performance Between Different Implementations of ROS for Unity). Shown are the "
    "median of these means, and the range of the middle 90 %.",
    "publishing rate": "Messages that arrived per second while the publisher sent as fast as "
    "possible, with at most 8 messages (4 large ones) in flight, over windows of ten seconds (over "
    "the whole measurement if it is shorter): the median of all windows, the slowest and the "
    "fastest. Sent and dropped messages are in “lost”.",
    "CPU utilization": "CPU time of all processes of a run, including a gateway or another daemon, "
    "divided by the duration. 100 % is one processor.",
}
_FLOOD_WORDS = {
    "messages/s, MB/s": "Throughput of back-to-back messages. The publisher waits if it must, "
    "and no message may be lost.",
}


@dataclass(frozen=True)
class Report:
    """The content of a folder of results."""

    wanted: Experiment
    results: Results
    rows: list[Row]
    knees: list[Saturation]
    profile: Any  # JSON of `hyphos lab profile`; None without a profile

    def plots(self) -> list[Plot]:
        made = self.own_plots()
        if self.profile is not None:
            from hyphos.lab.profile.draw import stored_plots  # noqa: PLC0415

            made += stored_plots(self.profile)
        return made

    def own_plots(self) -> list[Plot]:
        """The plots of each workload."""
        groups = self.groups()
        if len(groups) == 1:
            return plots(*groups[0], self.knees)
        return [
            replace(plot, name=f"{rows[0].case.workload}_{plot.name}")
            for rows, varied in groups
            for plot in plots(rows, varied)
        ]

    def groups(self) -> list[tuple[list[Row], list[str]]]:
        return by_workload(self.rows, self.wanted.varied())


def write_report(folder: Path, output: Path | None, profile: Path | None = None) -> Path:
    """Writes the report of the results in `folder`. Returns its path. Raises Error without
    results."""
    text = _page(_open(folder, profile))
    return page.write(output or folder / "report.html", text)


def save_plots(folder: Path, kind: str, profile: Path | None = None) -> list[Path]:
    """Writes each plot of the report as a file in `folder`/plots."""
    where = folder / "plots"
    where.mkdir(exist_ok=True)
    return [plot.save(where, kind) for plot in _open(folder, profile).plots()]


def _open(folder: Path, profile: Path | None) -> Report:
    wanted, results = reopen(folder)
    if not results.runs:
        raise Error("not_found", "nothing was measured yet", str(folder), "hyphos lab run")
    knees = saturation.load(folder, results.runs)
    rows = in_order(results.rows(), wanted)
    if knees:  # trials are in the order of the search
        rows.sort(key=lambda row: (row.case.size, row.peer, row.case.rate_hz))
    path = profile or folder / PROFILE
    told = read_profile(path) if profile or path.exists() else None
    return Report(wanted, results, rows, knees, told)


def read_profile(path: Path) -> Any:
    try:
        told = json.loads(path.read_text())
        if not isinstance(told, dict) or not {"cases", "paths"} & told.keys():
            raise ValueError("neither 'cases' nor 'paths' in it")
        needed = {"messages", "shares"} if "cases" in told else {"messages"}
        if any(not needed <= one.keys() for one in told.get("cases", [told])):
            raise ValueError(f"{' or '.join(sorted(needed))} missing, so another version wrote it")
    except OSError as error:
        raise Error(
            "not_found", f"cannot read: {error.strerror}", str(path), "hyphos lab profile --json"
        ) from None
    except ValueError as error:
        raise Error(
            "corrupt", f"not a profile: {error}", str(path), "hyphos lab profile --json"
        ) from None
    return told


def _page(report: Report) -> str:
    wanted, results = report.wanted, report.results
    first = min((run.at for run in results.runs if run.at), default="")
    words = dict(WORDS)
    if report.knees or "rate_hz" in wanted.varied():
        words |= _KNEE_WORDS
    if any(row.case.floods for row in report.rows):
        words |= _FLOOD_WORDS
    if wanted.figures or any(row.case.uncapped for row in report.rows):
        words |= _PAPER_WORDS
    parts = [
        page.paragraph(" · ".join(filter(None, [wanted.about, f"measured {first}"])), dim=True),
        *map(page.figure, report.own_plots()),
        page.section("Saturation points", _knee_table(report)) if report.knees else "",
        _findings_part(report),
        _criteria_part(report),
        page.section(
            "Figures",
            *(
                result_table(rows, varied, wanted.base, wanted.figures, name, wanted.unlike)
                for name, (rows, varied) in _tables(report)
            ),
        ),
        _profile_part(report.profile),
        page.section("Definitions", page.words(words)),
        page.section("Method", page.paragraph(METHOD)),
        page.section("Machine", *_machines(results)),
        page.section("Experiment", _source(results.folder)),
        page.section("Data", page.attached(_files(report))),
    ]
    return page.page(wanted.name, parts)


def _machines(results: Results) -> list[str]:
    """The machines of the runs. If there are several, with their number of runs."""
    known = machines.load(results.folder)
    if len(known) == 1:
        return [page.machine_table(next(iter(known.values())))]
    parts = []
    for name, machine in known.items():
        count = sum(run.machine == name for run in results.runs)
        parts += [page.paragraph(f"{name}: {count} runs"), page.machine_table(machine)]
    return parts


def _source(folder: Path) -> str:
    return f"<pre>{html.escape((folder / 'experiment.yaml').read_text())}</pre>"


def _profile_part(told: Any) -> str:
    if told is None:
        return ""
    from hyphos.lab.profile.draw import stored_plots, stored_summary  # noqa: PLC0415
    from hyphos.lab.profile.report import findings_part  # noqa: PLC0415

    return page.section(
        "Where the time goes",
        page.paragraph(stored_summary(told)),
        *map(page.figure, stored_plots(told)),
        findings_part(told),
    )


def _findings_part(report: Report) -> str:
    rows = [*report.rows, *saturation.rows(report.knees)]
    found = [one.as_dict() for one in beside(report.wanted.findings, rows)]
    return page.section("Published findings", findings_table(found, "findings"))


def _knee_table(report: Report) -> str:
    others = [name for name in report.wanted.varied() if name not in ("rate_hz", "seconds")]
    lines = [(case_label(knee.case, others), knee.peer, *knee_cells(knee)) for knee in report.knees]
    return page.table(["case", "peer", *KNEE], lines, left=2, name="knees")


def _criteria_part(report: Report) -> str:
    judged = judge_each([parse(text) for text in report.wanted.asserts], report.rows)
    varied = report.wanted.varied()
    lines: list[list[str | Cell]] = []
    for criterion, verdicts in judged:
        if not verdicts:
            lines.append([Cell(criterion.text, words=True), Cell("not measured", bad=True, span=4)])
        for one in verdicts:
            named = case_label(one.row.case, one.named(varied))
            case = Cell(f"{one.row.peer}, {named}", words=True)
            figure = _interval(Estimate(one.value, one.low, one.high))
            runs = f"{one.runs}" + (f" ({one.disturbed} disturbed)" if one.disturbed else "")
            said = Cell(one.word, bad=not one.met)
            lines.append([Cell(criterion.text, words=True), case, figure, said, runs])
    if not lines:
        return ""
    heads = ("criterion", "of", "figure", "", "runs")
    return page.section("Criteria", page.table(heads, lines, left=2, name="criteria"))


def _tables(report: Report) -> list[tuple[str, tuple[list[Row], list[str]]]]:
    groups = report.groups()
    if len(groups) == 1:
        return [("figures", groups[0])]
    return [(f"figures-{group[0][0].case.workload}", group) for group in groups]


def result_table(
    rows: list[Row],
    varied: list[str],
    base: str,
    figures: Sequence[str] = (),
    name: str = "figures",
    unlike: Mapping[str, str] | None = None,
) -> str:
    unlike = unlike or {}
    heads, found = result_lines(rows, varied, base, figures, list(unlike))
    lines: list[list[str | Cell]] = []
    for line in found:
        cells: list[str | Cell] = [line.case, line.peer]
        if line.failure:
            cells.append(Cell(line.failure, bad=True, span=len(heads) - 2))
        else:
            cells += [_interval(figure) for figure in line.figures]
            cells += [Cell(f"{count:,}", bad=count > 0) for count in line.missing]
            cells.append(line.runs)
            cells += [_interval(line.ratio)] if line.ratio else []
        lines.append(cells)
    notes = "".join(page.paragraph(line) for line in unlike_lines(rows, unlike))
    return page.table(heads, lines, left=2, name=name) + notes


def _interval(estimate: Estimate) -> Cell:
    if math.isnan(estimate.low):
        return Cell(number(estimate.value))
    return Cell(number(estimate.value), f"{number(estimate.low)}–{number(estimate.high)}")


def _files(report: Report) -> dict[str, bytes]:
    """The summary, every run, and the optional files."""
    report.results.write_summary()
    folder = report.results.folder
    names = ["summary.csv", "summary.json", "runs.jsonl"]
    names += [saturation.FILE] if report.knees else []
    files = {name: (folder / name).read_bytes() for name in names}
    if report.profile is not None:
        files[PROFILE] = json.dumps(report.profile, indent=1).encode()
    return files
