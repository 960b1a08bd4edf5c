"""hyphos view"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import DOMAIN_VARIABLE
from hyphos.cli.values import checked_domain
from hyphos.cli.view_serve import checked_address


def _checked_domain(value: str | None) -> str | None:
    return None if value is None else checked_domain(value)


def _checked_size(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", value):
        raise typer.BadParameter(f"expected WIDTHxHEIGHT in pixels, as 1600x900, found '{value}'")
    return value


def _viewable(path: Path) -> str:
    """A file that the viewer reads. Recordings of ROS are copied first."""
    if path.suffix in (".mcap", ".yaml", ".yml"):
        return str(path)
    from hyphos.recording.viewable import viewable  # noqa: PLC0415

    return str(viewable(path))


def view(
    what: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[ROBOT.yaml|RECORDING]...",
            help="Plan of a running robot, or a recording (.mcap, .bag, .db3, or a folder of ROS "
            "2). Several are compared. Default: the robot of the domain.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="Compare with this recording or plan, e.g. the robot of the domain. Repeatable.",
        ),
    ] = None,
    arrange: Annotated[
        str | None,
        typer.Option(
            "--arrange",
            metavar="ghost|columns",
            help="Several sources: over one another, or beside one another. Default: ghost.",
        ),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            "--align",
            metavar="start|time",
            help="Several sources: recordings begin together, or show the same clock time. "
            "Default: start.",
        ),
    ] = None,
    shift: Annotated[
        float | None,
        typer.Option(
            "--shift",
            metavar="SECONDS",
            help="Several sources: shift those after the first.",
        ),
    ] = None,
    layout: Annotated[
        Path | None,
        typer.Option(
            "--layout",
            metavar="FILE",
            help="Panels, displays and camera. Default: from the types of the channels.",
        ),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain",
            "-d",
            help="Domain of the robot on this machine. Default: that of the plan.",
            envvar=DOMAIN_VARIABLE,
            callback=_checked_domain,
        ),
    ] = None,
    past: Annotated[
        Path | None,
        typer.Option(
            "--past",
            metavar="FILE",
            help="Robot: also write the past to this recording, so that it is bounded by the disk.",
        ),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(
            "--at",
            metavar="SECONDS",
            min=0,
            help="Show this instant of the recording, after its begin. Default: the first one at "
            "which all shown channels have a value, at most 5 s after the begin.",
        ),
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="FILE", help="Write one picture and exit. No display."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="FILE",
            help="With --png: fail if the picture differs from this one.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Pixels that may differ from --compare. Default: 0.5.",
        ),
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(
            "--video",
            metavar="FILE",
            help="Write a video of the recording and exit: .mp4, .mkv (H.264), .webm (VP9).",
        ),
    ] = None,
    begin: Annotated[
        float | None,
        typer.Option("--from", metavar="SECONDS", min=0, help="First instant of the video."),
    ] = None,
    end: Annotated[
        float | None,
        typer.Option(
            "--to", metavar="SECONDS", min=0, help="End of the video. Default: of the recording."
        ),
    ] = None,
    fps: Annotated[
        float | None,
        typer.Option(
            "--fps", metavar="N", min=0.1, max=240, help="Frames per second. Default: 30."
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="WxH",
            callback=_checked_size,
            help="Pixels of the window or picture. Default: 1600x900.",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="Show the predicted load, of `hyphos plan check --json`. Default: that of the "
            "plan, if capacity.json is here.",
        ),
    ] = None,
    save_layout: Annotated[
        Path | None,
        typer.Option("--save-layout", metavar="FILE", help="Write the layout at the end."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write frames, uploads, memory, losses and processor time as JSON at the end.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="MB",
            min=16,
            help="Memory of displayed data, CPU and GPU. Default: 512.",
        ),
    ] = None,
    theme: Annotated[
        str | None, typer.Option("--theme", metavar="dark|light", help="Colours of the window.")
    ] = None,
    serve: Annotated[
        str | None,
        typer.Option(
            "--serve",
            metavar="[ADDRESS]:PORT",
            callback=checked_address,
            help="No window: serve a page for browsers, and Foxglove. Default: this machine only.",
        ),
    ] = None,
    token: Annotated[
        Path | None,
        typer.Option(
            "--token",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="With --serve: file with the secret of the clients. Default for other addresses: "
            "a new secret, printed.",
        ),
    ] = None,
    packages: Annotated[
        list[Path] | None,
        typer.Option(
            "--packages",
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="With --serve: folder with package:// meshes of robot models. Repeatable.",
        ),
    ] = None,
) -> None:
    """Show a running robot or a recording: in space, as plots, images, tables and log lines, with
    latencies by layer, drops by place, and the graph with its load. The robot runs the same with
    and without it.

    hyphos view

    hyphos view out/patrol/patrol.mcap

    hyphos view monday.mcap tuesday.mcap --arrange columns

    hyphos view robot.yaml --against reference.mcap

    hyphos view robot.bag

    hyphos view run.mcap --layout robot.view.yaml --at 12.5 --png out.png

    hyphos view run.mcap --video out.mp4 --from 10 --to 20

    hyphos view --serve :8080
    """
    from hyphos.cli.view_serve import serve as serve_page  # noqa: PLC0415
    from hyphos.tools.view import prediction  # noqa: PLC0415
    from hyphos.tools.view import serve as start  # noqa: PLC0415

    values = {
        "--arrange": arrange,
        "--align": align,
        "--shift": shift,
        "--layout": layout,
        "--domain": domain,
        "--past": past,
        "--at": at,
        "--png": png,
        "--compare": compare,
        "--tolerance": tolerance,
        "--video": video,
        "--from": begin,
        "--to": end,
        "--fps": fps,
        "--size": size,
        "--check": check,
        "--save-layout": save_layout,
        "--report": report,
        "--budget": budget,
        "--theme": theme,
    }
    if serve is not None:
        others = {name: value for name, value in values.items() if name not in ("--domain", "--at")}
        if against or len(what or []) > 1:
            raise typer.BadParameter("shows one robot or recording", param_hint="--serve")
        one = what[0] if what else None
        raise typer.Exit(serve_page(serve, token, packages or [], one, domain, at, others))
    for name, given in (("--token", token), ("--packages", packages)):
        if given:
            raise typer.BadParameter("needs --serve", param_hint=name)
    words = [_viewable(one) for one in what or []]
    for one in against or []:
        words += ["--against", _viewable(one)]
    for name, value in values.items():
        if value is not None:
            words += [name, str(value)]
    if what and len(what) == 1 and check is None:
        words += prediction(what[0])
    start(words)
