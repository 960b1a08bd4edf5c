"""hyphos lab ..."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyphos.cli import lab_profile, lab_report
from hyphos.cli.options import AsJson, Domain

if TYPE_CHECKING:
    from hyphos.lab.commands import RunOptions

app = typer.Typer(
    no_args_is_help=True,
    help="The laboratory: measure the limits of this machine, with their uncertainty.",
)
app.command("profile")(lab_profile.profile)

Base = Annotated[
    str,
    typer.Option("--base", help="Baseline to divide by. Default: that of the experiment."),
]
Folder = Annotated[Path, typer.Argument(help="Folder of `hyphos lab run`.", show_default=False)]


ExperimentName = Annotated[
    str, typer.Argument(help="A name from `hyphos lab list`, or a YAML file.", show_default=False)
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the results. Default: out/lab/NAME-TIME."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Measure only cases that the folder does not have yet.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the results in the folder.")]
Full = Annotated[
    bool, typer.Option("--full", help="Run the whole grid of the paper, not the reduced one.")
]
PeerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--peer", "--with", "-p", help="Peer to measure. Repeatable. Default: the experiment's."
    ),
]
Patience = Annotated[
    float,
    typer.Option(
        "--wait-quiet",
        metavar="SECONDS",
        min=0.0,
        help="Longest wait for a quiet machine before each run.",
    ),
]
Awake = Annotated[
    bool,
    typer.Option(
        "--no-cpu-idle",
        help="Keep the CPUs out of idle states with loops of the lowest priority, so that results "
        "do not include CPU wake-up latency.",
    ),
]
Retries = Annotated[
    int,
    typer.Option("--retries", min=0, max=100, help="Retry a disturbed run up to this many times."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a parameter of the experiment, e.g. size=64KB. Repeatable.",
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option("--repeats", min=1, max=1000, help="Number of runs of each case and peer."),
]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", min=0.1, help="Length of each measurement, in seconds."),
]
Criteria = Annotated[
    list[str] | None,
    typer.Option(
        "--assert",
        metavar="TEXT",
        help="Fail unless this criterion holds, e.g. 'hyphos/shm size=1KB: p99_us < 500', "
        "'lost == 0' or 'hyphos/shm: p50_us / futex <= 2'. Repeatable.",
    ),
]
What = Annotated[
    str,
    typer.Argument(help="Workload, experiment, or folder of results.", show_default=False),
]
After = Annotated[
    Path | None,
    typer.Argument(help="Second folder, divided by the first.", show_default=False),
]
Sizes = Annotated[
    list[str] | None, typer.Option("--size", help="Message size of a workload. Repeatable.")
]
Rates = Annotated[
    list[str] | None, typer.Option("--rate", help="Rate of a workload in Hz. Repeatable.")
]
PaperNumber = Annotated[
    str, typer.Argument(help="000, 001, 003 or 004.", metavar="NUMBER", show_default=False)
]
Report = Annotated[
    bool, typer.Option("--report/--no-report", help="Write report.html to the folder.")
]
Programs = Annotated[
    Path | None,
    typer.Option("--programs", help="Folder with the programs of the peers.", file_okay=False),
]


@app.command("list")
def list_() -> None:
    """List the experiments of Hyphos, and the middlewares that are installed here."""
    from hyphos.lab.commands import list_all  # noqa: PLC0415

    raise typer.Exit(list_all())


def _run_options(
    output: Output = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    full: Full = False,
    changes: Changes = None,
    peers: PeerNames = None,
    patience: Patience = 0.0,
    retries: Retries = 0,
    quiet: Quiet = False,
    programs: Programs = None,
    report: Report = True,
) -> RunOptions:
    from hyphos.lab.commands import RunOptions  # noqa: PLC0415

    return RunOptions(
        output=output,
        resume=resume,
        overwrite=overwrite,
        full=full,
        changes=changes,
        peers=peers,
        patience_s=patience,
        retries=retries,
        quiet=quiet,
        programs=programs,
        report=report,
    )


def _kept_awake(awake: Awake = False) -> AbstractContextManager[None]:
    from hyphos.lab.busy_cpus import kept_awake  # noqa: PLC0415

    return kept_awake(awake)


def _parameters(command: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters with their annotations as objects of this file, without `options`."""
    found = inspect.signature(command).parameters.values()
    return [
        one.replace(annotation=globals()[one.annotation]) for one in found if one.name != "options"
    ]


