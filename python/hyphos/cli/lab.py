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
    no_args_is_help=True, help="The laboratory: measure what this machine carries, and how surely."
)
app.command("profile")(lab_profile.profile)

Base = Annotated[
    str, typer.Option("--base", help="Divide by this peer's figures. Default: the experiment's.")
]
Folder = Annotated[Path, typer.Argument(help="What `hyphos lab run` has made.", show_default=False)]


ExperimentName = Annotated[
    str, typer.Argument(help="A name from `hyphos lab list`, or a YAML file.", show_default=False)
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the results. Default: out/lab/NAME-TIME."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Measure only what is not yet in the folder.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the results in the folder.")]
Full = Annotated[
    bool, typer.Option("--full", help="The whole grid of the paper, not the reduced one.")
]
PeerNames = Annotated[
    list[str] | None,
    typer.Option("--peer", "--with", "-p", help="Instead of the experiment's; may be given again."),
]
Patience = Annotated[
    float,
    typer.Option(
        "--patience",
        metavar="SECONDS",
        min=0.0,
        help="Wait so long for a quiet machine before each run.",
    ),
]
Awake = Annotated[
    bool,
    typer.Option(
        "--awake",
        help="Keep the processors from sleeping meanwhile, with loops that give way to everything "
        "else: no latency is that of waking one up.",
    ),
]
Retries = Annotated[
    int,
    typer.Option("--retries", min=0, max=100, help="Make a run that was disturbed again so often."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter, instead of the experiment's, such as size=64KB; may be given again.",
    ),
]
Repeats = Annotated[
    int | None, typer.Option("--repeats", min=1, max=1000, help="Runs of each case and peer.")
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", min=0.1, help="Length of each measurement.")
]
Criteria = Annotated[
    list[str] | None,
    typer.Option(
        "--assert",
        metavar="TEXT",
        help="Fail unless it holds, such as 'hyphos/shm size=1KB: p99_us < 500', "
        "'lost == 0' or 'hyphos/shm: p50_us / futex <= 2'; may be given again.",
    ),
]
What = Annotated[
    str,
    typer.Argument(help="A workload, an experiment, or a folder of results.", show_default=False),
]
After = Annotated[
    Path | None,
    typer.Argument(help="A second folder, to be divided by the first.", show_default=False),
]
Sizes = Annotated[
    list[str] | None, typer.Option("--size", help="Of a workload; may be given again.")
]
Rates = Annotated[
    list[str] | None, typer.Option("--rate", help="Of a workload, in Hz; may be given again.")
]
PaperNumber = Annotated[
    str, typer.Argument(help="000, 001, 003 or 004.", metavar="NUMBER", show_default=False)
]
Report = Annotated[
    bool, typer.Option("--report/--no-report", help="Leave report.html in the folder.")
]
Programs = Annotated[
    Path | None,
    typer.Option("--programs", help="Folder with the peers' programs.", file_okay=False),
]


@app.command("list")
def list_() -> None:
    """Experiments that come with Hyphos, and the middlewares that can take part here."""
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
    from hyphos.lab.awake import kept_awake  # noqa: PLC0415

    return kept_awake(awake)


def _parameters(command: Callable[..., Any]) -> list[inspect.Parameter]:
    """With the annotations that their names stand for in this file; `options` is none of them."""
    found = inspect.signature(command).parameters.values()
    return [
        one.replace(annotation=globals()[one.annotation]) for one in found if one.name != "options"
    ]


