"""Several experiments, one after the other, as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from hyphos.lab import commands
from hyphos.lab.commands import RunOptions
from hyphos.tools.console import console

Step = tuple[Callable[[str, RunOptions], int], str]


# What Allspaw et al. measured of ways from Unity into ROS, and what they leave to future work.
UNITY: tuple[Step, ...] = (
    (commands.run, "paper_000_latency"),
    (commands.run, "paper_000_machines"),
    (commands.saturate, "paper_000_rate"),
    (commands.run, "unity_viewers"),
    (commands.run, "paper_000_far"),
    (commands.run, "unity_slow"),
)


def run(steps: Sequence[Step], title: str, options: RunOptions) -> int:
    """Each in a folder of its own below one, and with its report where matplotlib is. The worst of
    what the commands answer; if one is stopped, so are those that follow."""
    folder = options.output or Path("out/lab") / f"{title}-{datetime.now():%Y%m%d-%H%M%S}"
    worst = 0
    for at, (command, name) in enumerate(steps, 1):
        console().print(f"[bold]{at} of {len(steps)}: {name}[/bold]", highlight=False)
        own = folder / name
        goes_on = options.resume and (own / "runs.jsonl").exists()
        answer = command(name, replace(options, output=own, resume=goes_on))
        if answer == commands.STOPPED:
            return answer
        worst = max(worst, answer)
        _report(own)
    return worst


def _report(folder: Path) -> None:
    try:
        from hyphos.lab.report import write_report  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        if problem.name != "matplotlib":
            raise
        console(stderr=True).print("no report: pip install 'hyphos\\[lab]'")
        return
    console().print(f"report: {write_report(folder, None, None)}")