def _measuring(command: Callable[..., None]) -> Callable[..., None]:
    """Decorates a measuring command: its last parameter, `options`, comes from the command-line
    options that all measuring commands have in common."""
    own = _parameters(command)
    common = _parameters(_run_options)
    every = [*own, *common, *_parameters(_kept_awake)]

    @functools.wraps(command)
    def taking_all(**given: Any) -> None:
        kept = _kept_awake(given.pop("awake"))
        options = _run_options(**{one.name: given.pop(one.name) for one in common})
        with kept:
            command(**given, options=options)

    taking_all.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    taking_all.__annotations__ = {one.name: one.annotation for one in every}
    return taking_all


@app.command("run")
@_measuring
def run(
    experiment: ExperimentName,
    repeats: Repeats = None,
    seconds: Seconds = None,
    criteria: Criteria = None,
    *,
    options: RunOptions,
) -> None:
    """Measure every peer in every case, side by side, several times. Ctrl-C ends the current run
    and keeps the earlier ones. --resume continues.

    hyphos lab run latency

    hyphos lab run mine.yaml -o out/mine --assert 'p99_us < 500' --assert 'lost == 0'
    """
    from hyphos.lab.commands import run as measure  # noqa: PLC0415

    wanted = replace(options, repeats=repeats, seconds=seconds, criteria=criteria)
    raise typer.Exit(measure(experiment, wanted))


@app.command("unity")
@_measuring
def unity(
    repeats: Repeats = None,
    seconds: Seconds = None,
    *,
    options: RunOptions,
) -> None:
    """Measure the paths from Unity into ROS against roscpp, as Allspaw et al. do: latency at 60 Hz
    between two machines and with a third (means of 10 messages, and percentiles), rate (windows of
    10 s) and CPU. Then several clients, a bad link and a slow machine. `hyphos lab run` runs each
    experiment alone: paper_000_… and unity_… (paper_000_rate: `hyphos lab saturate`).

    hyphos lab unity --seconds 1 -o out/unity
    """
    from hyphos.lab import series  # noqa: PLC0415

    wanted = replace(options, repeats=repeats, seconds=seconds)
    raise typer.Exit(series.run(series.UNITY, "unity", wanted))


@app.command("paper")
@_measuring
def paper(
    number: PaperNumber,
    repeats: Repeats = None,
    seconds: Seconds = None,
    *,
    options: RunOptions,
) -> None:
    """Run all experiments of one paper, one after the other, each with its report. Prints the
    estimated duration first. --resume continues a stopped series.

    hyphos lab paper 004 -o out/004

    hyphos lab paper 003 --full -o out/003 --resume
    """
    from hyphos.lab import series  # noqa: PLC0415

    if number not in (known := series.papers()):
        raise typer.BadParameter(f"'{number}' is none of {', '.join(known)}", param_hint="NUMBER")
    wanted = replace(options, repeats=repeats, seconds=seconds)
    raise typer.Exit(series.run(series.of_paper(number), f"paper_{number}", wanted))


@app.command("saturate")
@_measuring
def saturate(experiment: ExperimentName, *, options: RunOptions) -> None:
    """Find the highest rate that each peer sustains in each case of an experiment, within 6 %. The
    rates in the experiment are ignored.

    hyphos lab saturate latency -p hyphos/shm -p zmq/ipc
    """
    from hyphos.lab.commands import saturate as find  # noqa: PLC0415

    raise typer.Exit(find(experiment, options))


