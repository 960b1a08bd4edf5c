"""Relays bytes between clients and the server of foxglove-sdk.

The SDK queues a thousand messages per client, of any size, and drops the oldest without notice. The
relay bounds each queue in bytes, keeps the newest messages, counts dropped ones, and knows the
connected clients.
"""

from __future__ import annotations

import asyncio
import threading
import time
from http import HTTPStatus
from typing import Any, cast

from hyphos.foxglove.frames import Frame, FrameSplitter
from hyphos.foxglove.gate import (
    END_OF_HEAD,
    MOST_HEAD,
    Gate,
    OpenGate,
    Request,
    parse_request,
    reply,
    translated_reply,
)
from hyphos.foxglove.sockets import DEAD_MS, listen, watch_peer
from hyphos.foxglove.waiting import Waiting

_CONTROL_BYTES = 32 << 20  # limit of frames that must not be lost, then the client is disconnected
_SOCKET_BYTES = 1 << 16  # passed to the system in advance
_MOST_CLIENTS = 32
_MOST_ARRIVALS = 64  # connections whose request is not complete
_HANDSHAKE_S = 10.0
_CLOSE_S = 2.0


class Connection:
    """One client and its link to the SDK's server. Only for the loop's thread, except the counters,
    which any thread may read."""

    def __init__(self, relay: Relay, client: asyncio.Transport, request: Request) -> None:
        self._relay = relay
        self._client = client
        self._translates = request.needs_translation
        self._server: asyncio.Transport | None = None
        self._splitter = FrameSplitter()
        self._waiting = Waiting()
        self._early = bytearray()  # from the client, before the link to the server exists
        self._blocked = False
        self.name = _peer_name(client)
        self.label = request.label
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

    @property
    def dropped_of(self) -> dict[int, int]:
        """Dropped messages by the client's number of the subscription."""
        found = dict(self._waiting.dropped_of)
        return {int.from_bytes(flow[1:], "little"): count for flow, count in found.items()}

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
            if self._translates:
                frames[0] = Frame(translated_reply(frames[0].data))
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
    """One connection from outside. It becomes one of a client when its request is complete and
    admitted."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._head = bytearray()
        self._connection: Connection | None = None
        self._transport: asyncio.Transport | None = None
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        client = cast(asyncio.Transport, transport)
        self._transport = client
        if not self._relay.arrived(self):
            client.abort()
            return
        client.set_write_buffer_limits(high=_SOCKET_BYTES)
        watch_peer(client)
        self._patience = asyncio.get_running_loop().call_later(_HANDSHAKE_S, client.abort)

    def data_received(self, data: bytes) -> None:
        if self._connection is not None:
            self._connection.from_client(data)
        elif self._transport is not None and not self._transport.is_closing():
            self._head += data
            self._try_request(self._transport)

    def _try_request(self, client: asyncio.Transport) -> None:
        end = self._head.find(END_OF_HEAD) + len(END_OF_HEAD)
        if end < len(END_OF_HEAD):
            if len(self._head) > MOST_HEAD:
                self._answer(client, reply(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
            return
        try:
            request = parse_request(bytes(self._head[:end]))
        except ValueError as problem:
            self._answer(client, reply(HTTPStatus.BAD_REQUEST, str(problem).encode()))
            return
        answer = self._relay.gate.admit(request)
        if answer is not None:
            if answer.refused:
                self._relay.refuse(_peer_name(client), answer.refused)
            self._answer(client, answer.data)
            return
        self._settled()
        self._connection = self._relay.welcome(client, request)
        if self._connection is not None:
            self._connection.from_client(request.translated + self._head[end:])
        self._head.clear()

    def _answer(self, client: asyncio.Transport, data: bytes) -> None:
        """Sends a reply. The client may take as long as for a request to read it."""
        self._head.clear()
        client.write(data)
        client.close()

    def _settled(self) -> None:
        """It is no longer one of the bounded number of arrivals."""
        self._relay.arrivals.discard(self)
        if self._patience is not None:
            self._patience.cancel()

    def pause_writing(self) -> None:
        if self._connection is not None:
            self._connection.block()

    def resume_writing(self) -> None:
        if self._connection is not None:
            self._connection.unblock()

    def connection_lost(self, error: Exception | None) -> None:
        self._settled()
        if self._connection is not None:
            if isinstance(error, TimeoutError):
                self._connection.reason = f"read nothing for {DEAD_MS // 1000} s"
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


class Relay:
    """Listens for clients, and connects each to `target_port` of this machine.

    Runs its own thread from construction to close(). Raises `hyphos.Error` if it cannot listen.
    `events` is called in that thread with a line for people when a client connects or disconnects.
    """

    def __init__(
        self, host: str, port: int, target_port: int, events: Any = None, gate: Gate | None = None
    ) -> None:
        self._target_port = target_port
        self.gate: Gate = gate or OpenGate()
        self.arrivals: set[_ClientSide] = set()
        self._events = events or (lambda _line: None)
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._past_dropped = 0
        self.refused = 0
        self._sockets = listen(host, port)
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

    def arrived(self, side: _ClientSide) -> bool:
        """Counts a connection whose request is not known. False if there are too many."""
        if len(self.arrivals) >= _MOST_ARRIVALS:
            self.refused += 1
            return False
        self.arrivals.add(side)
        return True

    def refuse(self, peer: str, reason: str) -> None:
        """Counts and reports a refused client."""
        self.refused += 1
        self._events(f"refused {peer}: {reason}")

    def welcome(self, client: asyncio.Transport, request: Request) -> Connection | None:
        if len(self._connections) >= _MOST_CLIENTS:
            self.refuse(_peer_name(client), f"{_MOST_CLIENTS} clients are connected")
            client.abort()
            return None
        connection = Connection(self, client, request)
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
