"""Becomes another program, within the limits of the laboratory: in a network namespace, in a
cgroup, with a /dev/shm of its own, and registered with a reaper. `Place.command()` writes its
arguments.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from hyphos.lab import kernel, reaper

SHM = "/dev/shm"


def _fail(what: str) -> NoReturn:
    # No traceback: it stands where the output of the program would.
    sys.stderr.write(f"hyphos lab: {what}\n")
    sys.exit(127)


def _enter(args: argparse.Namespace) -> None:
    if args.cgroup:
        Path(args.cgroup, "cgroup.procs").write_text("0")
    if args.network:
        kernel.enter_network(args.network)
    if args.shm:
        kernel.unshare(kernel.CLONE_NEWNS)
        # What is mounted there from now on is seen by this process and its children alone. The root
        # itself is no mount in a chroot.
        around = next((path for path in (SHM, "/dev", "/") if kernel.is_mounted(path)), None)
        if around is not None:
            kernel.mount("none", around, "", kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.mount(args.shm, SHM, "", kernel.MS_BIND)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--reaper", required=True)
    parser.add_argument("--cgroup")
    parser.add_argument("--network")
    parser.add_argument("--shm")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    words = args.words[1:]  # after "--"
    # What it starts is found by its session; it may lead one already.
    with suppress(PermissionError):
        os.setsid()
    if not reaper.register_at(args.reaper):
        _fail("the network or the limits that it was to run in are no more")
    try:
        _enter(args)
    except OSError as error:
        _fail(str(error))
    try:
        os.execvp(words[0], words)
    except OSError as error:
        _fail(f"{words[0]}: {error.strerror}")