@app.command("compare")
@_measuring
def compare(
    what: What,
    after: After = None,
    sizes: Sizes = None,
    rates: Rates = None,
    repeats: Repeats = None,
    seconds: Seconds = None,
    criteria: Criteria = None,
    *,
    options: RunOptions,
) -> None:
    """Measure Hyphos and all installed middlewares side by side, as multiples of Hyphos. Or compare
    two folders of results: the second as multiples of the first.

    hyphos lab compare pair --with zmq --with ros1 --size 4KB --rate 100

    hyphos lab compare out/before out/after --assert 'p99_us <= 1.1'
    """
    from hyphos.lab.compare import folders, with_others  # noqa: PLC0415

    if after is not None:
        _only_with("a measurement, not with two folders of results", {
            "--size": sizes, "--rate": rates, "--repeats": repeats, "--seconds": seconds,
            "--output": options.output, "--resume": options.resume, "--full": options.full,
            "--overwrite": options.overwrite, "--set": options.changes, "--peer": options.peers,
            "--wait-quiet": options.patience_s, "--retries": options.retries,
            "--programs": options.programs,
        })  # fmt: skip
        raise typer.Exit(folders(Path(what), after, criteria or []))
    wanted = replace(options, repeats=repeats, seconds=seconds, criteria=criteria)
    raise typer.Exit(with_others(what, wanted, sizes, rates))


@app.command("show")
def show(folder: Folder, base: Base = "", as_json: AsJson = False) -> None:
    """Print the tables of earlier results."""
    from hyphos.lab.commands import show_folder  # noqa: PLC0415

    raise typer.Exit(show_folder(folder, base, as_json))


app.command("report")(lab_report.report)
app.command("export")(lab_report.export)


