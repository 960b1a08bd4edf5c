"""Opens the robot of a test: the plan, its changes, and the way to run it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.stepped import Make
from hyphos.testing import faults, played
from hyphos.testing.few_nodes import Program, write_plan
from hyphos.testing.hosted import Hosted, Stepped
from hyphos.testing.inbox import Types
from hyphos.testing.launched import Launched, LaunchedOptions
from hyphos.testing.stage import Stage


@dataclass(frozen=True)
class Options:
    """The options of a Robot that decide how it runs. Robot has their meaning."""

    plan: Path | None
    base: Path
    domain: str
    lockstep: bool
    nodes: Sequence[str] | Mapping[str, Program]
    processes: Sequence[str]
    params: Mapping[str, Mapping[str, Any]]
    settings: Sequence[str]
    types: Mapping[str, Any]
    intercept: Sequence[str]
    allow_exceptions: bool
    ready_within_s: float
    tick_ms: float
    begin_at: str | Path | int


@dataclass(frozen=True)
class Opened:
    stage: Stage
    types: Types
    faults: faults.Faults


def open_stage(options: Options, folder: Path, changed: threading.Condition) -> Opened:
    """Checks the plan and makes the stage, which has not begun. `folder` is for logs and files."""
    made_by: dict[str, Make] = {}
    plan = options.plan
    if plan is None:
        assert isinstance(options.nodes, Mapping), "checked by Robot"
        plan, made_by = write_plan(folder, options.base, options.nodes, options.params)
    elif isinstance(options.nodes, Mapping):
        made_by = _replacements(options.nodes, plan)
    settings = list(options.settings)
    data = json.loads(Plan.load(str(plan), settings, False).json())
    intercepted = faults.names_of(data, options.intercept)
    planned = {one["name"] for one in data["channels"]}
    if intercepted:
        settings += faults.settings_of(data, intercepted, str(plan))
        data = json.loads(Plan.load(str(plan), settings, False).json())
    types = Types(options.types, None if options.lockstep else options.domain)
    stage = _make(options, plan, data, settings, made_by, folder, changed)
    return Opened(stage, types, faults.Faults(intercepted, planned, types))


def _replacements(nodes: Mapping[str, Program], plan: Path) -> dict[str, Make]:
    """Nodes of a plan that classes of the test replace."""
    made_by: dict[str, Make] = {}
    for name, program in nodes.items():
        if isinstance(program, str):
            raise Error(
                "invalid_config",
                f"node '{name}': a class of the test can replace a node of the plan, a text cannot",
                str(plan),
                f"import the class, or settings=['nodes.{name}.python={program}']",
            )
        made_by[name] = program
    return made_by


def _make(
    options: Options,
    plan: Path,
    data: dict[str, Any],
    settings: Sequence[str],
    made_by: dict[str, Make],
    folder: Path,
    changed: threading.Condition,
) -> Stage:
    if options.lockstep:
        begin = options.begin_at
        return Stepped(
            plan,
            data,
            settings=settings,
            only=[] if isinstance(options.nodes, Mapping) else options.nodes,
            made_by=made_by,
            tick_ms=options.tick_ms,
            begin_ns=begin if isinstance(begin, int) else played.start_of(options.base / begin),
            allow_exceptions=options.allow_exceptions,
        )
    if options.plan is None:
        return Hosted(
            plan,
            data,
            options.domain,
            settings=settings,
            made_by=made_by,
            allow_exceptions=options.allow_exceptions,
            changed=changed,
        )
    if options.nodes:
        text = "nodes= selects or replaces nodes of a plan only with lockstep=True"
        raise Error("invalid_config", text, str(plan), "processes= selects processes")
    launched = LaunchedOptions(
        plan=plan,
        data=data,
        settings=settings,
        domain=options.domain,
        folder=folder,
        only=options.processes,
        ready_within_s=options.ready_within_s,
        strict=not options.allow_exceptions,
    )
    return Launched(launched, changed)
