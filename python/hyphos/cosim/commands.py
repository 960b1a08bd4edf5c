"""hyphos cosim experiment | report | recording"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.cosim import experiments
from hyphos.cosim.cell import Cell, key_of
from hyphos.cosim.experiment import Experiment, Table
from hyphos.cosim.measure import Task, TimeLeft, measure, owned
from hyphos.cosim.results import RUNS, Results, Run, write_whole
from hyphos.cosim.runs import Native, Ran, fates_of, figures
from hyphos.lab.machine import describe_machine
from hyphos.tools.console import console, table

STOPPED = 130
MOST_BYTES = 65_507 - 24  # payload after the flow header


@dataclass(frozen=True)
class Options:
    output: Path | None = None
    network: str = "auto"
    seeds: int | None = None
    full: bool = False
    overwrite: bool = False
    quiet: bool = False
    jobs: int = 1


def list_all() -> int:
    made = table("", ["name", "runs", "about"], ["runs"])
    for one in experiments.ALL:
        cells = len(one.cells("analytic"))
        runs = f"{cells * one.seeds} ({cells * one.full_seeds} with --full)"
        made.add_row(one.name, runs, one.about)
    console().print(made)
    return 0


def experiment(name: str, options: Options) -> int:
    """Runs the cells that are not in the folder yet, and shows the results. Returns 0, or 130 if it
    was stopped before its end.
    """
    wanted = experiments.find(name)
    native = Native()
    network = _network(wanted, options, native)
    cells = wanted.cells(network)
    seeds = options.seeds or (wanted.full_seeds if options.full else wanted.seeds)
    folder = options.output or Path("out/cosim") / f"{wanted.name}-{network}"
    with owned(folder) as scratch:
        results = _open(folder, wanted, network, cells, seeds, options)
        whole = _measure(results, Native(scratch), cells, seeds, options)
    results.write_summary()
    for one in wanted.tables(results):
        show(one)
    console().print(f"results: {folder}; for a report run: hyphos cosim report {folder}")
    if whole:
        return 0
    console(stderr=True).print("stopped before the end: repeat the command to continue")
    return STOPPED


def _network(wanted: Experiment, options: Options, native: Native) -> str:
    """Chooses the network simulator, and explains replacements for missing simulators."""
    chosen = options.network
    if chosen == "auto":
        chosen = wanted.network or ("ns3" if native.has("ns3") else "analytic")
    if chosen == "ns3" and not native.has("ns3"):
        raise Error(
            "not_found",
            "ns-3 is not available",
            wanted.name,
            "scripts/setup core cosim && make build",
        )
    if chosen == "analytic" and not wanted.network:
        console(stderr=True).print(
            "radio: analytic. The programs model TCP by acknowledgements, repeats and a window. "
            "For ns-3 run: scripts/setup core cosim && make build"
        )
    return chosen


def _open(
    folder: Path,
    wanted: Experiment,
    network: str,
    cells: list[Cell],
    seeds: int,
    options: Options,
) -> Results:
    about = {
        "name": wanted.name,
        "about": wanted.about,
        "network": network,
        "seeds": seeds,
        "runs": len(cells) * seeds,
        "cells": [cell.key for cell in cells],
        "command": "hyphos " + " ".join(sys.argv[1:]),
        "machine": describe_machine(),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if (folder / RUNS).exists():
        if options.overwrite:
            for name in (RUNS, "experiment.json", "summary.json", "summary.csv", "runs.csv"):
                (folder / name).unlink(missing_ok=True)
            for name in ("shown", "scenarios"):
                shutil.rmtree(folder / name, ignore_errors=True)
        else:
            before = Results(folder).about
            if (before["name"], before["network"]) != (wanted.name, network):
                raise Error(
                    "already_exists",
                    f"the folder has results of {before['name']} with {before['network']}",
                    str(folder),
                    "choose another folder with -o, or start over with --overwrite",
                )
            about["begun"] = before["begun"]
            about["runs"] = max(about["runs"], before["runs"])
    (folder / "scenarios").mkdir(parents=True, exist_ok=True)
    write_whole(folder / "experiment.json", json.dumps(about, indent=1) + "\n")
    for cell in cells:
        (folder / "scenarios" / f"{cell.name}.yaml").write_text(cell.text())
    return Results(folder)


def _measure(
    results: Results, native: Native, cells: list[Cell], seeds: int, options: Options
) -> bool:
    def work(item: tuple[Cell, int]) -> tuple[Run, dict[str, Any] | None] | None:
        cell, seed = item
        path = results.folder / "scenarios" / f"{cell.name}.yaml"
        ran = native.run(path, seed, cell.method, packets=cell.fates)
        return None if ran is None else (_run_of(cell, seed, ran), ran.told)

    def done(item: tuple[Cell, int], result: tuple[Run, dict[str, Any] | None]) -> float:
        run, told = result
        results.add(run)
        if told and run.seed == 1:
            results.keep(item[0], told)
        return run.seconds

    left = TimeLeft(options.jobs)
    for run in results.runs:
        left.add(key_of(run.parameters), run.seconds)
    tasks = [
        Task((cell, seed), cell.key, f"{cell.name}, seed {seed}")
        for cell, seed in results.missing(cells, seeds)
    ]
    return measure(tasks, native, work, done, left, options.quiet)


def _run_of(cell: Cell, seed: int, ran: Ran) -> Run:
    return Run(
        dict(cell.parameters),
        seed,
        cell.digest(),
        figures(ran.told, cell.flow) if ran.told else None,
        ran.failure,
        ran.told["trace"]["hash"] if ran.told else "",
        datetime.now(UTC).isoformat(timespec="seconds"),
        ran.seconds,
        fates_of(ran.packets) if cell.fates else "",
    )


def show(one: Table) -> None:
    made = table(one.title, one.heads, one.heads[one.left :])
    for line in one.lines:
        cells = []
        for cell in line:
            cells.append(f"{cell.text} [dim]{cell.small}[/dim]" if cell.small else cell.text)
            cells += [""] * (cell.span - 1)
        made.add_row(*cells)
    console().print(made)
    for note in one.notes:
        console().print(f"  {note}", markup=False)


def recording(file: Path, channel: str, output: Path) -> int:
    """Writes the messages of a channel in the format of `traffic.flows.NAME.recording`."""
    from hyphos.lab.recorded import read_recorded  # noqa: PLC0415

    read = read_recorded(file, channel, 0)
    if read.largest > MOST_BYTES:
        raise Error(
            "unsupported",
            f"a message of {read.largest} bytes exceeds the {MOST_BYTES} bytes of a datagram",
            str(file),
        )
    lines = [f"# {channel} of {file.name}: seconds after the first message, bytes in hexadecimal"]
    lines += [
        f"{offset / 1e9:.9f},{payload.hex()}"
        for offset, payload in zip(read.offsets_ns, read.payloads, strict=True)
    ]
    try:
        output.write_text("\n".join(lines) + "\n")
    except OSError as error:
        raise Error("io", f"the file cannot be written: {error.strerror}", str(output)) from None
    console().print(f"{len(read.payloads)} messages: {output}")
    return 0