@app.command("selftest")
def selftest(
    seconds: Annotated[
        float, typer.Option("--seconds", min=1.0, help="Length of each run, in seconds.")
    ] = 3.0,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, max=1000, help="Number of runs of each test.")
    ] = 5,
    links: Annotated[
        bool,
        typer.Option("--links", help="Test the accuracy of links and limits instead (root)."),
    ] = False,
    awake: Annotated[
        bool | None,
        typer.Option(
            "--no-cpu-idle/--cpu-idle",
            help="Keep the CPUs out of idle states, so that a longer delay does not end with a "
            "longer wake-up. Default: --no-cpu-idle, but --cpu-idle with --links.",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Inject delays, losses and stalls of known size, and check that they are measured."""
    with _kept_awake(not links if awake is None else awake):
        if links:
            from hyphos.lab.links_selftest import measure  # noqa: PLC0415

            measure(seconds)
            return
        from hyphos.lab.selftest import selftest as check  # noqa: PLC0415

        raise typer.Exit(check(seconds, repeats, quiet))


def _check_ways(ways: Iterable[str]) -> None:
    """Accepts the paths of a machine without a link."""
    known = ("pointer", "shm", "tcp")
    for way in ways:
        if way not in known:
            raise typer.BadParameter(
                f"'{way}' is none of {', '.join(known)}", param_hint="--transport"
            )


def _only_with(goes_with: str, options: Mapping[str, object]) -> None:
    for option, given in options.items():
        if given:
            raise typer.BadParameter(f"only valid with {goes_with}", param_hint=option)


ProfileFile = Annotated[Path, typer.Option("--profile", help="The capacity profile.")]


@app.command("calibrate")
def calibrate(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The profile. Its other paths are kept.")
    ] = Path("capacity.json"),
    ways: Annotated[
        list[str] | None,
        typer.Option(
            "--transport",
            metavar="pointer|shm|tcp",
            help="Path of messages. Repeatable. Default: all three.",
        ),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="NAME=KIND,KEY=VALUE…",
            help="Link between machines, e.g. cable=veth,rate_mbit=1000 or wifi=wifi,rate_mbit=54. "
            "Needs root. Repeatable.",
        ),
    ] = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            "--max-size",
            min=1 << 12,
            max=1 << 26,
            help="Largest message in bytes. Default: 8 MB, enough for a camera image. 1 MB below "
            "1 Gbit/s or with a /dev/shm below 1 GB, 32 KB below 200 Mbit/s.",
        ),
    ] = None,
    patience: Patience = 0.0,
) -> None:
    """Measure the cost of messages on this machine and write its capacity profile, for `hyphos plan
    check`. Prints an estimate of the duration, from a timed run, and then the remaining time. Leave
    the machine otherwise idle.

    hyphos lab calibrate

    hyphos lab calibrate --link cable=veth,rate_mbit=1000
    """
    from hyphos.lab.capacity.commands import run_calibration  # noqa: PLC0415

    _check_ways(ways or ())
    raise typer.Exit(run_calibration(output, ways or [], links or [], patience, max_size))


@app.command("verify")
def verify(
    plan: Annotated[
        Path | None, typer.Argument(help="A robot.yaml.", metavar="ROBOT.YAML", show_default=False)
    ] = None,
    profile: ProfileFile = Path("capacity.json"),
    links: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            help="Link of the profile that connects the hosts. With --measure-only or --fresh: "
            "NAME=KIND,KEY=VALUE… as in `hyphos lab calibrate`. Repeatable with --fresh.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the plan. Repeatable."),
    ] = None,
    measure_only: Annotated[
        bool, typer.Option("--measure-only", help="Measure without a prediction or a profile.")
    ] = False,
    held_out: Annotated[
        bool,
        typer.Option(
            "--test-set", help="Measure the test set, graphs not used in calibration, on all paths."
        ),
    ] = False,
    anew: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="With --test-set: calibrate in the same session, in random order, so that changes "
            "in the machine's speed affect both. Writes the profile.",
        ),
    ] = False,
    ways: Annotated[
        list[str] | None,
        typer.Option(
            "--transport",
            help="With --test-set: only these paths of the profile, `short` (queues) or `mixed`. "
            "With --fresh: paths of `hyphos lab calibrate`. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="With --test-set: also write JSON.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE.html", help="Also write a page with plots. Needs matplotlib."
        ),
    ] = None,
    patience: Patience = 0.0,
    as_json: AsJson = False,
) -> None:
    """Run the graph of a robot.yaml with synthetic nodes, find the rate at which it saturates, and
    compare it with the prediction. The nodes send, compute and reply as `load:` defines. Hosts
    become network namespaces.

    hyphos lab verify robot.yaml

    hyphos lab verify --test-set

    hyphos lab verify --test-set --fresh --transport shm
    """
    from hyphos.lab.capacity.commands import (  # noqa: PLC0415
        verify_anew,
        verify_held_out,
        verify_plan,
    )

    if held_out == (plan is not None):
        raise typer.BadParameter("give either a robot.yaml or --test-set")
    links = links or []
    if held_out:
        _only_with(
            "a robot.yaml", {"--set": settings, "--measure-only": measure_only, "--json": as_json}
        )
    else:
        _only_with("--test-set", {"--fresh": anew, "--transport": ways, "--output": output})
    if anew:
        _check_ways(ways or ())
    elif len(links) > (0 if held_out else 1):
        raise typer.BadParameter(
            "a plan takes one link. With --test-set select links of the profile by --transport, "
            "and with --fresh give new ones",
            param_hint="--link",
        )
    if page is not None and measure_only:
        raise typer.BadParameter("--report needs a prediction: omit --measure-only")
    from hyphos.lab import outputs  # noqa: PLC0415

    outputs.expect_seconds(patience, "--wait-quiet")
    outputs.expect_file(output, "--output")
    outputs.expect_file(page, "--report")
    try:
        if page is not None:  # fails before an hour of measuring if it is missing
            import hyphos.lab.capacity.report  # noqa: F401, PLC0415
        if anew:
            raise typer.Exit(verify_anew(profile, ways or [], links, patience, output, page))
        if plan is None:
            raise typer.Exit(verify_held_out(profile, ways or [], patience, output, page))
        link = links[0] if links else ""
        raise typer.Exit(
            verify_plan(plan, profile, link, settings or [], patience, measure_only, as_json, page)
        )
    except ModuleNotFoundError as problem:
        lab_report.needs_matplotlib(problem)
        raise


@app.command("loads")
def loads(
    domain: Domain = "0",
    seconds: Annotated[
        float, typer.Option("--for", metavar="SECONDS", min=0.1, help="Observation time.")
    ] = 5.0,
) -> None:
    """Print the load of a running robot's channels and callbacks as `load:` for its plan. Write it
    to a file that the plan names in `include:`.

    hyphos lab loads --domain patrol3 > loads.yaml
    """
    from hyphos.lab import outputs  # noqa: PLC0415
    from hyphos.lab.capacity.observe import observe  # noqa: PLC0415

    outputs.expect_seconds(seconds, "--for")
    typer.echo(observe(domain, seconds), nl=False)
