"""Numbers that only this process uses: ports and DDS domains. A claim ends with the process."""

from __future__ import annotations

import fcntl
import itertools
import os
import socket
from functools import cache
from pathlib import Path

_FIRST_PORT = 31_200
_PORTS = 32  # of a block
_BLOCKS = 49
# The ports of higher domains are among those of the blocks.
_DDS_DOMAINS = 94

_numbers = itertools.count()
_held: list[object] = []


@cache
def _first_port() -> int:
    """As in tests/own_port.hpp. The name of an abstract socket has the scope of ports."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for tried in range(_BLOCKS):
        block = (os.getpid() + tried) % _BLOCKS
        try:
            claim.bind(f"\0hyphos-test-ports-{block}")
        except OSError:
            continue
        _held.append(claim)
        return _FIRST_PORT + block * _PORTS
    raise RuntimeError(f"other test processes use all {_BLOCKS} blocks of ports")


def own_port() -> int:
    """The next of 32 ports that no other running test uses. The kernel gives none of them to a
    connection, so a port remains free until its server starts.
    """
    return _first_port() + next(_numbers) % _PORTS


@cache
def own_dds_domain(number: int = 0) -> int:
    """A DDS domain that no other running test uses, as test_domain() in
    tests/gateway/ros2/ros_side.hpp. Each `number` has a domain of its own.
    """
    for tried in range(_DDS_DOMAINS):
        domain = 1 + (os.getpid() + tried + number) % _DDS_DOMAINS
        file = Path(f"/tmp/hyphos-test-dds-{domain}").open("a")  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            continue
        _held.append(file)
        return domain
    raise RuntimeError(f"other test processes use all {_DDS_DOMAINS} DDS domains")
