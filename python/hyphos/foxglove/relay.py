"""Relays bytes between clients and the server of foxglove-sdk.

The SDK queues a thousand messages per client, of any size, and drops the oldest without notice. The
relay bounds each queue in bytes, keeps the newest messages, counts dropped ones, and knows the
connected clients.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, cast

from hyphos._errors import Error
from hyphos.foxglove.frames import Frame, FrameSplitter

_FLOW_BYTES = 1 << 20  # queue per subscription and client, plus the newest message
_CONTROL_BYTES = 32 << 20  # limit of frames that must not be lost, then the client is disconnected
_SOCKET_BYTES = 1 << 16  # passed to the system in advance
_MOST_CLIENTS = 32
_HANDSHAKE_S = 10.0
_DEAD_MS = 20_000  # a client that is gone, or reads nothing for so long, is disconnected
_CLOSE_S = 2.0


@dataclass
class _Flow:
    """Queued frames of one subscription, with their position in the order of all frames."""

    frames: deque[tuple[int, bytes]] = field(default_factory=deque)
    size: int = 0


class Waiting:
    """The queue of one client: in order, bounded per flow. The newest frame of each flow stays.

    Not thread-safe.
    """

    def __init__(self, flow_bytes: int = _FLOW_BYTES) -> None:
        self._flow_bytes = flow_bytes
        self._flows: dict[bytes | None, _Flow] = {}
        self._next = 0
        self.dropped = 0  # messages

    def __bool__(self) -> bool:
        return bool(self._flows)

    @property
    def control_bytes(self) -> int:
        flow = self._flows.get(None)
        return flow.size if flow is not None else 0

    def add(self, frame: Frame) -> None:
        """Adds a frame. Drops and counts the oldest frames of its flow beyond the limit."""
        flow = self._flows.setdefault(frame.flow, _Flow())
        flow.frames.append((self._next, frame.data))
        flow.size += len(frame.data)
        self._next += 1
        if frame.flow is None:
            return
        while flow.size > self._flow_bytes and len(flow.frames) > 1:
            flow.size -= len(flow.frames.popleft()[1])
            self.dropped += frame.is_message

    def pop(self) -> bytes:
        """The frame that has waited longest."""
        name = min(self._flows, key=lambda key: self._flows[key].frames[0][0])
        flow = self._flows[name]
        _, data = flow.frames.popleft()
        flow.size -= len(data)
        if not flow.frames:
            del self._flows[name]
        return data


class Connection:
    """One client and its link to the SDK's server. Only for the loop's thread, except the counters,
    which any thread may read."""

    def __init__(self, relay: Relay, client: asyncio.Transport) -> None:
        self._relay = relay
        self._client = client
        self._server: asyncio.Transport | None = None
        self._splitter = FrameSplitter()
        self._waiting = Waiting()
        self._early = bytearray()  # from the client, before the link to the server exists
        self._blocked = False
        self.name = _peer_name(client)
        self.since_s = time.monotonic()
        self.bytes = 0  # passed to the system for this client
        self.reason = ""  # reason of its disconnection

    @property
    def is_open(self) -> bool:
        """True once the WebSocket handshake has succeeded."""
        return self._splitter.is_open

    @property
    def dropped(self) -> int:
        return self._waiting.dropped

    def server_is_there(self, server: asyncio.Transport) -> None:
        self._server = server
        if self._client.is_closing():
            server.close()
        elif self._early:
            server.write(bytes(self._early))
            self._early.clear()

    def from_client(self, data: bytes) -> None:
        if self._server is not None:
            self._server.write(data)
        elif len(self._early) + len(data) <= _SOCKET_BYTES:
            self._early += data
        else:
            self.close("sent too much before the handshake")

    def from_server(self, data: bytes) -> None:
        was_open = self.is_open
        try:
            frames = self._splitter.feed(data)
        except ValueError as problem:
            self.close(str(problem))
            return
        if self.is_open and not was_open:
            self._relay.opened(self)
        for frame in frames:
            if self._blocked or self._waiting:
                self._waiting.add(frame)
            else:
                self._send(frame.data)
        if self._waiting.control_bytes > _CONTROL_BYTES:
            self.close("does not read its messages")

    def _send(self, data: bytes) -> None:
        self.bytes += len(data)
        self._client.write(data)

    def block(self) -> None:
        self._blocked = True

    def unblock(self) -> None:
        self._blocked = False
        while self._waiting and not self._blocked:  # write() may block again
            self._send(self._waiting.pop())

    def client_may_speak(self, may: bool) -> None:
        if self._client.is_closing():
            return
        if may:
            self._client.resume_reading()
        else:
            self._client.pause_reading()

    def end(self) -> None:
        """Ends both sides after one is gone. Written data are still sent."""
        for transport in (self._client, self._server):
            if transport is not None and not transport.is_closing():
                transport.close()

    def close(self, reason: str = "") -> None:
        """Closes at once, and discards queued data."""
        self.reason = self.reason or reason
        for transport in (self._client, self._server):
            if transport is not None:
                transport.abort()


class _ClientSide(asyncio.Protocol):
    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._connection: Connection | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        client = cast(asyncio.Transport, transport)
        client.set_write_buffer_limits(high=_SOCKET_BYTES)
        _watch_peer(client)
        self._connection = self._relay.welcome(client)

    def data_received(self, data: bytes) -> None:
        if self._connection is not None:
            self._connection.from_client(data)

    def pause_writing(self) -> None:
        if self._connection is not None:
            self._connection.block()

    def resume_writing(self) -> None:
        if self._connection is not None:
            self._connection.unblock()

    def connection_lost(self, error: Exception | None) -> None:
        if self._connection is not None:
            if isinstance(error, TimeoutError):
                self._connection.reason = f"read nothing for {_DEAD_MS // 1000} s"
            self._connection.end()
            self._relay.farewell(self._connection)


class _ServerSide(asyncio.Protocol):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection.server_is_there(cast(asyncio.Transport, transport))

    def data_received(self, data: bytes) -> None:
        self._connection.from_server(data)

    def pause_writing(self) -> None:
        self._connection.client_may_speak(False)

    def resume_writing(self) -> None:
        self._connection.client_may_speak(True)

    def connection_lost(self, _error: Exception | None) -> None:
        self._connection.end()


def _peer_name(transport: asyncio.Transport) -> str:
    peer: Any = transport.get_extra_info("peername")
    if not peer:
        return "?"
    return f"[{peer[0]}]:{peer[1]}" if ":" in peer[0] else f"{peer[0]}:{peer[1]}"


def _watch_peer(transport: asyncio.Transport) -> None:
    """Detects a machine that vanished, whether or not data are in flight to it."""
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_NODELAY", 1),
        ("TCP_KEEPIDLE", 10),
        ("TCP_KEEPINTVL", 5),
        ("TCP_USER_TIMEOUT", _DEAD_MS),
    ):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


class Relay:
    """Listens for clients, and connects each to `target_port` of this machine.

    Runs its own thread from construction to close(). Raises `hyphos.Error` if it cannot listen.
    `events` is called in that thread with a line for people when a client connects or disconnects.
    """

    def __init__(self, host: str, port: int, target_port: int, events: Any = None) -> None:
        self._target_port = target_port
        self._events = events or (lambda _line: None)
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._past_dropped = 0
        self.refused = 0
        self._sockets = _listen(host, port)
        self.port: int = self._sockets[0].getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="foxglove-relay", daemon=True)
        self._thread.start()

    @property
    def clients(self) -> list[Connection]:
        """The clients with a completed handshake, oldest first."""
        return sorted((c for c in list(self._connections) if c.is_open), key=lambda c: c.since_s)

    @property
    def dropped(self) -> int:
        """Messages dropped for slow clients, including former clients."""
        return self._past_dropped + sum(one.dropped for one in list(self._connections))

    def retarget(self, port: int) -> None:
        """Connects further clients to another server."""
        self._loop.call_soon_threadsafe(setattr, self, "_target_port", port)

    def close(self) -> None:
        """Ends all connections once written data are sent, or after two seconds."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def welcome(self, client: asyncio.Transport) -> Connection | None:
        if len(self._connections) >= _MOST_CLIENTS:
            self.refused += 1
            self._events(f"refused {_peer_name(client)}: {_MOST_CLIENTS} clients are connected")
            client.abort()
            return None
        connection = Connection(self, client)
        self._connections.add(connection)
        task = self._loop.create_task(self._join(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return connection

    async def _join(self, connection: Connection) -> None:
        try:
            await self._loop.create_connection(
                lambda: _ServerSide(connection), "127.0.0.1", self._target_port
            )
        except OSError as problem:
            connection.close(f"the server does not reply: {problem.strerror}")
            return
        await asyncio.sleep(_HANDSHAKE_S)
        if not connection.is_open:
            connection.close("did not finish its handshake")

    def opened(self, connection: Connection) -> None:
        """Reports a successful handshake."""
        self._events(f"connected: {connection.name}")

    def farewell(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._past_dropped += connection.dropped
        if connection.is_open:
            lost = f", {connection.dropped:,} messages dropped" if connection.dropped else ""
            why = f": it {connection.reason}" if connection.reason else ""
            self._events(f"disconnected: {connection.name}{lost}{why}")

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        servers = [
            self._loop.run_until_complete(
                self._loop.create_server(lambda: _ClientSide(self), sock=one)
            )
            for one in self._sockets
        ]
        self._loop.run_forever()
        for server in servers:
            server.close()
        for connection in list(self._connections):
            connection.end()
        self._loop.run_until_complete(self._drain())
        self._loop.close()

    async def _drain(self) -> None:
        deadline = time.monotonic() + _CLOSE_S
        while self._connections and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self._connections):
            connection.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.sleep(0)


def _listen(host: str, port: int) -> list[socket.socket]:
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
