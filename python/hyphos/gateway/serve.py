"""Starts the native program of a gateway with the types that it is to speak."""

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
    """As the command line has them; `None` and empty: as the program has it."""

    protocol: str
    ros: list[Path] = field(default_factory=list)
    proto_path: list[Path] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)  # --host, --port, …
    rules: list[tuple[str, str]] = field(default_factory=list)  # (--no-publish, "tf*")
    own: list[str] = field(default_factory=list)  # KEY=VALUE
    master: bool = False
    graph: list[str] = field(default_factory=list)  # --hyphos-domain, …: as every process gets them


def serve(options: Options) -> NoReturn:
    """Becomes that program. Error if it cannot."""
    if options.protocol not in PROTOCOLS:
        raise Error(
            "invalid_config",
            f"'{options.protocol}' is no gateway",
            advice=f"one of {', '.join(PROTOCOLS)}",
        )
    program = native.program("gateway", "hyphos-gateway")
    # Descriptors in memory: nothing is left behind, however it ends.
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
