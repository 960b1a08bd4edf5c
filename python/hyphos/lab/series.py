"""Runs several experiments, one after the other, as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from hyphos._errors import Error
from hyphos.lab import commands, experiment, findings
from hyphos.lab.case import Case, means_something
from hyphos.lab.commands import RunOptions
from hyphos.lab.peers import find_peers
from hyphos.lab.reader import PARAMETERS
from hyphos.lab.results import Results
from hyphos.lab.runner import Rules, wishes
from hyphos.tools.console import console

Step = tuple[Callable[[str, RunOptions], int], str]

# Time of a run besides its measurement: fixed, for each process, and for the messages of warm-up
# and of the final silence. Then the time of a report, and of a search for the saturation point.
_STARTING_S, _PROCESS_S, _AROUND_MESSAGES = 0.7, 0.05, 20
_REPORT_S = 8.0
_SEARCH_S = 60.0
PROFILE = "profile.json"

# The measurements of Allspaw et al. on transports from Unity to ROS, and of their future work.
UNITY: tuple[Step, ...] = (
    (commands.run, "paper_000_latency"),
    (commands.run, "paper_000_machines"),
    (commands.run, "paper_000_uncapped"),
    (commands.saturate, "paper_000_rate"),
    (commands.run, "unity_viewers"),
    (commands.run, "unity_machines"),
    (commands.run, "paper_000_far"),
    (commands.run, "unity_slow"),
)


def of_paper(number: str) -> Sequence[Step]:
    """All experiments of a paper."""
    if number == "000":
        return UNITY
    found = [name for name in experiment.built_in() if name.startswith(f"paper_{number}_")]
    return [(_command(name), name) for name in found]


def _command(name: str) -> Callable[[str, RunOptions], int]:
    """The command that measures the metrics of all findings of an experiment: layers (profiler
    only), saturation points, or figures of runs."""
    criteria = findings.parse(experiment.load(name).findings)
    if criteria and all(criterion.of_layers for criterion in criteria):
        return profile_layers
    if criteria and all(criterion.of_knees for criterion in criteria):
        return commands.saturate
    return commands.run


def profile_layers(what: str, options: RunOptions) -> int:
    """`hyphos lab profile --experiment` with a folder for its page. Skipped if the profile
    exists."""
    from hyphos.lab.profile.experiment import (  # noqa: PLC0415
        SECONDS,
        ExperimentOptions,
        profile_experiment,
    )

    folder = _folder(options)
    recorded = _profiled(options)
    if recorded is None or (options.resume and (folder / PROFILE).exists()):
        why = "exists already" if recorded is not None else "none of these peers has a recorder"
        console(stderr=True).print(f"left out: {what}: {why}")
        return 0
    page = folder / "report.html" if options.report and find_spec("matplotlib") else None
    return profile_experiment(
        ExperimentOptions(
            what,
            recorded,
            options.seconds or SECONDS,
            options.repeats,
            options.full,
            options.changes or (),
            rules=Rules(options.patience_s, options.retries),
            quiet=options.quiet,
            html=page,
            folder=folder,
            programs=options.programs,
        )
    )


def _profiled(options: RunOptions) -> list[str] | None:
    """The requested peers with a recorder, whose layers are measured. Empty: those of the
    experiment. None if no requested peer has a recorder."""
    if not options.peers:
        return []
    return [name for name in options.peers if name.split("/")[0] == "hyphos"] or None


def papers() -> list[str]:
    named = (name.split("_") for name in experiment.built_in())
    return sorted({words[1] for words in named if words[0] == "paper"})


def run(steps: Sequence[Step], title: str, options: RunOptions) -> int:
    """Runs each experiment in its own subfolder, with its report. Refuses impossible requests
    before the first run. A failed experiment does not stop the others. Returns the worst exit code.
    If one is stopped, the following ones do not run."""
    commands.expect_sensible(options)
    folder = options.output or Path("out/lab") / f"{title}-{datetime.now():%Y%m%d-%H%M%S}"
    _check_changes(steps, options.changes or [])
    chosen = []
    for command, name in steps:
        own = _own(name, replace(options, output=folder / name))
        if experiment.load(name, changes=own.changes or ()).needs:
            lack = "it sends recorded messages, give --set recording=FILE --set channel=NAME"
            console(stderr=True).print(f"left out: {name}: {lack}")
        else:
            commands.expect_able(name, own)
            chosen.append((command, name, own))
    expected = sum(duration_s(command, name, own) for command, name, own in chosen)
    console().print(f"{len(chosen)} experiments, about {_spoken(expected)}", highlight=False)
    worst = 0
    failed = []
    for at, (command, name, own) in enumerate(chosen, 1):
        console().print(f"[bold]{at} of {len(chosen)}: {name}[/bold]", highlight=False)
        try:
            answer = command(name, own)
        except Error as error:
            console(stderr=True).print(f"{name}: {error}", markup=False)
            failed.append(name)
            answer = 1
        if answer == commands.STOPPED:
            return answer
        worst = max(worst, answer)
    if failed:
        console(stderr=True).print(f"not measured: {', '.join(failed)}", markup=False)
    return worst


def _check_changes(steps: Sequence[Step], changes: Sequence[str]) -> None:
    """Raises Error if no experiment uses a change."""
    for change in changes:
        if not any(_meant(name, [change]) for _command_of, name in steps):
            raise Error(
                "invalid_config",
                f"'{change}' has no effect in any of these experiments",
                "--set",
                "`hyphos lab run NAME --set …` prints the reason for one of them",
            )


def _meant(name: str, changes: Sequence[str]) -> list[str]:
    """The changes that an experiment uses."""
    wanted = experiment.load(name)
    workloads = {case.workload for case in wanted.cases}
    kept = []
    for change in changes:
        parameter = change.partition("=")[0]
        known = any(means_something(parameter, one) for one in workloads)
        if parameter in ("recording", "channel") and not wanted.needs:
            continue
        if known or parameter not in PARAMETERS:  # experiment.load() refuses it
            kept.append(change)
    return kept


def _own(name: str, options: RunOptions) -> RunOptions:
    """The options of one experiment of a series: resumes if there are results, and passes a
    recording only to experiments that need one."""
    changes = _meant(name, options.changes or [])
    there = ("runs.jsonl", PROFILE)
    goes_on = options.resume and any((_folder(options) / one).exists() for one in there)
    return replace(options, changes=changes, resume=goes_on)


def _folder(options: RunOptions) -> Path:
    assert options.output is not None
    return options.output


def duration_s(command: Callable[[str, RunOptions], int], name: str, options: RunOptions) -> float:
    """Estimated duration of an experiment, without its existing results."""
    wanted = commands.change(commands.load(name, options), options)
    peers = find_peers(options.programs).choose(wanted.peers)
    if command is commands.saturate:
        return _SEARCH_S * len(wishes(replace(wanted, repeats=1), peers))
    if command is profile_layers:
        from hyphos.lab.profile.experiment import SECONDS, chosen_cases  # noqa: PLC0415

        if _profiled(options) is None or (options.resume and (_folder(options) / PROFILE).exists()):
            return 0.0
        cases = chosen_cases(wanted.cases, options.seconds or SECONDS)
        recorded = [name for name in wanted.peers if name.split("/")[0] == "hyphos"]
        return wanted.repeats * max(1, len(recorded)) * sum(map(_run_s, cases))
    known = set()
    if options.resume:
        known = {run.key for run in Results(_folder(options)).runs if not run.failure}
    todo = [wish.case for wish in wishes(wanted, peers) if not known or wish.key not in known]
    return sum(map(_run_s, todo)) + (_REPORT_S if todo else 0.0)


def _run_s(case: Case) -> float:
    around = _STARTING_S + _PROCESS_S * case.most_processes
    return around + _AROUND_MESSAGES / case.rate_hz + case.length_s


def _spoken(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
