"""hyphos lab compare: Hyphos beside the baselines, or new results beside earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import yaml
from rich.table import Table

from hyphos._errors import Error
from hyphos.lab import asserts, experiment, show
from hyphos.lab.case import FLOODS, GRAPH, WORKLOADS
from hyphos.lab.commands import (
    RunOptions,
    change,
    expect_judged,
    expect_sensible,
    finish,
    perform,
    print_verdicts,
    resolved,
)
from hyphos.lab.commands import load as load_experiment
from hyphos.lab.experiment import Experiment
from hyphos.lab.folder import in_order, reopen
from hyphos.lab.peers import Peers, find_peers
from hyphos.lab.results import COUNTS, SHARES, Row, statistic
from hyphos.lab.stats import Estimate, bootstrap_quotient
from hyphos.tools.console import console, table

SIZES = ["1 KB", "64 KB", "1 MB"]
RATES = ["100"]
SECONDS = 2.0


def with_others(
    what: str, options: RunOptions, sizes: Sequence[str] | None, rates: Sequence[str] | None
) -> int:
    """Measures Hyphos and the baselines in a workload, or in the cases of an experiment. Prints
    their figures as multiples of those of Hyphos."""
    expect_sensible(options)
    if what in FLOODS and rates:
        raise Error("invalid_config", f"a flood has no rate: {what}", "--rate")
    if what == GRAPH:
        raise Error("unsupported", "no baseline can run a plan", what, "hyphos lab list")
    if what in WORKLOADS:
        text: str | None = _of_workload(what, sizes or SIZES, rates or RATES)
        wanted = experiment.parse(text or "", "compare", changes=options.changes or ())
        wanted = replace(wanted, source=None)
    elif sizes or rates:
        raise Error(
            "invalid_config", "--size and --rate apply to a workload only", what, "--set size=…"
        )
    else:
        text, wanted = None, load_experiment(what, options)
    peers = find_peers(options.programs)
    base = _base(wanted, peers)
    others = options.peers or list(
        dict.fromkeys([*(one.middleware for one in peers.present), *peers.absent])
    )
    wanted = replace(
        wanted,
        base=base,
        peers=[base, *(name for name in others if name != "hyphos")],
        own_peers={},  # compare each baseline with Hyphos in all parts
    )
    seconds = options.seconds or (SECONDS if text else None)
    wanted = resolved(change(wanted, replace(options, seconds=seconds, peers=None)))
    criteria = expect_judged(replace(wanted, asserts=[]), options)
    results, whole = perform(wanted, options, text)
    console().print(ratio_table(in_order(results.rows(), wanted), wanted))
    return finish(results, wanted, criteria, whole, options.report)


def _of_workload(workload: str, sizes: Sequence[str], rates: Sequence[str]) -> str:
    grid = {"size": list(sizes)}
    if workload not in FLOODS:
        grid["rate_hz"] = list(rates)
    about = {"lab": 1, "name": f"compare_{workload}", "workload": workload, "grid": grid}
    return yaml.safe_dump(about, sort_keys=False)


def _base(wanted: Experiment, peers: Peers) -> str:
    for peer in peers.present:
        if peer.middleware == "hyphos" and not any(map(peer.cannot, wanted.cases)):
            return peer.name
    raise Error("not_found", "no transport of Hyphos supports all of these cases", wanted.name)


def ratio_table(rows: list[Row], wanted: Experiment) -> Table:
    """Each figure as a multiple of the base. The base itself is shown in absolute numbers."""
    metrics = (
        ("messages_per_s", "cpu_us_per_msg")
        if wanted.cases[0].floods
        else ("p50_us", "p99_us", "cpu_us_per_msg")
    )
    missing = show.missing_of(rows)
    heads = ["case", "peer", *(show.TITLES[metric] for metric in metrics), *missing]
    made = table(f"as multiples of {wanted.base}", heads, heads[2:])
    made.columns[0].no_wrap = made.columns[1].no_wrap = True
    bases = {row.case: row for row in rows if row.peer == wanted.base and row.done}
    for row in rows:
        cells = [show.case_label(row.case, wanted.varied()), row.peer]
        below = bases.get(row.case)
        if not row.done:
            made.add_row(*cells, f"[red]{row.failure}[/red]")
            continue
        for metric in metrics:
            if below is row:
                cells.append(f"1 = {show.number(row.estimate(metric).value)}")
            elif below:
                cells.append(show.with_interval(row.ratio(below, metric)))
            else:
                cells.append("–")
        made.add_row(*cells, *(f"{row.total(name):,}" for name in missing))
    return made


def folders(before: Path, after: Path, criteria_texts: Sequence[str]) -> int:
    """Prints the figures of one result folder as multiples of those of another, and judges criteria
    on these quotients. Returns 1 if one is missed."""
    criteria = [_of_quotient(text) for text in criteria_texts]
    wanted, results = reopen(after)
    rows = in_order(results.rows(), wanted)
    olds = {(row.case.key(), row.peer): row for row in reopen(before)[1].rows() if row.done}
    pairs = {
        id(row): old for row in rows if row.done and (old := olds.get((row.case.key(), row.peer)))
    }
    if not pairs:
        raise Error(
            "not_found",
            "no case of a peer was measured in both folders",
            f"{before}, {after}",
            "compare results of the same experiment",
        )
    both = [row for row in rows if id(row) in pairs]
    varied = wanted.varied()
    metrics = show.metrics_of(both)
    heads = ["case", "peer", *(show.TITLES[metric] for metric in metrics)]
    made = table(f"{after} ÷ {before}", heads, heads[2:])
    made.columns[0].no_wrap = made.columns[1].no_wrap = True
    for row in both:
        quotients = [quotient(row, pairs[id(row)], metric) for metric in metrics]
        made.add_row(
            show.case_label(row.case, varied), row.peer, *map(show.with_interval, quotients)
        )
    console().print(made)
    alone = len(rows) + len(olds) - 2 * len(both)
    if alone:
        console(stderr=True).print(f"{alone} rows are in only one of the folders")
    verdicts = asserts.judge(
        criteria, both, lambda one, row, _: quotient(row, pairs[id(row)], one.metric)
    )
    return 0 if print_verdicts(verdicts, varied) else 1


def quotient(after: Row, before: Row, metric: str) -> Estimate:
    return bootstrap_quotient(after.used, before.used, lambda runs: statistic(runs, metric))


def _of_quotient(text: str) -> asserts.Criterion:
    found = asserts.parse(text)
    if found.base or found.by or found.metric in (*COUNTS, *SHARES):
        raise Error(
            "invalid_config",
            f"'{text}' has no figure that can be divided by an earlier one",
            "assert",
            "write for example: hyphos/shm: p99_us <= 1.1",
        )
    return found
