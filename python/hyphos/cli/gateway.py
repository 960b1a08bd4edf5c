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
    """Only what `hyphos run` adds, each with its value."""
    unknown = [word for word in words[::2] if not word.startswith("--hyphos-")]
    if unknown:
        raise typer.BadParameter(f"no such option: {unknown[0]}")


def gateway(
    context: typer.Context,
    protocol: Annotated[
        str, typer.Argument(help="ros1, ros2, rosbridge or ros_tcp.", metavar="PROTOCOL")
    ],
    host: Annotated[
        str, typer.Option("--host", help="Address to listen at. Default: this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option("--port", "-p", min=0, max=65535, help="TCP port; 0: any free one."),
    ] = None,
    ros: Ros = None,
    own: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of this protocol alone."),
    ] = None,
    master: Annotated[
        bool, typer.Option("--master", help="ros1: be the master, so that no ROS is needed.")
    ] = False,
    ros_version: Annotated[
        int | None,
        typer.Option(
            "--ros-version", min=1, max=2, help="ros_tcp: which ROS clients were made for."
        ),
    ] = None,
    publish: Annotated[Patterns, _rule("Channels that clients may publish. Default: all.")] = None,
    no_publish: Annotated[Patterns, _rule("Channels that they may not.")] = None,
    subscribe: Annotated[Patterns, _rule("Channels that clients may hear. Default: all.")] = None,
    no_subscribe: Annotated[Patterns, _rule("Channels that they may not.")] = None,
    call: Annotated[
        Patterns,
        _rule("Services that clients may call, NODE/_set_params among them. Default: all."),
    ] = None,
    no_call: Annotated[Patterns, _rule("Services that they may not.")] = None,
    serve_: Annotated[
        Patterns,
        typer.Option(
            "--serve",
            help="Services that clients may offer. Default: all.",
            metavar="PATTERN",
            rich_help_panel=_RULES,
        ),
    ] = None,
    no_serve: Annotated[Patterns, _rule("Services that they may not.")] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Messages, calls and goals of one client in a second, all together.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    rules_file: Annotated[
        Path | None,
        typer.Option(
            "--rules",
            help="File with rules of single clients: in each line a pattern of names of clients "
            "and words like no-publish=cmd_vel; tokens=FILE: for those who show one of these.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_message: Annotated[
        int | None,
        typer.Option(min=64, help="Bytes of the largest message.", rich_help_panel=_RULES),
    ] = None,
    max_clients: Annotated[
        int | None, typer.Option(min=1, help="Clients at once.", rich_help_panel=_RULES)
    ] = None,
    max_topics: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Topics of all clients; a service counts as two. Default: 4096.",
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
            help="Services and actions that clients ask at once. Default: 1024.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_unserved: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Those of them that no node serves. Default: 512.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    max_unserved_per_client: Annotated[
        int | None,
        typer.Option(min=1, help="The same of one client. Default: 16.", rich_help_panel=_RULES),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Calls of one service that are under way, of all clients. Default: 1024.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    queue: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Messages of each topic that wait for a client; the oldest are dropped.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    queue_bytes: Annotated[
        int | None,
        typer.Option(min=4096, help="Bytes that wait for a client.", rich_help_panel=_RULES),
    ] = None,
    tls_certificate: Annotated[
        Path | None, typer.Option(help="PEM file: encrypt (wss).", rich_help_panel=_RULES)
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its key.", rich_help_panel=_RULES)] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="File with one token in a line: clients need one.", rich_help_panel=_RULES
        ),
    ] = None,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
) -> None:
    """Let programs of another world take part in the robot's graph, until Ctrl-C: ROS 1, ROS 2,
    rosbridge (roslibjs, roslibpy, ROS#), Unity's ROS-TCP-Connector. They connect unchanged.

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
