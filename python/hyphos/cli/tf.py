"""hyphos tf ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import AsJson, Domain

app = typer.Typer(no_args_is_help=True, help="Coordinate frames: show, measure, publish.")

Prefix = Annotated[
    str, typer.Option("--prefix", "-p", help="Prefix of a robot: robot1 selects robot1/tf.")
]
Target = Annotated[str, typer.Argument(help="Frame of the result, e.g. map.")]
Source = Annotated[str, typer.Argument(help="Frame that is located, e.g. laser.")]


@app.command("tree")
def tree(
    wait: Annotated[
        float,
        typer.Option(
            "--wait", "-w", metavar="SECONDS", min=0.05, help="Time to collect transforms."
        ),
    ] = 1.0,
    as_json: AsJson = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print Graphviz.")] = False,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", dir_okay=False, help="Draw it: .svg, .png or .pdf."),
    ] = None,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """Show all frames as a tree, with the rate and the age of each.

    hyphos tf tree

    hyphos tf tree --svg frames.svg
    """
    from hyphos.tools import tf  # noqa: PLC0415

    raise typer.Exit(tf.show_tree(domain, prefix, wait, as_json=as_json, dot=dot, svg=svg))


@app.command("echo")
def echo(
    target: Target,
    source: Source,
    rate: Annotated[
        float, typer.Option("--rate", "-r", metavar="HZ", min=0.01, help="Prints per second.")
    ] = 1.0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many transforms.")
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0, help="Longest wait for the first transform."
        ),
    ] = 5.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """Print the newest transform from SOURCE to TARGET repeatedly.

    hyphos tf echo map laser

    hyphos tf echo map base -n 1 --json | jq .matrix
    """
    from hyphos.tools import tf  # noqa: PLC0415

    options = tf.EchoOptions(
        target=target,
        source=source,
        rate_hz=rate,
        count=count,
        timeout_s=seconds,
        as_json=as_json,
        prefix=prefix,
        domain=domain,
    )
    raise typer.Exit(tf.echo(options))


@app.command("monitor")
def monitor(
    target: Annotated[
        str, typer.Argument(help="With SOURCE: only the frames between the two.")
    ] = "",
    source: Annotated[str, typer.Argument(help="See TARGET.")] = "",
    window: Annotated[
        float,
        typer.Option("--window", "-w", metavar="SECONDS", min=0.05, help="Time between tables."),
    ] = 2.0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many tables.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """Print rate, longest gap and delay of every frame, and the refused and late transforms.

    The delay is from the stamp to the arrival here, on the clock of this machine.

    hyphos tf monitor

    hyphos tf monitor map laser -n 1
    """
    if bool(target) != bool(source):
        raise typer.BadParameter("give both TARGET and SOURCE, or neither")
    from hyphos.tools import tf_monitor  # noqa: PLC0415

    options = tf_monitor.MonitorOptions(
        target=target,
        source=source,
        window_s=window,
        count=count,
        as_json=as_json,
        prefix=prefix,
        domain=domain,
    )
    raise typer.Exit(tf_monitor.monitor(options))


@app.command("pub")
def pub(
    parent: Annotated[str, typer.Argument(help="Parent frame, e.g. base.")],
    child: Annotated[str, typer.Argument(help="Child frame, e.g. laser.")],
    xyz: Annotated[
        tuple[float, float, float],
        typer.Option("--xyz", metavar="X Y Z", help="Translation in metres."),
    ] = (0.0, 0.0, 0.0),
    rpy: Annotated[
        tuple[float, float, float] | None,
        typer.Option("--rpy", metavar="ROLL PITCH YAW", help="Rotation in radians."),
    ] = None,
    rpy_deg: Annotated[
        tuple[float, float, float] | None,
        typer.Option("--rpy-deg", metavar="ROLL PITCH YAW", help="Rotation in degrees."),
    ] = None,
    quaternion: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(
            "--quaternion", "-q", metavar="X Y Z W", help="Rotation as a unit quaternion."
        ),
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="The frame does not move: latch it until Ctrl-C.")
    ] = False,
    rate: Annotated[
        float, typer.Option("--rate", "-r", metavar="HZ", min=0.001, help="Messages per second.")
    ] = 10.0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many messages.")
    ] = None,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """Publish the pose of a frame, stamped with the current time.

    hyphos tf pub base laser --xyz 0.2 0 0.3 --rpy-deg 0 0 180 --static

    hyphos tf pub map odom --rate 20
    """
    if sum(given is not None for given in (rpy, rpy_deg, quaternion)) > 1:
        raise typer.BadParameter("give one of --rpy, --rpy-deg and --quaternion")
    if static and count is not None:
        raise typer.BadParameter("--count needs a moving frame: omit --static")
    from hyphos.tools import tf  # noqa: PLC0415

    options = tf.PubOptions(
        parent=parent,
        child=child,
        xyz=xyz,
        rpy=rpy,
        rpy_deg=rpy_deg,
        quaternion=quaternion,
        static=static,
        rate_hz=rate,
        count=count,
        prefix=prefix,
        domain=domain,
    )
    raise typer.Exit(tf.publish(options))
