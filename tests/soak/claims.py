"""Numbers that only this process uses: ports and DDS domains. A claim ends with the process."""

from __future__ import annotations

import atexit
import itertools
import os
import socket
from functools import cache

_FIRST_PORT = 31_200
_PORTS = 32  # of a block
_BLOCKS = 49
# The ports of higher domains are among those of the blocks.
_DDS_DOMAINS = 94

_numbers = itertools.count()


def _claim(what: str, count: int) -> int:
    """As in tests/own_port.hpp. The name of an abstract socket has the scope of ports."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    atexit.register(claim.close)  # also keeps it until then
    for tried in range(count):
        number = (os.getpid() + tried) % count
        try:
            claim.bind(f"\0hyphos-test-{what}-{number}")
        except OSError:
            continue
        return number
    raise RuntimeError(f"other test processes have claimed all {count} {what}")


@cache
def _first_port() -> int:
    return _FIRST_PORT + _claim("ports", _BLOCKS) * _PORTS


def own_port() -> int:
    """The next of 32 ports that no other running test uses. The kernel gives none of them to a
    connection, so a port remains free until its server starts.
    """
    return _first_port() + next(_numbers) % _PORTS


@cache
def own_dds_domain(number: int = 0) -> int:  # noqa: ARG001 - a key of the cache
    """A DDS domain that no other running test uses. Each `number` has a domain of its own."""
    return 1 + _claim("dds", _DDS_DOMAINS)
