"""Starts the native program of a gateway with the types that it translates."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from hyphos._errors import Error
from hyphos.ros.known import descriptors
from hyphos.tools import native

PROTOCOLS = ("ros1", "ros2", "rosbridge", "ros_tcp")


@dataclass
class Options:
    """Options of the command line. `None` and empty values keep the program's defaults."""

    protocol: str
    ros: list[Path] = field(default_factory=list)
    proto_path: list[Path] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)  # --host, --port, …
    rules: list[tuple[str, str]] = field(default_factory=list)  # (--no-publish, "tf*")
    own: list[str] = field(default_factory=list)  # KEY=VALUE
    master: bool = False
    graph: list[str] = field(
        default_factory=list
    )  # --hyphos-domain, …: arguments of every Hyphos process


def serve(options: Options) -> NoReturn:
    """Replaces this process by the gateway program. Raises an error if that fails."""
    if options.protocol not in PROTOCOLS:
        raise Error(
            "invalid_config",
            f"unknown gateway '{options.protocol}'",
            advice=f"give one of {', '.join(PROTOCOLS)}",
        )
    program = native.program("gateway", "hyphos-gateway")
    # Descriptors in memory: no file remains, however the gateway ends.
    types = os.memfd_create("hyphos-types", 0)
    with os.fdopen(types, "wb", closefd=False) as file:
        file.write(descriptors(options.ros, options.proto_path))
    command = [str(program), options.protocol, "--types", f"/proc/self/fd/{types}"]
    os.execv(program, command + words(options))


def words(options: Options) -> list[str]:
    found = ["--master"] if options.master else []
    for key, value in options.values.items():
        found += [key, value]
    for key, value in options.rules:
        found += [key, value]
    for pair in options.own:
        found += ["--set", pair]
    found += options.graph
    return found
