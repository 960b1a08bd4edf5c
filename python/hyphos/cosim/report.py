"""report.html of a run or of an experiment: one file that needs no network."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.cosim import delay_parts, draw, exceeded, experiments
from hyphos.cosim.experiment import Experiment, Figure, Table
from hyphos.cosim.experiments.say import figure as interval
from hyphos.cosim.experiments.say import plain
from hyphos.cosim.results import RUNS, Results
from hyphos.cosim.sweep.page import is_sweep, sweep_page
from hyphos.lab import page
from hyphos.lab.page import Cell
from hyphos.lab.plots import Plot

WORDS = {
    "delay": "From the send by a program to the delivery by the network. With acknowledgements: "
    "until this message and all earlier messages have arrived. Until the read: to the instant at "
    "which the receiving program can read the message.",
    "loss": "The share of messages that had not arrived at the end of the run.",
    "window": "The span of simulated time for which physics and network run independently before "
    "they exchange their events.",
    "bounds": "The guarantees of the run for every packet. Latency: the largest additional delay "
    "before the read, compared to a run without windows. Position: the largest distance between a "
    "robot and the position that the network used. Power: the largest error of the received power.",
    "ledger": "Every copy of every packet: sent = delivered + dropped + in flight.",
}


def write_report(what: Path, output: Path | None) -> Path:
    """Writes the report of an experiment's folder, or of a file from `run --json`. Returns the path
    of the report.
    """
    if what.is_dir() and is_sweep(what):
        return page.write(output or what / "report.html", sweep_page(what))
    if what.is_dir():
        return page.write(output or what / "report.html", _experiment_page(what))
    return page.write(output or what.with_name("report.html"), _run_page(read_run(what)))


def read_run(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text())
        if not isinstance(told, dict) or told.get("cosim") != 1:
            raise ValueError("the key `cosim` is not 1")
    except OSError as error:
        raise Error("not_found", f"the file cannot be read: {error.strerror}", str(path)) from None
    except ValueError as error:
        raise Error(
            "corrupt",
            f"the file does not contain a run: {error}",
            str(path),
            "hyphos cosim run FILE --json",
        ) from None
    return told


def _table(one: Table) -> str:
    lines = [[Cell(cell.text, cell.small, span=cell.span) for cell in line] for line in one.lines]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in one.notes)
    return (
        f"<h3>{html.escape(one.title)}</h3>"
        + page.table(one.heads, lines, left=one.left, name=one.name)
        + (f"<ul>{notes}</ul>" if notes else "")
    )


def _rows(name: str, pairs: dict[str, str]) -> str:
    return page.table(("", ""), [(key, Cell(value)) for key, value in pairs.items()], name=name)


def _command(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


# --- one run ------------------------------------------------------------------------------------


def _run_page(told: dict[str, Any]) -> str:
    plots = [draw.by_distance(told), draw.windows({told["method"]: told["window_series"]})]
    plots += [
        delay_parts.of_run(told),
        draw.field_map(told),
        draw.profile({told["method"]: _profile(told)}),
    ]
    radio = told["network"] + (" over TCP" if told["transport"] == "tcp" else "")
    about = (
        f"{len(told['robots'])} robots, {told['end_ns'] * 1e-9:g} s by {told['method']}, seed "
        f"{told['seed']}; physics: {told['physics']}, radio: {radio}"
        + (f"; every packet goes through {told['via']}" if told["via"] else "")
        + ("" if told["whole"] else "; stopped before the end")
    )
    parts = [
        page.paragraph(about, dim=True),
        *(page.figure(plot) for plot in plots if plot is not None),
        page.section("Flows", _flows(told)) if told["flows"] else "",
        page.section("Bounds", _bounds(told)),
        page.section("Ledger", _ledger(told)),
        page.section("Definitions", page.words(WORDS)),
        page.section("Machine", page.machine_table(told["machine"])),
        page.section("Command", _command(told["command"])),
        page.section("Scenario", _command(told["scenario_text"])),
        page.section(
            "Data", page.attached({"run.json": (json.dumps(told, indent=1) + "\n").encode()})
        ),
    ]
    return page.page(Path(told["scenario"]).stem, parts)


def _profile(told: dict[str, Any]) -> dict[str, float]:
    """Milliseconds per simulated second."""
    seconds = max(told["end_ns"] * 1e-9, 1e-9)
    return {
        name.removesuffix("_ns"): value * 1e-6 / seconds for name, value in told["profile"].items()
    }


def _flows(told: dict[str, Any]) -> str:
    heads = [
        "flow",
        "",
        "messages",
        "delivered",
        "loss, %",
        "delay, ms",
        "p95",
        "read, ms",
        "took, ms",
    ]
    lines = []
    for one in told["flows"]:
        about = f"{one['kind']}, {one['transport']}: {one['from']} → {one['to']}"
        if one["repeats"]:
            about += f", {one['repeats']} repeats"
        lines.append(
            (
                one["name"],
                about,
                f"{one['messages']:,}",
                f"{one['delivered']:,}",
                plain(None if one["loss"] is None else 100 * one["loss"]),
                plain(one["delay_ms"]["mean"]),
                plain(one["delay_ms"]["p95"]),
                plain(one["read_delay_ms"]["mean"]),
                plain(one["took_ms"]),
            )
        )
    return page.table(heads, lines, left=2, name="flows")


def _bounds(told: dict[str, Any]) -> str:
    bounds, windows = told["bounds"], told["windows"]
    power = bounds["power_db"]
    return _rows(
        "bounds",
        {
            "latency": f"{bounds['latency_ns'] * 1e-6:g} ms",
            "position": f"{bounds['position_m']:.4g} m",
            "received power": "none" if power is None else f"{power:.4g} dB",
            "windows": f"{windows['count']:,} of {windows['shortest_ns'] * 1e-6:g} to "
            f"{windows['longest_ns'] * 1e-6:g} ms, {windows['skipped']:,} of them skipped",
            "calls of the network": f"{windows['network_syncs']:,}",
            "speed": f"{told['end_ns'] / max(told['profile']['total_ns'], 1):.1f} × real time",
            "trace": f"{told['trace']['lines']:,} lines, hash {told['trace']['hash']}",
        }
        | exceeded.rows(told),
    )


def _ledger(told: dict[str, Any]) -> str:
    packets = told["packets"]
    lines = {"copies sent": f"{packets['sent']:,}", "delivered": f"{packets['delivered']:,}"}
    lines |= {f"dropped: {why}": f"{count:,}" for why, count in packets["dropped"].items()}
    return _rows("ledger", lines | {"in flight at the end": f"{packets['in_flight']:,}"})


# --- an experiment ------------------------------------------------------------------------------


def _experiment_page(folder: Path) -> str:
    results = Results(folder)
    about = results.about
    wanted = experiments.find(about["name"])
    if not results.runs:
        raise Error("not_found", "no run is complete yet", str(folder), about["command"])
    results.write_summary()
    plots: list[Plot | None] = [
        draw.against_distance(wanted, results, metric) for metric in wanted.metrics
    ]
    plots += wanted.plots(results)
    plots.append(delay_parts.of_experiment(wanted, results))
    shown = _shown(results, wanted)
    if shown:
        plots.append(draw.windows({name: one["window_series"] for name, one in shown.items()}))
        plots.append(draw.field_map(list(shown.values())[-1]))
        plots.append(draw.profile({name: _profile(one) for name, one in shown.items()}))
    head = (
        f"{wanted.about} Radio: {about['network']}; {about['seeds']} seeds; start {about['begun']}"
        + ("" if results.whole else f"; {len(results.runs)} of {about['runs']} runs so far")
    )
    files = ["summary.csv", "summary.json", "runs.csv", RUNS]
    text = (folder / "scenarios").glob("*.yaml")
    first = min(text, default=None)
    parts = [
        page.paragraph(head, dim=True),
        *(page.figure(plot) for plot in plots if plot is not None),
        page.section("Comparison with the paper", *map(_table, wanted.tables(results))),
        page.section("Bounds, ledger and speed", _table(_guarantees(results))),
        page.section("Definitions", page.words(WORDS)),
        page.section("Machine", page.machine_table(about["machine"])),
        page.section("Command", _command(about["command"])),
        page.section("One of the scenarios", _command(first.read_text())) if first else "",
        page.section("Data", page.attached({name: (folder / name).read_bytes() for name in files})),
    ]
    return page.page(wanted.name, parts)


def _shown(results: Results, wanted: Experiment) -> dict[str, dict[str, Any]]:
    """Complete runs for pictures: one for each line, from the first panel in which most lines could
    run.
    """
    by_field: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in results.rows():
        others = tuple(v for k, v in row.parameters.items() if k != wanted.lines_by)
        told = results.shown(row.parameters)
        if told is not None:
            name = str(row.parameters.get(wanted.lines_by, told["method"]))
            by_field.setdefault(others, {})[name] = told
    return max(by_field.values(), key=len, default={})


def _guarantees(results: Results) -> Table:
    """The worst bound of all runs of a cell, the sums of its ledger, and its speed."""
    heads = ["", "latency ms", "position m", "power dB", "sent", "delivered", "dropped"]
    heads += ["in flight", "× real time"]
    lines = []
    for row in results.rows():
        head = Figure(", ".join(map(str, row.parameters.values())))
        if not row.values("windows"):
            lines.append([head, Figure(row.failure.partition("; ")[0], span=8)])
            continue
        worst = [
            Figure(plain(max(row.values(name), default=None)))
            for name in ("bound_latency_ms", "bound_position_m", "bound_power_db")
        ]
        sums = [
            Figure(f"{sum(row.values(f'packets_{name}')):,.0f}")
            for name in ("sent", "delivered", "dropped", "in_flight")
        ]
        lines.append([head, *worst, *sums, interval(row.estimate("times_real"))])
    notes = ["Bounds: the largest of all seeds. Packets: all seeds together."]
    return Table("guarantees", "By cell", heads, lines, notes)
