"""hyphos gateway"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyphos.cli.options import Domain, ProtoPath, Ros

_RULES = "Rules"
Patterns = list[str] | None


def _rule(help_text: str) -> object:
    return typer.Option(help=help_text, metavar="PATTERN", rich_help_panel=_RULES)


def _check_extra(words: list[str]) -> None:
    """Accepts only the options that `hyphos run` adds, each with its value."""
    unknown = [word for word in words[::2] if not word.startswith("--hyphos-")]
    if unknown:
        raise typer.BadParameter(f"no such option: {unknown[0]}")


def gateway(
    context: typer.Context,
    protocol: Annotated[
        str, typer.Argument(help="ros1, ros2, rosbridge or ros_tcp.", metavar="PROTOCOL")
    ],
    host: Annotated[
        str, typer.Option("--host", help="Listening address. Default: only this machine.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option("--port", "-p", min=0, max=65535, help="TCP port. 0: any free port."),
    ] = None,
    ros: Ros = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A setting of this protocol only. Repeatable."
        ),
    ] = None,
    master: Annotated[
        bool, typer.Option("--master", help="ros1: also be the master, so that ROS is not needed.")
    ] = False,
    ros_version: Annotated[
        int | None,
        typer.Option("--ros-version", min=1, max=2, help="ros_tcp: ROS version of the clients."),
    ] = None,
    publish: Annotated[Patterns, _rule("Channels that clients may publish. Default: all.")] = None,
    no_publish: Annotated[Patterns, _rule("Channels that clients may not publish.")] = None,
    subscribe: Annotated[
        Patterns, _rule("Channels that clients may subscribe to. Default: all.")
    ] = None,
    no_subscribe: Annotated[Patterns, _rule("Channels that clients may not subscribe to.")] = None,
    call: Annotated[
        Patterns,
        _rule("Services that clients may call, including NODE/_set_params. Default: all."),
    ] = None,
    no_call: Annotated[Patterns, _rule("Services that clients may not call.")] = None,
    serve_: Annotated[
        Patterns,
        typer.Option(
            "--serve",
            help="Services that clients may serve. Default: all.",
            metavar="PATTERN",
            rich_help_panel=_RULES,
        ),
    ] = None,
    no_serve: Annotated[Patterns, _rule("Services that clients may not serve.")] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Messages, calls and goals of one client per second, in total.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    rules_file: Annotated[
        Path | None,
        typer.Option(
            "--rules",
            help="File with rules for single clients. Each line has a pattern of client names and "
            "words such as no-publish=cmd_vel. tokens=FILE: only clients with one of its tokens.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_message: Annotated[
        int | None,
        typer.Option(min=64, help="Largest message in bytes.", rich_help_panel=_RULES),
    ] = None,
    max_clients: Annotated[
        int | None,
        typer.Option(min=1, help="Clients at the same time. Default: 256.", rich_help_panel=_RULES),
    ] = None,
    max_topics: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Topics of all clients. A service counts as two. Default: 5120.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_topics_per_client: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Topics, services and actions of one client. Default: 256.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_services: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Services and actions that clients call, in total. Default: 1280.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_unserved: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of --max-services, those that no node serves. Default: 512.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_unserved_per_client: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Services and actions of one client that no node serves. Default: 16.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Calls of one service in flight, from all clients. Default: 1024.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_calls_per_client: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Calls and goals of one client in flight, in each direction. Default: 256.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    queue: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Queue of each topic and client, in messages. A full queue drops the oldest.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    queue_bytes: Annotated[
        int | None,
        typer.Option(min=4096, help="Queue of each client, in bytes.", rich_help_panel=_RULES),
    ] = None,
    tls_certificate: Annotated[
        Path | None,
        typer.Option(help="PEM certificate. Encrypts connections (wss).", rich_help_panel=_RULES),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="PEM key of the certificate.", rich_help_panel=_RULES)
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="File with one token per line. Clients must present one.", rich_help_panel=_RULES
        ),
    ] = None,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
) -> None:
    """Connect clients of other systems to the robot's graph, until Ctrl-C: ROS 1, ROS 2, rosbridge
    (roslibjs, roslibpy, ROS#) and Unity's ROS-TCP-Connector. They connect unchanged.

    hyphos gateway rosbridge

    hyphos gateway ros1 --master

    hyphos gateway ros2 --set domain_id=7

    hyphos gateway ros_tcp --host 0.0.0.0 --no-subscribe 'debug/*'
    """
    from hyphos.gateway.serve import Options, serve  # noqa: PLC0415

    _check_extra(context.args)
    values = {
        "--host": host,
        "--port": port,
        "--rate": rate,
        "--max-message": max_message,
        "--max-clients": max_clients,
        "--max-topics": max_topics,
        "--max-topics-per-client": max_topics_per_client,
        "--max-services": max_services,
        "--max-unserved": max_unserved,
        "--max-unserved-per-client": max_unserved_per_client,
        "--max-calls": max_calls,
        "--max-calls-per-client": max_calls_per_client,
        "--queue": queue,
        "--queue-bytes": queue_bytes,
        "--tls-certificate": tls_certificate,
        "--tls-key": tls_key,
        "--tokens": tokens,
        "--rules": rules_file,
        "--ros-version": ros_version,
    }
    rules = {
        "--publish": publish,
        "--no-publish": no_publish,
        "--subscribe": subscribe,
        "--no-subscribe": no_subscribe,
        "--call": call,
        "--no-call": no_call,
        "--serve": serve_,
        "--no-serve": no_serve,
    }
    options = Options(
        protocol=protocol,
        ros=ros or [],
        proto_path=proto_path or [],
        values={key: str(value) for key, value in values.items() if value is not None},
        rules=[(key, one) for key, patterns in rules.items() for one in patterns or []],
        own=own or [],
        master=master,
        graph=context.args or ["--hyphos-domain", domain],
    )
    serve(options)
