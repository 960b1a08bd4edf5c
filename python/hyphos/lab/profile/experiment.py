"""hyphos lab profile --experiment: the layers of the cases of an experiment, in several runs of
each, as in Fig. 6 of T. Kronauer et al., *Latency Analysis of ROS2 Multi-Node Systems*."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.lab import commands, findings, outputs
from hyphos.lab.case import GRAPH, Case
from hyphos.lab.commands import STOPPED, RunOptions
from hyphos.lab.experiment import Experiment
from hyphos.lab.findings import Beside
from hyphos.lab.machine import describe_machine
from hyphos.lab.peers import Peer, Peers, find_peers
from hyphos.lab.profile import show_cases
from hyphos.lab.profile.commands import write_pages
from hyphos.lab.profile.events import POLL_S, Collection, Collector
from hyphos.lab.profile.flows import Flows
from hyphos.lab.profile.runs import CaseProfile, layers_of_run
from hyphos.lab.reaper import folder_for_now
from hyphos.lab.results import Results, Run
from hyphos.lab.runner import Rules, Runner, Wish
from hyphos.lab.stage import Stage
from hyphos.tools.console import console, print_json
from hyphos.tools.waiting import on_signals

SECONDS = 5.0


@dataclass
class ExperimentOptions:
    what: str
    peers: Sequence[str] = ()  # empty: those of the experiment with a flight recorder
    seconds: float = SECONDS
    repeats: int | None = None  # None: that of the experiment
    full: bool = False
    changes: Sequence[str] = ()
    rates: Sequence[float] = ()  # empty: the highest of each size
    every: bool = False  # all cases
    path: str = ""
    rules: Rules = field(default_factory=Rules)
    as_json: bool = False
    quiet: bool = False
    html: Path | None = None
    svg: Path | None = None
    perfetto: Path | None = None
    mcap: Path | None = None
    folder: Path | None = None  # the experiment's results, whose report then includes the layers
    programs: Path | None = None  # of the peers


def profile_experiment(options: ExperimentOptions) -> int:
    """Returns 0, 1 if a run failed, or 130 if stopped, with the results up to then."""
    outputs.expect_seconds(options.seconds, "--for")
    outputs.expect_seconds(options.rules.patience_s, "--wait-quiet")
    outputs.expect_folder(options.folder, "--out")
    for name in ("html", "svg", "perfetto", "mcap"):
        outputs.expect_file(getattr(options, name), f"--{name}")
    changes = RunOptions(full=options.full, changes=list(options.changes))
    wanted = commands.resolved(commands.load(options.what, changes))
    findings.parse(wanted.findings)
    cases = chosen_cases(wanted.cases, options.seconds, options.rates, every=options.every)
    peers = recorded_peers(wanted, options.peers, find_peers(options.programs), cases)
    repeats = options.repeats or wanted.repeats
    machine = {**describe_machine(), "peers": find_peers(options.programs).versions()}
    names = _names(cases)
    several = len(peers) > 1
    profiles = {
        (peer, case): CaseProfile(case, peer.name, names, of_many=several)
        for case in cases
        for peer in peers
    }
    with folder_for_now("profile") as folder, Stage(wanted.links) as stage:
        if lack := next(filter(None, map(stage.why_not, cases)), ""):
            raise Error("unsupported", lack, wanted.name)
        runner = Runner(Results(folder), options.rules, stage)
        with on_signals(lambda _number: runner.stop()):
            whole = _measure(runner, stage, profiles, repeats, options)
    made = list(profiles.values())
    if not whole:
        console(stderr=True).print("stopped before the end")
        if not any(one.runs for one in made):
            return STOPPED
    title = ", ".join(peer.name for peer in peers)
    failed = _tell(wanted, title, machine, made, options)
    return failed if whole else STOPPED


def _able_ways(known: Peers, cases: Sequence[Case]) -> str:
    """The transports of Hyphos that can run all cases, as advice."""
    ways = [peer.name for peer in known.choose(["hyphos"]) if not any(map(peer.cannot, cases))]
    return f"give one of these: {', '.join(f'-p {way}' for way in ways)}" if ways else ""


def recorded_peers(
    wanted: Experiment, named: Sequence[str], known: Peers, cases: Sequence[Case]
) -> list[Peer]:
    """The peers whose layers are measured: all named ones, or those of the experiment with a flight
    recorder. Prints a note for each omitted one. Raises Error before anything runs."""
    found: list[Peer] = []
    for name in named or wanted.peers:
        lack = ""
        some = known.choose([name])
        if not some:
            lack = f"absent: {known.absent[name.split('/')[0]]}"
        elif some[0].middleware != "hyphos":
            lack = "it has no flight recorder"
        able = [peer for peer in some if not any(map(peer.cannot, cases))]
        if not lack and not able:
            lack = next(filter(None, (some[0].cannot(case) for case in cases)))
        if lack and named:
            advice = _able_ways(known, cases)
            raise Error("unsupported", f"'{name}': {lack}", wanted.name, advice)
        if lack:
            console(stderr=True).print(f"left out: {name}: {lack}", markup=False)
            continue
        found += [peer for peer in able if peer not in found]
    if not found:
        raise Error(
            "unsupported",
            "none of its peers has a flight recorder",
            wanted.name,
            "give -p hyphos/shm, or another variant of hyphos (hyphos lab list)",
        )
    return found


def chosen_cases(
    cases: Sequence[Case], seconds: float, rates: Sequence[float] = (), *, every: bool = False
) -> list[Case]:
    """The case with the highest rate of each size, as profiled in the paper, or the cases with
    these rates, or every case. Ordered by size and rate. Raises Error if no case has a rate."""
    if any(case.workload == GRAPH for case in cases):
        raise Error(
            "unsupported",
            "cannot profile the graph of a plan as an experiment",
            advice="start it with `hyphos run`, and run `hyphos lab profile` beside it",
        )
    if any(case.floods for case in cases):
        raise Error("invalid_config", "a flood has no rate, and its queues hide all other layers")
    there = sorted({case.rate_hz for case in cases})
    for rate in rates:
        if rate not in there:
            raise Error(
                "not_found",
                f"no case of the experiment has {rate:g} Hz",
                "--rate",
                f"use one of {', '.join(f'{one:g}' for one in there)}, or set all cases to this "
                f"rate with --set rate_hz={rate:g}",
            )
    chosen: dict[Any, Case] = {}
    # The sort is stable: the first of several cases with the same size and rate counts.
    for case in sorted(cases, key=lambda one: (one.size, -one.rate_hz)):
        if every:
            chosen[case.key()] = case
        elif rates and case.rate_hz in rates:
            chosen.setdefault((case.size, case.rate_hz), case)
        elif not rates:
            chosen.setdefault(case.size, case)
    ordered = sorted(chosen.values(), key=lambda one: (one.size, one.rate_hz))
    return [replace(case, seconds=seconds) for case in ordered]


def _names(cases: list[Case]) -> list[str]:
    """Names of the parameters that distinguish the cases, always including size and rate."""
    return ["size", "rate_hz"] + [
        name
        for name in cases[0].differing(cases)
        if name not in ("size", "rate_hz", "seconds", "messages")
    ]


def _measure(
    runner: Runner,
    stage: Stage,
    profiles: Mapping[tuple[Peer, Case], CaseProfile],
    repeats: int,
    options: ExperimentOptions,
) -> bool:
    """Runs every case with every peer once, then again, so that drift affects all equally. False if
    stopped."""
    err = console(stderr=True)
    keep = options.perfetto is not None or options.mcap is not None
    every = repeats * len(profiles)
    for repeat in range(repeats):
        for number, ((peer, case), one) in enumerate(profiles.items(), 1 + repeat * len(profiles)):
            done = observed_run(runner, stage, Wish(case, peer, repeat))
            if done is None:
                return False
            outcome = _note(one, *done, options.path, keep=keep)
            if not options.quiet:
                told = one.label if one.of_many else f"{peer.name}, {one.label}"
                err.print(f"[{number}/{every}] {told}: {outcome}", markup=False)
    return True


def _note(one: CaseProfile, run: Run, found: Collection | None, path: str, *, keep: bool) -> str:
    """Adds a run to its case. Returns its outcome in words. Raises Error if no path is as
    requested."""
    why = run.failure
    if not why and found is None:
        why = "it ended before the first look"
    made = layers_of_run(run, found, path, keep=keep) if found is not None and not why else None
    if made is None:
        why = why or "no message was followed to its end"
        one.failures.append(replace(run, result=None, failure=why))
        return f"failed: {why}"
    one.runs.append(made)
    return show_cases.outcome(made)


def observed_run(runner: Runner, stage: Stage, wish: Wish) -> tuple[Run, Collection | None] | None:
    """One run of a laboratory program, and its events. None if stopped. A disturbed run that is
    repeated has another domain, and only the last domain counts."""
    seen = stage.domain
    collector: Collector | None = None
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(runner.one, wish)
        while not making.done():
            wait((making,), POLL_S)
            if stage.domain != seen:
                seen = stage.domain
                # The domain is new, and its first messages may come before this line.
                collector = Collector(seen, whole=True)
            elif collector is not None:
                collector.look()
    run = making.result()
    if run is None:
        return None
    return run, collector.finish() if collector is not None else None


def _tell(
    wanted: Experiment,
    peers: str,
    machine: dict[str, str],
    profiles: list[CaseProfile],
    options: ExperimentOptions,
) -> int:
    failed = any(one.failures for one in profiles)
    done = [one for one in profiles if one.runs]
    if not done:
        why = profiles[0].failures[0].failure
        raise Error("io", f"every run failed, the first with: {why}", wanted.name)
    found = layer_findings(wanted, done)
    told: dict[str, Any] = {
        "experiment": wanted.name,
        "about": wanted.about,
        "peer": peers,
        "machine": machine,
        "cases": [one.as_dict() for one in done],
        "findings": [one.as_dict() for one in found],
    }
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        path = options.folder / "profile.json"
        path.write_text(json.dumps(told, indent=1) + "\n")
        console(stderr=True).print(str(path))
    if options.as_json:
        print_json(told)
    else:
        show_cases.print_cases(console(), done, f"{wanted.name}, {peers}")
        show_cases.print_findings(console(), told["findings"])
    _write_traces(done, options)
    write_pages(told, options.html, options.svg)
    return 1 if failed else 0


def layer_findings(wanted: Experiment, done: Sequence[CaseProfile]) -> list[Beside]:
    """The published findings about layers, beside the results of these runs."""
    of_layers = [
        finding
        for finding, criterion in zip(wanted.findings, findings.parse(wanted.findings), strict=True)
        if criterion.of_layers
    ]
    return findings.beside(of_layers, [one.row for one in done])


def _write_traces(done: Sequence[CaseProfile], options: ExperimentOptions) -> None:
    """Writes the representative run of each case."""
    cases = [(one.label, Flows(one.middle.found)) for one in done if one.middle.found is not None]
    err = console(stderr=True)
    if options.perfetto is not None:
        from hyphos.lab.profile.perfetto import write_perfetto_of_cases  # noqa: PLC0415

        count = write_perfetto_of_cases(options.perfetto, cases)
        err.print(f"{options.perfetto}: {count:,} records, open it at ui.perfetto.dev")
    if options.mcap is not None:
        from hyphos.lab.profile.mcap_file import write_mcap_of_cases  # noqa: PLC0415

        count = write_mcap_of_cases(options.mcap, cases)
        err.print(f"{options.mcap}: {count:,} messages")
