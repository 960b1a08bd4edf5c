"""hyphos lab run | show | compare | list"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from rich.markup import escape

from hyphos._errors import Error
from hyphos._extras import remedy
from hyphos.lab import (
    asserts,
    experiment,
    findings,
    machines,
    outputs,
    placement,
    saturation,
    show,
)
from hyphos.lab import knee as knee_words
from hyphos.lab.case import GRAPH, Case
from hyphos.lab.experiment import Experiment
from hyphos.lab.folder import in_order, reopen
from hyphos.lab.machine import describe_machine
from hyphos.lab.peers import NO_WORKLOAD, Peer, find_peers
from hyphos.lab.results import VERDICTS, Results, Row, Run, statistic
from hyphos.lab.runner import Rules, Runner, Wish, wishes
from hyphos.lab.stage import Stage
from hyphos.tools.console import console, print_json, progress, table
from hyphos.tools.waiting import on_signals

# Exit code of a command that was stopped before its end.
STOPPED = 130


@dataclass
class RunOptions:
    output: Path | None = None
    resume: bool = False
    overwrite: bool = False
    full: bool = False
    repeats: int | None = None
    seconds: float | None = None
    peers: list[str] | None = None
    changes: list[str] | None = None
    criteria: list[str] | None = None
    patience_s: float = 0.0
    retries: int = 0
    quiet: bool = False
    programs: Path | None = None
    report: bool = True


def list_all() -> int:
    """Prints the experiments of the package, and the peers."""
    out = console()
    made = table("experiments", ["name", "cases", "about"], ["cases"])
    for name in experiment.built_in():
        one = experiment.load(name)
        whole = experiment.load(name, full=True)
        cases = str(len(one.cases))
        if len(whole.cases) != len(one.cases):
            cases += f" ({len(whole.cases)} with --full)"
        made.add_row(name, cases, one.about)
    out.print(made)
    peers = find_peers()
    made = table("peers", ["peer", "workloads", ""], [])
    for peer in peers.present:
        notes = ["floor"] if peer.floor else []
        if peer.network:
            notes.append("across several machines" if peer.hosts else "across two machines")
        made.add_row(peer.name, ", ".join(sorted(peer.workloads)), ", ".join(notes))
    for name, advice in peers.absent.items():
        made.add_row(f"[dim]{name}[/dim]", f"[dim]absent: {advice}[/dim]", "")
    out.print(made)
    return 0


def run(what: str, options: RunOptions) -> int:
    """Measures, shows and judges. Returns 0, 1 if a criterion is missed or a run failed, or 130 if
    stopped before the end."""
    expect_sensible(options)
    wanted = resolved(change(load(what, options), options))
    criteria = expect_judged(wanted, options)
    results, whole = perform(wanted, options)
    _show(in_order(results.rows(), wanted), wanted)
    return finish(results, wanted, criteria, whole, options.report)


def perform(
    wanted: Experiment, options: RunOptions, text: str | None = None
) -> tuple[Results, bool]:
    """Measures. Returns the results, and whether they are complete. `text` is the content of the
    experiment if there is no file."""
    chosen = _chosen(wanted, options)
    stage = Stage(wanted.links)
    for lack in dict.fromkeys(filter(None, map(stage.why_not, wanted.cases))):
        console(stderr=True).print(f"left out: {lack}")
    for line in standing_aside(wanted, chosen):
        console(stderr=True).print(line)
    able = [case for case in wanted.cases if not stage.why_not(case)]
    todo = wishes(replace(wanted, cases=able), chosen)
    if not todo:
        raise _nobody(wanted, chosen, stage)
    results = _open(wanted, options)
    if text is not None:
        (results.folder / "experiment.yaml").write_text(text)
    rules = Rules(options.patience_s, options.retries)
    whole = _measure(todo, Runner(results, rules, stage), options.quiet)
    results.write_summary()
    return results, whole


def expect_sensible(options: RunOptions) -> None:
    """Raises Error if an option is invalid for every experiment."""
    outputs.expect_seconds(options.seconds, "--seconds")
    outputs.expect_seconds(options.patience_s, "--wait-quiet")
    outputs.expect_folder(options.output, "--output")
    if options.resume and options.overwrite:
        raise Error("invalid_config", "give either --resume or --overwrite", "--resume")


def _nobody(wanted: Experiment, chosen: list[Peer], stage: Stage) -> Error:
    lacks = [stage.why_not(case) for case in wanted.cases]
    lacks += [peer.cannot(case) for peer in chosen for case in wanted.cases]
    why = next(filter(None, lacks), "")
    return Error(
        "not_found",
        "no available peer can run this experiment" + (f": {why}" if why else ""),
        wanted.name,
        "`hyphos lab list` lists the peers, and how to install absent ones",
    )


def finish(
    results: Results,
    wanted: Experiment,
    criteria: list[asserts.Criterion],
    whole: bool,
    report: bool,
) -> int:
    """Prints the published findings and the folder of the results, writes a report and judges."""
    _tell_findings(findings.beside(wanted.findings, results.rows()))
    console().print(f"results: {results.folder}")
    if not whole:
        console(stderr=True).print("stopped before the end, continue with --resume")
        return STOPPED
    if report:
        leave_report(results.folder)
    return _judge(criteria, results, in_order(results.rows(), wanted), wanted.varied())


def saturate(what: str, options: RunOptions) -> int:
    """Finds the highest rate that each peer carries in each case. Ignores the rates of the
    experiment. Returns 0, 1 if a run failed, or 130 if stopped."""
    expect_sensible(options)
    wanted = change(load(what, options), replace(options, seconds=None))
    if any(case.floods for case in wanted.cases):
        raise Error("invalid_config", "a flood has no rate to search", wanted.name)
    if any(case.workload == GRAPH for case in wanted.cases):
        raise Error(
            "invalid_config",
            "a graph has many rates, which another command scales together",
            wanted.name,
            "hyphos lab verify robot.yaml --measure-only",
        )
    # Beyond the saturation point a peer must block its publishers instead of dropping messages.
    cases = [
        replace(case, rate_hz=Case.rate_hz, speed=0.0, seconds=Case.seconds, reliability="reliable")
        for case in wanted.cases
    ]
    wanted = resolved(replace(wanted, cases=list(dict.fromkeys(cases))))
    expect_judged(replace(wanted, asserts=[]), replace(options, criteria=None))
    chosen = _chosen(wanted, options)
    stage = Stage(wanted.links)
    able = [
        case
        for case in wanted.cases
        if not stage.why_not(case) and any(not peer.cannot(case) for peer in chosen)
    ]
    if not able:
        raise _nobody(wanted, chosen, stage)
    results = _open(wanted, options)
    runner = Runner(results, Rules(options.patience_s, options.retries), stage)
    err = console(stderr=True)
    made = table("", ["case", "peer", *show.KNEE], show.KNEE)
    knees: list[saturation.Saturation] = []
    with on_signals(lambda _number: runner.stop()), stage:
        for case in wanted.cases:
            for peer in chosen:
                if lack := peer.cannot(case) or stage.why_not(case):
                    err.print(
                        f"left out: {peer.name}, {show.case_label(case, wanted.varied())}: {lack}"
                    )
                    continue
                if not options.quiet:
                    err.print(f"{peer.name}, {show.case_label(case, wanted.varied())} …")
                knee = saturation.find(case, partial(_one, runner, peer))
                if knee is None:
                    err.print("stopped before the end, continue with --resume")
                    return STOPPED
                knees.append(replace(knee, peer=peer.name))
                saturation.save(results.folder, knees)
                made.add_row(
                    show.case_label(case, wanted.varied()), peer.name, *show.knee_cells(knee)
                )
    results.write_summary()
    console().print(made)
    console().print(f"[dim]{knee_words.DEFINITION}[/dim]")
    _tell_findings(findings.of_knees(wanted.findings, saturation.rows(knees)))
    console().print(f"results: {results.folder}")
    if options.report:
        leave_report(results.folder)
    return 1 if any(run.failure for run in results.runs) else 0


def _tell_findings(found: list[findings.Beside]) -> None:
    for one in found:
        for line in findings.lines(one.as_dict()):
            console().print(line, highlight=False)


def leave_report(folder: Path) -> None:
    """Writes FOLDER/report.html, if matplotlib is installed."""
    try:
        from hyphos.lab.report import write_report  # noqa: PLC0415 - imports matplotlib
    except ModuleNotFoundError as problem:
        if problem.name != "matplotlib":
            raise
        console(stderr=True).print(f"no report: {escape(remedy('matplotlib'))}")
        return
    console().print(f"report: {write_report(folder, None)}")


def _one(runner: Runner, peer: Peer, case: Case, attempt: int) -> Run | None:
    return runner.one(Wish(case, peer, attempt))


def show_folder(folder: Path, base: str, as_json: bool) -> int:
    wanted, results = reopen(folder)
    if as_json:
        results.write_summary()
        print_json(json.loads((folder / "summary.json").read_text()))
        return 0
    rows = in_order(results.rows(), wanted)
    there = sorted({row.peer for row in rows})
    if base and base not in there:
        raise Error("not_found", f"no results of '{base}'", "--base", f"of {', '.join(there)}")
    _show(rows, replace(wanted, base=base or wanted.base))
    return 0


def load(what: str, options: RunOptions) -> Experiment:
    wanted = experiment.load(what, full=options.full, changes=options.changes or ())
    if wanted.needs == "recording":
        raise Error(
            "invalid_config",
            "it sends recorded messages, but no recording is given",
            wanted.name,
            "--set recording=FILE --set channel=NAME",
        )
    if wanted.needs == "plan":
        raise Error(
            "invalid_config",
            "it runs the graph of a plan, but no plan is given",
            wanted.name,
            "--set plan=robot.yaml, or in the file `plan:` with a path relative to it",
        )
    return wanted


def expect_able(what: str, options: RunOptions) -> None:
    """Raises Error if an experiment cannot run as requested. Called before anything runs."""
    expect_judged(resolved(change(load(what, options), options)), options)


def expect_judged(wanted: Experiment, options: RunOptions) -> list[asserts.Criterion]:
    """The criteria of a run. Raises Error if the run does not measure one of them, or if a name is
    unknown. Called before any measurement."""
    peers = find_peers(options.programs)
    names = {peer.name for peer in peers.choose(wanted.peers)} | set(wanted.peers)
    if wanted.base:
        peers.choose([wanted.base])
    findings.parse(wanted.findings)
    criteria = [asserts.parse(text) for text in [*wanted.asserts, *(options.criteria or [])]]
    for one in criteria:
        if lack := asserts.unmeasured(one, wanted.cases, names):
            raise Error("not_found", f"'{one.text}': {lack}", wanted.name)
    return criteria


def resolved(wanted: Experiment) -> Experiment:
    """Adds the content of its recordings and plans. Raises Error if one of them cannot run."""
    cases = wanted.cases
    if any(case.recording for case in cases):
        from hyphos.lab import recorded  # noqa: PLC0415

        cases = [recorded.resolved(case) for case in cases]
    if any(case.plan for case in cases):
        from hyphos.lab import mixed  # noqa: PLC0415

        cases = [mixed.resolved(case) for case in cases]
        for plan in dict.fromkeys(case.plan for case in cases):
            for channel in mixed.load(Path(plan)).silent[:8]:
                console(stderr=True).print(
                    f"{plan}: not run, because the plan gives no size or rate: {channel}"
                )
    placement.check(cases)
    return replace(wanted, cases=cases)


def _chosen(wanted: Experiment, options: RunOptions) -> list[Peer]:
    """The available peers. Prints the absent ones with their remedy."""
    peers = find_peers(options.programs)
    for name in sorted({name.split("/")[0] for name in wanted.peers} & set(peers.absent)):
        console(stderr=True).print(f"without {name}: {peers.absent[name]}")
    return peers.choose(wanted.peers)


def standing_aside(wanted: Experiment, chosen: list[Peer]) -> list[str]:
    """For each middleware of which no chosen variant can run some of the cases: the number of these
    cases and the reason."""
    lines = []
    for name in dict.fromkeys(peer.middleware for peer in chosen):
        variants = [peer for peer in chosen if peer.middleware == name]
        reasons: dict[str, int] = {}
        for case in wanted.cases:
            # Prefer the reason of a variant that supports the workload in general.
            lacks = [peer.cannot(case) for peer in variants]
            if all(lacks):
                told = next((one for one in lacks if not one.startswith(NO_WORKLOAD)), lacks[0])
                reasons[told] = reasons.get(told, 0) + 1
        count = len(wanted.cases)
        for reason, cases in reasons.items():
            some = "" if cases == count else f" in {cases} of {count} cases"
            lines.append(f"without {name}{some}: {reason}")
    return lines


def change(wanted: Experiment, options: RunOptions) -> Experiment:
    cases = wanted.cases
    if options.seconds is not None:
        share = [options.seconds / case.seconds for case in cases]
        cases = [
            replace(case, seconds=options.seconds, messages=_messages(case, part))
            for case, part in zip(cases, share, strict=True)
        ]
    return replace(
        wanted,
        cases=cases,
        repeats=options.repeats or wanted.repeats,
        peers=options.peers or wanted.peers,
    )


def _messages(case: Case, share: float) -> int:
    """Number of messages of a shortened run, for floods whose length is a number of messages."""
    return case.messages if case.length_s else max(20, round(case.messages * share))


def _open(wanted: Experiment, options: RunOptions) -> Results:
    folder = options.output or Path("out/lab") / f"{wanted.name}-{datetime.now():%Y%m%d-%H%M%S}"
    if (folder / "runs.jsonl").exists() and not options.resume:
        if not options.overwrite:
            raise Error(
                "already_exists",
                "this folder already has results",
                str(folder),
                "--resume continues, --overwrite starts over",
            )
        for name in ("runs.jsonl", saturation.FILE, machines.FILE, VERDICTS):
            (folder / name).unlink(missing_ok=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error("io", f"cannot create the folder: {error.strerror}", str(folder)) from None
    kept = options.resume and (folder / "experiment.yaml").exists()
    if wanted.source is not None and not kept:
        shutil.copyfile(wanted.source, folder / "experiment.yaml")
    results = Results(folder)
    here = {**describe_machine(), "peers": find_peers(options.programs).versions()}
    results.machine, differ = machines.enter(folder, here)
    for one in differ:
        console(stderr=True).print(f"[yellow]since the earlier runs:[/yellow] {escape(one)}")
    return results


def _measure(todo: list[Wish], runner: Runner, quiet: bool) -> bool:
    """Returns true if all was measured, false if stopped."""
    out = console(stderr=True)
    bar = progress(out, quiet)
    with on_signals(lambda _number: runner.stop()), bar:
        task = bar.add_task("measuring", total=len(todo))

        def told(run: Run, done: int, total: int) -> None:
            bar.update(task, completed=done, description=run.peer)
            if not quiet and not out.is_terminal:
                out.print(f"[{done}/{total}] {run.peer}: {_outcome(run)}", highlight=False)

        runner.measure(todo, told)
        return not runner.stopped


def _outcome(run: Run) -> str:
    if run.result is None:
        return f"failed: {run.failure}"
    shown = f"p50 {show.number(run.result['p50_us'])} µs"
    if run.case.uncapped:
        shown = f"{show.number(statistic([run], 'publishing_rate_hz'))} Hz"
    elif run.case.floods:
        shown = f"{show.number(run.result['messages_per_s'])} messages/s"
    return shown + (" (disturbed)" if run.load.disturbed else "")


def _show(rows: list[Row], wanted: Experiment) -> None:
    out = console()
    for group, varied in show.by_workload(rows, wanted.varied()):
        found = show.result_table(
            out, group, varied, wanted.base, wanted.figures, list(wanted.unlike)
        )
        out.print(found)
    for line in show.unlike_lines(rows, wanted.unlike):
        out.print(line, markup=False, highlight=False)


def _judge(
    criteria: list[asserts.Criterion], results: Results, rows: list[Row], varied: list[str]
) -> int:
    judged = asserts.judge_each(criteria, rows)
    verdicts = [verdict for _, some in judged for verdict in some]
    met = print_verdicts(verdicts, varied)
    if criteria:
        results.write_verdicts([verdict.to_json() for verdict in verdicts])
        # CI must not pass without a measurement, but first print all verdicts.
    asserts.judge([criterion for criterion, some in judged if not some], rows)
    return 1 if any(row.failure for row in rows) or not met else 0


def print_verdicts(verdicts: list[asserts.Verdict], varied: list[str]) -> bool:
    """Prints the verdicts. Returns whether all criteria are met."""
    for line in show.verdict_lines(verdicts, varied):
        console().print(line, highlight=False)
    if len(verdicts) > 1:
        console().print(show.verdict_summary(verdicts), highlight=False)
    return all(verdict.met for verdict in verdicts)
