"""The control socket of a running recorder: snapshots, splits and status.

A recorder listens on a Unix socket in the abstract namespace, named after user, domain and process.
So nothing remains when it dies. A request is one line of JSON, and so is the reply. Only the same
user (or root) gets a reply.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hyphos._errors import Error

_PREFIX = "hyphos-record"
_TIMEOUT_S = 600.0  # a snapshot of some GB on a slow disk
_LISTENING = "00010000"  # flags of a listening socket in /proc/net/unix
_MOST_BYTES = 64 * 1024
_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def _name(domain: str, pid: int) -> str:
    return f"{_PREFIX}/{os.getuid()}/{domain}/{pid}"


class ControlServer:
    """Replies to requests until close(). `answer` runs in a thread of the server, one at a time."""

    def __init__(self, domain: str, answer: Answer) -> None:
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self._socket.bind("\0" + _name(domain, os.getpid()))
        self._socket.listen(8)
        self._thread = threading.Thread(target=self._serve, name="record-control", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:  # closed
                return
            with peer:
                try:
                    self._serve_one(peer)
                except (OSError, ValueError):  # the client is gone, or sent no valid request
                    continue

    def _serve_one(self, peer: socket.socket) -> None:
        raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        _, uid, _ = _CREDENTIALS.unpack(raw)
        if uid not in (0, os.getuid()):
            return
        peer.settimeout(5.0)
        request = json.loads(_line(peer))
        try:
            reply = self._answer(request)
        except Error as error:
            reply = {"error": error.message, "code": error.code, "where": error.where}
        peer.sendall(json.dumps(reply).encode() + b"\n")

    def close(self) -> None:
        # shutdown() alone wakes a thread in accept().
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def _line(peer: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n") and len(data) < _MOST_BYTES:
        more = peer.recv(4096)
        if not more:
            break
        data += more
    return data


def recorders(domain: str) -> list[int]:
    """Process ids of this user's recorders in a domain."""
    prefix = f"@{_PREFIX}/{os.getuid()}/{domain}/"
    found = set()
    for line in Path("/proc/net/unix").read_text().splitlines():
        name = line.rpartition(" ")[2]
        listens = line.split()[3:4] == [_LISTENING]  # else it refuses connections
        if listens and name.startswith(prefix) and name.removeprefix(prefix).isdigit():
            found.add(int(name.removeprefix(prefix)))
    return sorted(found)


def ask(domain: str, pid: int, request: dict[str, Any]) -> dict[str, Any]:
    """Sends one request to one recorder. Raises an error if it refuses, or is gone."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(_TIMEOUT_S)
        try:
            peer.connect("\0" + _name(domain, pid))
            peer.sendall(json.dumps(request).encode() + b"\n")
            text = _line(peer)
        except OSError as error:
            raise Error("disconnected", f"recorder {pid} does not reply: {error}") from error
    if not text:
        raise Error("disconnected", f"recorder {pid} ended without a reply")
    reply: dict[str, Any] = json.loads(text)
    if "error" in reply:
        raise Error(reply.get("code", "io"), reply["error"], reply.get("where", ""))
    return reply
