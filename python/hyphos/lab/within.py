"""Executes another program in the environment of the laboratory: in a network namespace, in a
cgroup, with its own /dev/shm, and registered with a reaper. `Place.command()` writes its arguments.
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
    # No traceback: this text appears instead of the output of the program.
    sys.stderr.write(f"hyphos lab: {what}\n")
    sys.exit(127)


def _enter(args: argparse.Namespace) -> None:
    if args.cgroup:
        Path(args.cgroup, "cgroup.procs").write_text("0")
    if args.network:
        kernel.enter_network(args.network)
    if args.shm:
        kernel.unshare(kernel.CLONE_NEWNS)
        # Only this process and its children see mounts from now on. In a chroot the root is not a
        # mount.
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
    # The reaper finds its children by the session. The process may already lead one.
    with suppress(PermissionError):
        os.setsid()
    if not reaper.register_at(args.reaper):
        _fail("its network or its limits were removed")
    try:
        _enter(args)
    except OSError as error:
        _fail(str(error))
    try:
        os.execvp(words[0], words)
    except OSError as error:
        _fail(f"{words[0]}: {error.strerror}")