def _measuring(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose last parameter, `options`, is made of the command-line options that all
    commands which measure have."""
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
    """Measure: every peer runs every case, side by side, several times. Ctrl-C ends the run under
    way and keeps those before it; --resume goes on.

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
    """The ways from Unity into ROS beside roscpp, as Allspaw et al. compare them: latency at 60 Hz
    between two machines and with a third (means of 10 messages, and percentiles), rate (windows of
    10 s) and CPU; then several clients, a bad link, a slow machine. These are the experiments
    paper_000_… and unity_…, which `hyphos lab run` (paper_000_rate: `hyphos lab saturate`) runs
    alone.

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
    """All experiments of one of the papers, one after the other, each with its report. Says first
    about how long that takes; --resume goes on where it was stopped.

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
    rates that the experiment names are left aside.

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
    """Hyphos beside every middleware that is here, side by side: their figures as multiples of
    those of Hyphos. Or two folders of results: those after as multiples of those before.

    hyphos lab compare pair --with zmq --with ros1 --size 4KB --rate 100

    hyphos lab compare out/before out/after --assert 'p99_us <= 1.1'
    """
    from hyphos.lab.compare import folders, with_others  # noqa: PLC0415

    if after is not None:
        _only_with("a measurement, and two folders are measured", {
            "--size": sizes, "--rate": rates, "--repeats": repeats, "--seconds": seconds,
            "--output": options.output, "--resume": options.resume, "--full": options.full,
            "--overwrite": options.overwrite, "--set": options.changes, "--peer": options.peers,
            "--patience": options.patience_s, "--retries": options.retries,
            "--programs": options.programs,
        })  # fmt: skip
        raise typer.Exit(folders(Path(what), after, criteria or []))
    wanted = replace(options, repeats=repeats, seconds=seconds, criteria=criteria)
    raise typer.Exit(with_others(what, wanted, sizes, rates))


@app.command("show")
def show(folder: Folder, base: Base = "", as_json: AsJson = False) -> None:
    """The tables of results that were measured before."""
    from hyphos.lab.commands import show_folder  # noqa: PLC0415

    raise typer.Exit(show_folder(folder, base, as_json))


app.command("report")(lab_report.report)
app.command("export")(lab_report.export)


@app.command("selftest")
def selftest(
    seconds: Annotated[float, typer.Option("--seconds", min=1.0, help="Of each run.")] = 3.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, max=1000, help="Runs of each.")] = 5,
    links: Annotated[
        bool, typer.Option("--links", help="Instead: how exact links and limits are here (root).")
    ] = False,
    awake: Annotated[
        bool | None,
        typer.Option(
            "--awake/--may-sleep",
            help="Keep the processors from sleeping meanwhile, so that a longer delay does not end "
            "with a longer wake-up. Default: awake, but not with --links.",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Inject delays, losses and stalls of a known size, and see whether they are measured."""
    with _kept_awake(not links if awake is None else awake):
        if links:
            from hyphos.lab.links_selftest import measure  # noqa: PLC0415

            measure(seconds)
            return
        from hyphos.lab.selftest import selftest as check  # noqa: PLC0415

        raise typer.Exit(check(seconds, repeats, quiet))


def _check_ways(ways: Iterable[str]) -> None:
    """Those that a machine has without a link."""
    known = ("pointer", "shm", "tcp")
    for way in ways:
        if way not in known:
            raise typer.BadParameter(f"'{way}' is none of {', '.join(known)}", param_hint="--way")


def _only_with(goes_with: str, options: Mapping[str, object]) -> None:
    for option, given in options.items():
        if given:
            raise typer.BadParameter(f"goes with {goes_with}", param_hint=option)


ProfileFile = Annotated[Path, typer.Option("--profile", help="The capacity profile.")]


@app.command("calibrate")
def calibrate(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The profile; ways it has already stay.")
    ] = Path("capacity.json"),
    ways: Annotated[
        list[str] | None,
        typer.Option(
            "--way",
            metavar="pointer|shm|tcp",
            help="How messages travel; may be given again. Default: all three.",
        ),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="NAME=KIND,KEY=VALUE…",
            help="A link between machines, such as cable=veth,rate_mbit=1000 or "
            "wifi=wifi,rate_mbit=54; needs root; may be given again.",
        ),
    ] = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            "--max-size",
            min=1 << 12,
            max=1 << 26,
            help="Bytes of the largest message. Default: 8 MB, which holds a picture of a camera; "
            "1 MB below 1 Gbit/s and in a /dev/shm of less than 1 GB, 32 KB below 200 Mbit/s.",
        ),
    ] = None,
    patience: Patience = 0.0,
) -> None:
    """Measure what messages cost on this machine, and write its capacity profile, for `hyphos plan
    check`. Says first about how long that takes, by a run that it times, and then how much is left;
    the machine should do nothing else meanwhile.

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
            help="Which link of the profile joins the hosts; with --measure-only or --anew "
            "NAME=KIND,KEY=VALUE… as in `hyphos lab calibrate`; with --anew it may be given again.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the plan.")
    ] = None,
    measure_only: Annotated[
        bool, typer.Option("--measure-only", help="Predict nothing; no profile is needed.")
    ] = False,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out", help="Instead of a plan: graphs that no calibration has seen, all ways."
        ),
    ] = False,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew",
            help="With --held-out: calibrate meanwhile, in an order of chance, so that a machine "
            "that is now faster, now slower is so for both; writes the profile.",
        ),
    ] = False,
    ways: Annotated[
        list[str] | None,
        typer.Option(
            "--way",
            help="With --held-out: only these of the profile, `short` (queues) or `mixed`; with "
            "--anew those of `hyphos lab calibrate`.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="With --held-out: also as JSON.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE.html", help="Also a page with plots; needs matplotlib."
        ),
    ] = None,
    patience: Patience = 0.0,
    as_json: AsJson = False,
) -> None:
    """Run the graph of a robot.yaml with synthetic nodes, which send, compute and answer as its
    `load:` says, find the rate at which it breaks, and put it beside the prediction. Hosts become
    network namespaces.

    hyphos lab verify robot.yaml

    hyphos lab verify --held-out

    hyphos lab verify --held-out --anew --way shm
    """
    from hyphos.lab.capacity.commands import (  # noqa: PLC0415
        verify_anew,
        verify_held_out,
        verify_plan,
    )

    if held_out == (plan is not None):
        raise typer.BadParameter("name a robot.yaml, or give --held-out")
    links = links or []
    if held_out:
        _only_with(
            "a robot.yaml", {"--set": settings, "--measure-only": measure_only, "--json": as_json}
        )
    else:
        _only_with("--held-out", {"--anew": anew, "--way": ways, "--output": output})
    if anew:
        _check_ways(ways or ())
    elif len(links) > (0 if held_out else 1):
        raise typer.BadParameter(
            "one joins the hosts of a plan; --held-out takes those of the profile by --way, and "
            "--anew new ones",
            param_hint="--link",
        )
    if page is not None and measure_only:
        raise typer.BadParameter("--report compares: it goes without --measure-only")
    from hyphos.lab import outputs  # noqa: PLC0415

    outputs.expect_seconds(patience, "--patience")
    outputs.expect_file(output, "--output")
    outputs.expect_file(page, "--report")
    try:
        if page is not None:  # what is missing is told before an hour of measuring
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
        float, typer.Option("--for", metavar="SECONDS", min=0.1, help="How long to look.")
    ] = 5.0,
) -> None:
    """What the channels of a running robot carry and its callbacks take, as `load:` for its plan:
    put it in a file that the plan names below `include:`.

    hyphos lab loads --domain patrol3 > loads.yaml
    """
    from hyphos.lab import outputs  # noqa: PLC0415
    from hyphos.lab.capacity.observe import observe  # noqa: PLC0415

    outputs.expect_seconds(seconds, "--for")
    typer.echo(observe(domain, seconds), nl=False)
