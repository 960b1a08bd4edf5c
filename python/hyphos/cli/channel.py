"""hyphos channel ..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.complete import channel_names
from hyphos.cli.options import AsJson, Descriptor, Domain, ProtoPath
from hyphos.cli.values import ValueCommand

app = typer.Typer(no_args_is_help=True, help="Channels: list, inspect, print, measure, publish.")

Name = Annotated[str, typer.Argument(help="Channel, e.g. scan.", autocompletion=channel_names)]
Window = Annotated[
    float, typer.Option("--window", "-w", metavar="SECONDS", min=0.05, help="Time between lines.")
]
Lines = Annotated[
    int | None, typer.Option("--count", "-n", min=1, help="Stop after this many lines.")
]


@app.command("list")
def list_channels(
    domain: Domain = "0",
    as_json: AsJson = False,
    hidden: Annotated[
        bool, typer.Option("--all", "-a", help="Also list the channels that Hyphos itself uses.")
    ] = False,
) -> None:
    """List all channels: type, publishers, subscribers, transport, messages, drops."""
    from hyphos.tools import tables  # noqa: PLC0415

    tables.channel_list(domain, as_json, hidden)


@app.command("info")
def info(name: Name, domain: Domain = "0", as_json: AsJson = False) -> None:
    """Show one channel: its endpoints, policy, counters, and the latency of each layer."""
    from hyphos.tools import tables  # noqa: PLC0415

    tables.channel_info(domain, name, as_json)


@app.command("echo")
def echo(
    name: Name,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many messages.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            help="Fail with exit code 1 if no message arrives within this time. Default: no limit.",
        ),
    ] = None,
    field: Annotated[
        str,
        typer.Option(
            "--field",
            metavar="PATH",
            help="Print only this field, e.g. pose.position.x or ranges[3].",
        ),
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Do not shorten long arrays.")] = False,
    meta: Annotated[
        bool, typer.Option("--meta", help="Also print sequence, sender and stamps.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Print messages as they arrive: protobuf as YAML, structs and bytes as a hex dump.

    hyphos channel echo scan -n 1

    hyphos channel echo odom --field pose.pose.position.x

    hyphos channel echo odom --json | jq .pose
    """
    if field and meta:
        raise typer.BadParameter("--field prints one field, so it excludes --meta")
    from hyphos.tools.echo import EchoOptions, echo_channel  # noqa: PLC0415

    options = EchoOptions(
        channel=name,
        count=count,
        timeout_s=seconds,
        full=full,
        meta=meta,
        as_json=as_json,
        domain=domain,
        proto_path=proto_path or [],
        descriptors=descriptor or [],
        field=field,
    )
    raise typer.Exit(echo_channel(options))


@app.command("hz")
def hz(name: Name, window: Window = 1.0, count: Lines = None, domain: Domain = "0") -> None:
    """Print messages per second, read from shared memory: does not disturb the robot."""
    from hyphos.tools import measure  # noqa: PLC0415

    raise typer.Exit(measure.rate(domain, name, window, count))


@app.command("bw")
def bw(name: Name, window: Window = 1.0, count: Lines = None, domain: Domain = "0") -> None:
    """Print megabytes per second and the mean message size."""
    from hyphos.tools import measure  # noqa: PLC0415

    raise typer.Exit(measure.bandwidth(domain, name, window, count))


@app.command("delay")
def delay(name: Name, window: Window = 1.0, count: Lines = None, domain: Domain = "0") -> None:
    """Print the time from publish() to the start of the callback, per subscription."""
    from hyphos.tools import measure  # noqa: PLC0415

    raise typer.Exit(measure.delay(domain, name, window, count))


@app.command("pub", cls=ValueCommand)
def pub(
    name: Name,
    type_name: Annotated[str, typer.Argument(metavar="TYPE", help="Twist, my.Type, or bytes.")],
    value: Annotated[
        str, typer.Argument(help="YAML or JSON. '-' reads standard input. Text for bytes.")
    ] = "{}",
    rate: Annotated[
        float | None,
        typer.Option("--rate", "-r", metavar="HZ", help="Publish repeatedly. Default: once."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many messages.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Publish once: the default without --rate and --count.")
    ] = False,
    buffers: Annotated[
        list[Path] | None,
        typer.Option(
            "--buffer",
            "-b",
            exists=True,
            dir_okay=False,
            help="File to attach as a buffer. Repeatable.",
        ),
    ] = None,
    hex_value: Annotated[
        bool, typer.Option("--hex", help="VALUE is hexadecimal (for bytes).")
    ] = False,
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="SECONDS", help="Longest wait for a first subscriber."),
    ] = 1.0,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Publish a message given as text, in the format that `echo` prints.

    hyphos channel pub cmd_vel Twist '{linear: {x: 0.5}}' --rate 10

    hyphos channel pub pose PoseStamped '{header: auto}'

    hyphos channel pub camera Image '{width: 2, height: 1, encoding: mono8, step: 2}' -b two_bytes

    hyphos channel pub raw bytes 48656c6c6f --hex
    """
    if once and (rate is not None or count is not None):
        raise typer.BadParameter("--once excludes --rate and --count")
    from hyphos.tools.pub import PubOptions, publish_text  # noqa: PLC0415

    options = PubOptions(
        channel=name,
        type_name=type_name,
        value=value,
        rate_hz=rate,
        count=count,
        buffers=buffers or [],
        hex_value=hex_value,
        wait_s=wait,
        domain=domain,
        proto_path=proto_path or [],
        descriptors=descriptor or [],
    )
    raise typer.Exit(publish_text(options))


Places = Annotated[
    str,
    typer.Option(
        "--where",
        metavar="inside|outside|both",
        help="Inside each process, outside (between processes), or both.",
    ),
]
Processes = Annotated[
    list[str] | None,
    typer.Option("--process", "-p", help="Only this process: a name or pid. Repeatable."),
]
Peer = Annotated[
    str,
    typer.Option("--peer", help="Only towards this peer of the network: a process or an endpoint."),
]
Patience = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=0.01, help="Longest wait for each process."),
]


def _change(
    name: str, open_: bool, where: str, only: bool, peer: str, processes: list[str] | None,
    domain: str, timeout: float,
) -> None:  # fmt: skip
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos.tools.channel_places import Change, change  # noqa: PLC0415

    if where not in ("inside", "outside", "both"):
        raise Error(
            "invalid_config", f"unknown --where '{where}': give one of inside, outside, both"
        )
    if peer and (only or where != "both"):
        raise Error("invalid_config", "a peer is always outside: omit --where and --only")
    made = Change(name, open_, where, only, peer)
    raise typer.Exit(change(domain, made, processes or [], timeout))


@app.command("open")
def open_channel(
    name: Name,
    where: Places = "both",
    only: Annotated[
        bool, typer.Option("--only", help="Close the other place, in the same step.")
    ] = False,
    peer: Peer = "",
    processes: Processes = None,
    domain: Domain = "0",
    timeout: Patience = 2.0,
) -> None:
    """Open a channel of a running robot, in each process that has it.

    hyphos channel open scan --where outside --only moves the subscribers to other processes.
    """
    _change(name, True, where, only, peer, processes, domain, timeout)


@app.command("close")
def close_channel(
    name: Name,
    where: Places = "both",
    peer: Peer = "",
    processes: Processes = None,
    domain: Domain = "0",
    timeout: Patience = 2.0,
) -> None:
    """Close a channel of a running robot, in each process that has it.

    Messages that do not pass are counted as drop.closed.
    """
    _change(name, False, where, False, peer, processes, domain, timeout)
