"""hyphos cosim"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.complete import cosim_experiments, cosim_methods, cosim_robots
from hyphos.cli.cosim_sweep import sweep

app = typer.Typer(
    help="Run a simulated robot team over a simulated radio network.", no_args_is_help=True
)


radio_app = typer.Typer(help="List and plot the radios of scenarios.", no_args_is_help=True)
app.add_typer(radio_app, name="radio")

Scenario = Annotated[
    Path, typer.Argument(help="A cosim.yaml.", metavar="SCENARIO", exists=True, dir_okay=False)
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed. Default: that of the file.")]
Skip = Annotated[
    bool, typer.Option("--skip/--no-skip", help="Skip windows in which nothing can happen.")
]
RadioProcess = Annotated[
    bool, typer.Option("--radio-process", help="Run the radio in a separate process.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value of the scenario, such as radio.tx_power_dbm=20. Repeatable.",
    ),
]
Ahead = Annotated[
    bool,
    typer.Option("--ahead/--no-ahead", help="Let MuJoCo compute steps ahead, on another core."),
]


def _words(
    command: str,
    scenario: Path,
    seed: int | None,
    settings: list[str] | None,
    *,
    skip: bool,
    ahead: bool,
    radio_process: bool,
) -> list[str]:
    words = [command, str(scenario), "--python", sys.executable]
    for setting in settings or []:
        words += ["--set", setting]
    if seed is not None:
        words += ["--seed", str(seed)]
    if not skip:
        words.append("--no-skip")
    if not ahead:
        words.append("--no-ahead")
    if radio_process:
        words.append("--radio-process")
    return words


@app.command()
def run(
    scenario: Scenario,
    method: Annotated[
        str | None,
        typer.Option(
            help="Synchronization method. Default: that of the file. See `hyphos cosim methods`.",
            autocompletion=cosim_methods,
        ),
    ] = None,
    seed: Seed = None,
    settings: Set = None,
    trace: Annotated[
        Path | None, typer.Option(help="Write every send, delivery and drop to this file.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the data of `hyphos cosim report` to this file.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write the fate of each copy of each packet to this file.")
    ] = None,
    mcap: Annotated[
        Path | None,
        typer.Option(help="Write the trace, poses, links and picture for Foxglove to this file."),
    ] = None,
    animation: Annotated[
        Path | None,
        typer.Option(
            help="Write an animation of the run to this file: .gif, or .mp4 by ffmpeg. "
            "Needs matplotlib."
        ),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Trace or table that replaces the radio: the network repeats it.",
        ),
    ] = None,
    skip: Skip = True,
    ahead: Ahead = True,
    radio_process: RadioProcess = False,
) -> None:
    """Run a scenario, account for every packet, and report error bounds."""
    from hyphos.cosim.program import become  # noqa: PLC0415

    words = _words(
        "run", scenario, seed, settings, skip=skip, ahead=ahead, radio_process=radio_process
    )
    if replay is not None:
        words += ["--replay", str(replay)]
    if method is not None:
        words += ["--method", method]
    if trace is not None:
        words += ["--trace", str(trace)]
    if json is not None:
        words += ["--json", str(json)]
    if csv is not None:
        words += ["--csv", str(csv)]
    if mcap is not None:
        words += ["--mcap", str(mcap)]
    if animation is not None:
        raise typer.Exit(_run_animated(words, mcap, animation, scenario.stem))
    become(words)


def _run_animated(words: list[str], mcap: Path | None, animation: Path, title: str) -> int:
    from hyphos.cli.lab_report import needs_matplotlib  # noqa: PLC0415

    try:
        from hyphos.cosim.animation import check, record_and_animate  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        needs_matplotlib(problem)
        raise
    check(animation)
    return record_and_animate(words, mcap, animation, title)


@app.command()
def animate(
    recording: Annotated[
        Path,
        typer.Argument(
            help="File of `hyphos cosim run --mcap`.", metavar="MCAP", exists=True, dir_okay=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Animation: .gif, or .mp4 by ffmpeg. Default: GIF."),
    ] = None,
) -> None:
    """Draw a recorded run as an animation: robots, links by signal to noise, and lost packets.
    Needs matplotlib.
    """
    from hyphos.cli.lab_report import needs_matplotlib  # noqa: PLC0415

    try:
        from hyphos.cosim.animation import animate as draw  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        needs_matplotlib(problem)
        raise
    typer.echo(f"animation: {draw(recording, output or recording.with_suffix('.gif'))}")


@app.command()
def compare(
    scenario: Scenario,
    seed: Seed = None,
    settings: Set = None,
    skip: Skip = True,
    ahead: Ahead = True,
    radio_process: RadioProcess = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 3 if a method cannot run the scenario.")
    ] = False,
) -> None:
    """Run a scenario with every method, one after the other, and print a line for each.

    A method that cannot run this scenario has its reason in its line. Exit code 1: a run failed.
    """
    from hyphos.cosim.program import become  # noqa: PLC0415

    words = _words(
        "compare", scenario, seed, settings, skip=skip, ahead=ahead, radio_process=radio_process
    )
    become([*words, *(["--strict"] if strict else [])])


@app.command()
def check(scenario: Scenario, settings: Set = None) -> None:
    """Check a scenario without running it, and print its robots, flows and simulators as JSON."""
    from hyphos.cosim.program import become  # noqa: PLC0415

    words = ["check", str(scenario)]
    for setting in settings or []:
        words += ["--set", setting]
    become(words)


app.command()(sweep)


@app.command()
def methods() -> None:
    """List the synchronization methods."""
    from hyphos.cosim.program import become  # noqa: PLC0415

    become(["methods"])


@app.command()
def emulate(
    scenario: Scenario,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run this command on a robot, and end with it. {NAME} is the address of robot "
            "NAME.",
            metavar="[-- COMMAND]...",
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="ROBOT",
            help="Robot that runs COMMAND. Default: the first robot.",
            autocompletion=cosim_robots,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for", metavar="SECONDS", min=0.001, help="Duration. Default: that of the file."
        ),
    ] = None,
    seed: Seed = None,
    trace: Annotated[
        Path | None, typer.Option(help="Write every send, delivery and drop to this file.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Write the printed results, and more, to this file."),
    ] = None,
    mcap: Annotated[
        Path | None,
        typer.Option(help="Write the packets, poses, links and picture for Foxglove to this file."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    radio_process: RadioProcess = False,
) -> None:
    """Run real programs on the robots of a scenario, in real time. Each robot is a network
    namespace. Every IP packet crosses the simulated radio. Needs root.

    Exit code 3: the machine was too slow, so the run is invalid.
    """
    from hyphos.cosim.emulate import Wanted  # noqa: PLC0415
    from hyphos.cosim.emulate import emulate as run_it  # noqa: PLC0415
    from hyphos.cosim.emulation import Ways  # noqa: PLC0415

    ways = Ways(seconds, seed, trace, radio_process, mcap)
    raise typer.Exit(run_it(Wanted(scenario, ways, on, tuple(command or ()), json, quiet)))


@radio_app.command("list")
def radio_list() -> None:
    """List the named radios with their rates and sources."""
    from hyphos.cosim.program import become  # noqa: PLC0415

    become(["radios"])


@radio_app.command("plot")
def radio_plot(
    scenario: Scenario,
    sender: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="ROBOT",
            help="Robot at one end. Default: the first robot.",
            autocompletion=cosim_robots,
        ),
    ] = None,
    receiver: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="ROBOT",
            help="Robot at the other end. Default: the second robot.",
            autocompletion=cosim_robots,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Picture to write: SVG, PNG or PDF. Default: radio.svg."
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Also write the curves as JSON to this file.")
    ] = None,
) -> None:
    """Plot path loss, signal-to-noise ratio and loss of a scenario's radio over the distance, and
    frame errors over the ratio. Needs matplotlib.
    """
    from hyphos.cli.lab_report import needs_matplotlib  # noqa: PLC0415

    try:
        from hyphos.cosim.radio import plot  # noqa: PLC0415

        raise typer.Exit(plot(scenario, sender, receiver, output or Path("radio.svg"), json))
    except ModuleNotFoundError as problem:
        needs_matplotlib(problem)
        raise


@app.command("experiment")
def experiment_(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of an experiment, or `list`.",
            show_default=False,
            autocompletion=cosim_experiments,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for the results. Default: out/cosim/NAME-RADIO."
        ),
    ] = None,
    network: Annotated[
        str,
        typer.Option(
            "--network",
            metavar="auto|analytic|ns3",
            help="The radio. auto: ns-3 if it is installed, else analytic.",
        ),
    ] = "auto",
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, max=1000, help="Number of runs of each cell.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Run 20 seeds.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start over instead of resuming.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=256, help="Number of runs at once.")
    ] = 1,
) -> None:
    """Run an experiment of the paper, or resume one that was stopped."""
    from hyphos.cosim import commands  # noqa: PLC0415

    if network not in ("auto", "analytic", "ns3"):
        raise typer.BadParameter("give auto, analytic or ns3", param_hint="--network")
    if name == "list":
        raise typer.Exit(commands.list_all())
    options = commands.Options(output, network, seeds, full, overwrite, quiet, jobs)
    raise typer.Exit(commands.experiment(name, options))


@app.command()
def report(
    what: Annotated[
        Path,
        typer.Argument(
            help="File of `hyphos cosim run --json`, or folder of an experiment or a sweep.",
            exists=True,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write. Default: report.html beside it."),
    ] = None,
) -> None:
    """Write one HTML file with plots, tables, bounds, machine and data. Needs matplotlib."""
    from hyphos.cli.lab_report import needs_matplotlib  # noqa: PLC0415

    try:
        from hyphos.cosim.report import write_report  # noqa: PLC0415

        typer.echo(write_report(what, output))
    except ModuleNotFoundError as problem:
        needs_matplotlib(problem)
        raise


@app.command()
def recording(
    file: Annotated[Path, typer.Argument(help="Any file that `hyphos replay` reads.", exists=True)],
    channel: Annotated[str, typer.Argument(help="Channel of the messages.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
) -> None:
    """Extract the messages of a channel for a flow of a scenario."""
    from hyphos.cosim import commands  # noqa: PLC0415

    raise typer.Exit(commands.recording(file, channel, output))
