"""hyphos lab profile"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn

from hyphos.lab import outputs
from hyphos.lab.profile.events import Collection, Collector, collect
from hyphos.lab.profile.flows import Flows
from hyphos.lab.profile.profile import Profile, profile
from hyphos.lab.profile.show import print_profile
from hyphos.tools.console import console, print_json
from hyphos.tools.waiting import stoppable


@dataclass
class ProfileOptions:
    domain: str
    seconds: float = 10.0
    path: str = ""
    hidden: bool = False
    as_json: bool = False
    quiet: bool = False
    perfetto: Path | None = None
    mcap: Path | None = None
    html: Path | None = None
    svg: Path | None = None


def profile_graph(options: ProfileOptions) -> int:
    """Profiles a running graph. Returns 0, or 1 if no message came."""
    outputs.expect_seconds(options.seconds, "--for")
    for name in ("html", "svg", "perfetto", "mcap"):
        outputs.expect_file(getattr(options, name), f"--{name}")
    found = _collect(options)
    told = profile(Flows(found, hidden=options.hidden), options.path)
    if options.as_json:
        print_json(told.as_dict())
    else:
        print_profile(console(), told)
    write_files(told, options)
    return 0 if len(told.flows.receptions) else 1


def write_files(told: Profile, options: ProfileOptions) -> None:
    """Writes the requested files."""
    err = console(stderr=True)
    if options.perfetto is not None:
        from hyphos.lab.profile.perfetto import write_perfetto  # noqa: PLC0415

        count = write_perfetto(options.perfetto, told.flows)
        err.print(f"{options.perfetto}: {count:,} records, open it at ui.perfetto.dev")
    if options.mcap is not None:
        from hyphos.lab.profile.mcap_file import write_mcap  # noqa: PLC0415

        count = write_mcap(options.mcap, told.flows)
        err.print(f"{options.mcap}: {count:,} messages")
    write_pages(told.as_dict(), options.html, options.svg)


def write_pages(told: Mapping[str, Any], html: Path | None, svg: Path | None) -> None:
    """Writes the page and the plots of a profile in the format of `--json`."""
    err = console(stderr=True)
    if html is not None:
        from hyphos.lab.profile.report import write_report  # noqa: PLC0415

        err.print(str(write_report(html, told)))
    if svg is not None:
        from hyphos.lab.profile.draw import write_pictures  # noqa: PLC0415

        for path in write_pictures(svg, told):
            err.print(str(path))


def _collect(options: ProfileOptions) -> Collection:
    err = console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        console=err,
        transient=True,
        disable=options.quiet or not err.is_terminal,
    )
    with stoppable(options.seconds) as stop, bar:
        task = bar.add_task("listening", total=options.seconds)
        shown = 0.0

        def told(collector: Collector) -> None:
            nonlocal shown
            # Redraw the bar four times a second, so that drawing does not disturb the measurement.
            if collector.seconds - shown >= 0.25:
                shown = collector.seconds
                text = f"{collector.count:,} events of {collector.processes} processes"
                bar.update(task, completed=shown, description=text)

        return collect(options.domain, stop, told)
