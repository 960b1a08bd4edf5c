"""Sockets that listen, and the detection of machines that vanish."""

from __future__ import annotations

import asyncio
import errno
import socket

from hyphos._errors import Error

DEAD_MS = 20_000  # a client that is gone, or reads nothing for so long, is disconnected


def watch_peer(transport: asyncio.Transport) -> None:
    """Detects a machine that vanished, whether or not data are in flight to it."""
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_NODELAY", 1),
        ("TCP_KEEPIDLE", 10),
        ("TCP_KEEPINTVL", 5),
        ("TCP_USER_TIMEOUT", DEAD_MS),
    ):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def listen(host: str, port: int) -> list[socket.socket]:
    """Listening sockets on all addresses of a host name."""
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except socket.gaierror as problem:
        raise Error(
            "invalid_config", f"'{host}' is not an address of this machine", advice="give --host"
        ) from problem
    opened: list[socket.socket] = []
    failed: OSError | None = None
    for family, kind, protocol, _, address in dict.fromkeys(found):
        one = socket.socket(family, kind, protocol)
        try:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # With port 0 the first socket finds a port, and the others use the same one.
            chosen = opened[0].getsockname()[1] if opened else port
            one.bind((address[0], chosen, *address[2:]))
            one.listen()
        except OSError as problem:
            one.close()
            if failed is None or problem.errno != errno.EADDRNOTAVAIL:
                failed = problem
        else:
            opened.append(one)
    # "localhost" has two addresses. A machine without IPv6 has one of them.
    if failed is None or (opened and failed.errno == errno.EADDRNOTAVAIL):
        return opened
    for one in opened:
        one.close()
    raise Error(
        "io",
        f"cannot listen on {host} port {port}: {failed.strerror}",
        advice="give another --port (0: any free port)",
    ) from failed
