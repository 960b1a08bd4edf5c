"""hyphos lab profile"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn

from hyphos.profile.events import Collection, Collector, collect
from hyphos.profile.flows import Flows
from hyphos.profile.profile import Profile, profile
from hyphos.profile.show import print_profile
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
    """Of a running graph. 0; 1 if no message came."""
    found = _collect(options)
    told = profile(Flows(found, hidden=options.hidden), options.path)
    if options.as_json:
        print_json(told.as_dict())
    else:
        print_profile(console(), told)
    write_files(told, options)
    return 0 if len(told.flows.receptions) else 1


def write_files(told: Profile, options: ProfileOptions) -> None:
    """What the options ask for beside the terminal."""
    err = console(stderr=True)
    if options.perfetto is not None:
        from hyphos.profile.perfetto import write_perfetto  # noqa: PLC0415

        count = write_perfetto(options.perfetto, told.flows)
        err.print(f"{options.perfetto}: {count:,} records; open it at ui.perfetto.dev")
    if options.mcap is not None:
        from hyphos.profile.mcap_file import write_mcap  # noqa: PLC0415

        count = write_mcap(options.mcap, told.flows)
        err.print(f"{options.mcap}: {count:,} messages")
    if options.html is not None or options.svg is not None:
        from hyphos.profile.draw import write_html, write_svg  # noqa: PLC0415

        if options.html is not None:
            write_html(options.html, told)
            err.print(str(options.html))
        if options.svg is not None:
            for path in write_svg(options.svg, told):
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
            # The bar is redrawn four times a second: not to disturb what is measured.
            if collector.seconds - shown >= 0.25:
                shown = collector.seconds
                text = f"{collector.count:,} events of {collector.processes} processes"
                bar.update(task, completed=shown, description=text)

        return collect(options.domain, stop, told)
