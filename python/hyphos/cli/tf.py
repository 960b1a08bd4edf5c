"""hyphos tf ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import AsJson, Domain

app = typer.Typer(no_args_is_help=True, help="Coordinate frames: the tree, one transform, rates.")

Prefix = Annotated[
    str, typer.Option("--prefix", "-p", help="Of one robot of several: robot1 means robot1/tf.")
]
Target = Annotated[str, typer.Argument(help="Frame in which the other is seen, e.g. map.")]
Source = Annotated[str, typer.Argument(help="Frame that is seen, e.g. laser.")]


@app.command("tree")
def tree(
    wait: Annotated[
        float,
        typer.Option("--wait", "-w", metavar="SECONDS", min=0.05, help="Listen so long."),
    ] = 1.0,
    as_json: AsJson = False,
    dot: Annotated[bool, typer.Option("--dot", help="Graphviz.")] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", dir_okay=False, help="Write a drawing (needs dot).")
    ] = None,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """All frames as a tree, with the rate and the age of each.

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
        float, typer.Option("--rate", "-r", metavar="HZ", min=0.01, help="Times a second.")
    ] = 1.0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after so many.")
    ] = None,
    seconds: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", min=0, help="Wait so long for the first."),
    ] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """The newest transform from SOURCE to TARGET, again and again.

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
    target: Annotated[str, typer.Argument(help="With SOURCE: only the frames between.")] = "",
    source: Annotated[str, typer.Argument(help="See TARGET.")] = "",
    window: Annotated[
        float,
        typer.Option("--window", "-w", metavar="SECONDS", min=0.05, help="Time between tables."),
    ] = 2.0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after so many tables.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """Rate, longest gap and delay of every frame; what was refused or came too late.

    Delay is from the stamp to the arrival here, by this machine's clock.

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
    parent: Annotated[str, typer.Argument(help="Frame to hang on, e.g. base.")],
    child: Annotated[str, typer.Argument(help="Frame to place, e.g. laser.")],
    xyz: Annotated[
        tuple[float, float, float], typer.Option("--xyz", metavar="X Y Z", help="Metres.")
    ] = (0.0, 0.0, 0.0),
    rpy: Annotated[
        tuple[float, float, float] | None,
        typer.Option("--rpy", metavar="ROLL PITCH YAW", help="Radians."),
    ] = None,
    rpy_deg: Annotated[
        tuple[float, float, float] | None,
        typer.Option("--rpy-deg", metavar="ROLL PITCH YAW", help="Degrees."),
    ] = None,
    quaternion: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option("--quaternion", "-q", metavar="X Y Z W", help="Of unit length."),
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="It does not move: kept until Ctrl-C.")
    ] = False,
    rate: Annotated[
        float, typer.Option("--rate", "-r", metavar="HZ", min=0.001, help="Times a second.")
    ] = 10.0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after so many.")
    ] = None,
    prefix: Prefix = "",
    domain: Domain = "0",
) -> None:
    """Publish where a frame lies, with the time of now.

    hyphos tf pub base laser --xyz 0.2 0 0.3 --rpy-deg 0 0 180 --static

    hyphos tf pub map odom --rate 20
    """
    if sum(given is not None for given in (rpy, rpy_deg, quaternion)) > 1:
        raise typer.BadParameter("give one of --rpy, --rpy-deg and --quaternion")
    if static and count is not None:
        raise typer.BadParameter("--count is for frames that move, not with --static")
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
