"""hyphos lab profile --experiment: the layers of the cases of an experiment, by message size, as
Fig. 6 of T. Kronauer et al., *Latency Analysis of ROS2 Multi-Node Systems*."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyphos._errors import Error
from hyphos.lab import experiment
from hyphos.lab.case import Case, size_label
from hyphos.lab.machine import describe_machine
from hyphos.lab.peers import Peer, find_peers
from hyphos.lab.reaper import folder_for_now
from hyphos.lab.results import Results, Run
from hyphos.lab.runner import Rules, Runner, Wish
from hyphos.lab.stage import Stage
from hyphos.profile.commands import write_pages
from hyphos.profile.events import POLL_S, Collection, Collector
from hyphos.profile.flows import Flows
from hyphos.profile.layers import LAYERS
from hyphos.profile.profile import PathProfile, Profile, profile
from hyphos.tools.console import console, print_json, table
from hyphos.tools.observe import duration
from hyphos.tools.waiting import on_signals

PERCENTILES = (0.5, 0.95)


@dataclass
class ExperimentOptions:
    what: str
    peer: str = "hyphos/shm"
    seconds: float = 5.0
    full: bool = False
    as_json: bool = False
    quiet: bool = False
    html: Path | None = None
    svg: Path | None = None
    folder: Path | None = None  # of the experiment's results, whose report then has the layers too


@dataclass(frozen=True)
class CaseProfile:
    """What one case gave: its longest path, and the layers of its median and its p95 messages."""

    case: Case
    told: Profile
    path: PathProfile
    layers: dict[float, npt.NDArray[np.float64]]

    def as_dict(self) -> dict[str, Any]:
        return {
            "size": self.case.size,
            "rate_hz": self.case.rate_hz,
            "path": self.path.name,
            "costliest": self.path.as_dict()["costliest"],
            "end_to_end": self.path.total.as_dict(),
            "layers_ns": {
                f"p{fraction * 100:.0f}": dict(zip(LAYERS, row.round(1).tolist(), strict=True))
                for fraction, row in self.layers.items()
            },
            "messages": self.path.messages(),
            "missed": self.told.flows.found.missed_in_all,
            "worst_sum_error": self.told.worst_sum_error,
        }


def profile_experiment(options: ExperimentOptions) -> int:
    """0; 130 if it was stopped."""
    wanted = experiment.load(options.what, full=options.full)
    peer = _peer(options.peer)
    cases = chosen_cases(wanted.cases, options.seconds)
    done: list[CaseProfile] = []
    with folder_for_now("profile") as folder, Stage(wanted.links) as stage:
        runner = Runner(Results(folder), Rules(), stage)
        with on_signals(lambda _number: runner.stop()):
            for case in cases:
                if not options.quiet:
                    console(stderr=True).print(
                        f"{peer.name}, {size_label(case.size)}, {case.rate_hz:g} Hz …"
                    )
                found = observed_run(runner, stage, Wish(case, peer, 0))
                if found is None:
                    return 130
                done.append(_profile(case, found))
    _show(done, wanted.name, peer.name, options)
    return 0


def _peer(name: str) -> Peer:
    [peer, *_more] = find_peers().choose([name])
    if peer.middleware != "hyphos":
        raise Error(
            "unsupported",
            f"'{name}' keeps no flight recorder",
            advice="-p hyphos/shm, or another of hyphos (hyphos lab list)",
        )
    return peer


def chosen_cases(cases: list[Case], seconds: float) -> list[Case]:
    """Of each size the case with the highest rate: where the paper profiled. Error if there is no
    rate."""
    if any(case.floods for case in cases):
        raise Error("invalid_config", "a flood has no rate, and its queues hide all other layers")
    by_size: dict[int, Case] = {}
    for case in cases:
        if case.size not in by_size or case.rate_hz > by_size[case.size].rate_hz:
            by_size[case.size] = case
    return [replace(by_size[size], seconds=seconds) for size in sorted(by_size)]


def observed_run(runner: Runner, stage: Stage, wish: Wish) -> Collection | None:
    """One run of a program of the laboratory and its events; None if it was stopped. Error if it
    failed."""
    before = stage.domain
    made: list[Run | None] = []
    running = threading.Thread(target=lambda: made.append(runner.one(wish)))
    running.start()
    collector: Collector | None = None
    while running.is_alive():
        running.join(POLL_S)
        if collector is None and stage.domain != before:
            collector = Collector(stage.domain)
        elif collector is not None:
            collector.look()
    [run] = made or [None]
    if run is None:
        return None
    if run.result is None:
        raise Error("io", f"the run failed: {run.failure}", wish.peer.name)
    if collector is None:
        raise Error("not_found", "the run ended before it was looked at", wish.peer.name)
    return collector.finish()


def _profile(case: Case, found: Collection) -> CaseProfile:
    told = profile(Flows(found))
    if not told.paths:
        raise Error("not_found", f"no message of {size_label(case.size)} was followed to its end")
    path = max(told.paths, key=lambda path: (len(path.hops), path.total.count))
    # Messages of the warm-up come first.
    path.ways.sort(key=lambda way: way.steps[0].publish_ns)
    del path.ways[: min(case.warmup, len(path.ways) // 2)]
    return CaseProfile(case, told, path, {p: around(path, p) for p in PERCENTILES})


def around(path: PathProfile, fraction: float) -> npt.NDArray[np.float64]:
    """The mean layers of the messages within one per cent of a percentile: their sum is that
    percentile, which the percentiles of the layers do not add up to."""
    ordered = sorted(path.ways, key=lambda way: way.total_ns)
    last = len(ordered) - 1
    low, high = (min(last, max(0, int((fraction + d) * len(ordered)))) for d in (-0.01, 0.01))
    parts = np.array([[step.parts for step in way.steps] for way in ordered[low : high + 1]])
    summed: npt.NDArray[np.float64] = parts.sum(axis=1).mean(axis=0)
    # As the paper: up to the last callback, which is not part of the latency.
    last_callback = parts[:, -1, LAYERS.index("callback")].mean()
    summed[LAYERS.index("callback")] -= last_callback
    return summed


def _show(done: list[CaseProfile], name: str, peer: str, options: ExperimentOptions) -> None:
    told = {
        "experiment": name,
        "peer": peer,
        "machine": describe_machine(),
        "cases": [one.as_dict() for one in done],
    }
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        path = options.folder / "profile.json"
        path.write_text(json.dumps(told, indent=1) + "\n")
        console(stderr=True).print(str(path))
    if options.as_json:
        print_json(told)
    else:
        console().print(_table(done, f"{name}, {peer}: layers of the messages at each percentile"))
        for one in done:
            missed = one.told.flows.found.missed_in_all
            if missed:
                console().print(f"{size_label(one.case.size)}: {missed:,} events were missed")
    write_pages(told, options.html, options.svg)


def _table(done: list[CaseProfile], title: str) -> Any:
    heads = ["publish → callback", *LAYERS[:7]]
    made = table(title, ["size", "rate", "messages", "", *heads], ["messages", *heads])
    for one in done:
        for fraction, row in one.layers.items():
            made.add_row(
                size_label(one.case.size),
                f"{one.case.rate_hz:g} Hz",
                f"{len(one.path.ways):,}",
                f"p{fraction * 100:.0f}",
                duration(float(row.sum())),
                *(duration(float(ns)) for ns in row[:7]),
            )
    return made
