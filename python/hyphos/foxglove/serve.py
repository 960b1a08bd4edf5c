"""hyphos foxglove: serves the channels of a running robot to Foxglove on demand."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

import foxglove
from foxglove import Parameter
from foxglove.websocket import Capability, ServerListener, StatusLevel
from rich.console import Group, RenderableType
from rich.text import Text

from hyphos.foxglove.assets import Assets
from hyphos.foxglove.gate import Gate
from hyphos.foxglove.offers import Counts, Offers, Shown
from hyphos.foxglove.parameters import Parameters
from hyphos.foxglove.relay import Connection, Relay
from hyphos.foxglove.state import State
from hyphos.foxglove.times import RobotTime
from hyphos.observe import Look, look
from hyphos.recording.schemas import SchemaBook
from hyphos.ros.typebook import TypeBook
from hyphos.tools.console import console, table
from hyphos.tools.join import open_tool
from hyphos.tools.live_area import LiveArea
from hyphos.tools.waiting import Stop, stoppable

_LOOK_S = 0.25
_DRAW_S = 1.0
_WAKE_S = 0.1  # between checks of a stop request
_MOST_LINES = 1024
_TOLD_AGAIN_S = 10.0  # between notices to a client that is too slow


@dataclass
class Options:
    patterns: Sequence[str] = ("*",)
    exclude: Sequence[str] = ()
    host: str = "127.0.0.1"
    port: int = 8765
    raw: bool = False
    write: bool = False
    seconds: float | None = None
    quiet: bool = False
    domain: str = "0"
    proto_path: Sequence[Path] = ()
    descriptors: Sequence[Path] = ()
    gate: Gate | None = None
    state: bool = False  # with the channel of counters for the page
    assets: Assets | None = None


class Events:
    """Wakes the command's thread, and passes it lines for people. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Event()
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)

    def say(self, line: str) -> None:
        self._lines.append(line)
        self._changed.set()

    def wake(self) -> None:
        self._changed.set()

    def wait(self, seconds: float) -> None:
        """Waits until something has happened since the last call, or `seconds` have passed."""
        self._changed.wait(seconds)
        self._changed.clear()

    def lines(self) -> list[str]:
        """The lines since the last call."""
        return [self._lines.popleft() for _ in range(len(self._lines))]


class _Listener(ServerListener):
    """Callbacks of the SDK's threads. They do not wait, except for the owner of a parameter that is
    set: the command's thread does the work."""

    def __init__(self, session: Session) -> None:
        self._offers = session.offers
        self._parameters = session.parameters
        self._events = session.events
        self._refused = session.refused
        self._state = session.state

    def on_subscribe(self, client: Any, channel: Any) -> None:
        if self._state is not None and self._state.is_it(channel.id):
            self._state.chosen()
            return
        self._offers.chosen(client.id, channel.id)
        self._events.wake()

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        if self._state is not None and self._state.is_it(channel.id):
            return
        self._offers.left(client.id, channel.id)
        self._events.wake()

    def on_get_parameters(
        self, _client: Any, names: list[str], _request: str | None = None
    ) -> list[Parameter]:
        return self._parameters.get(names)

    def on_set_parameters(
        self, _client: Any, wishes: list[Parameter], _request: str | None = None
    ) -> list[Parameter]:
        for problem in self._parameters.set(wishes):
            self._refused(problem)
        return self._parameters.get([wish.name for wish in wishes])


class Session:
    """Offers a robot's channels from construction to close()."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.events = Events()
        self._problems: dict[str, str] = {}  # by channel, each reported once
        self._told_s = 0.0
        self._told = 0
        schemas = SchemaBook(TypeBook(options.proto_path, options.descriptors, options.domain))
        self._context = foxglove.Context()
        self.state = State(self._context) if options.state else None
        self._node = open_tool("foxglove", options.domain)
        self._server: Any = None
        try:
            self.time = RobotTime(self._node, self._tick)
            self.offers = Offers(
                self._node,
                self._context,
                schemas,
                self.time,
                self._problem,
                patterns=options.patterns,
                exclude=options.exclude,
                raw=options.raw,
                note=options.assets.note if options.assets is not None else None,
            )
            self.parameters = Parameters(
                self._node, options.domain, self._set, writable=options.write
            )
            self._listener = _Listener(self)
            now = look(options.domain)
            self.time.look(now)
            self.offers.discover(now)
            self.parameters.look()
            self._simulated = self.time.simulated
            self._server = self._start()
            self.relay = Relay(
                options.host,
                options.port,
                self._server.port,
                self.events.say,
                options.gate,
            )
        except BaseException:
            if self._server is not None:
                self._server.stop()
            self._node.close()
            raise

    def _start(self) -> Any:
        # The relay reads all data at once, so the SDK's own queues lose nothing unnoticed.
        return foxglove.start_server(
            name=f"hyphos {self._options.domain}",
            host="127.0.0.1",
            port=0,
            capabilities=[Capability.Parameters, *([Capability.Time] if self._simulated else [])],
            server_listener=self._listener,
            asset_handler=self._options.assets,
            context=self._context,
        )

    def settle(self) -> None:
        """Starts and ends subscriptions as the clients requested."""
        self.offers.settle()

    def step(self) -> None:
        """Updates channels, parameters and time from a new snapshot of the robot."""
        now: Look = look(self._options.domain)
        self.time.look(now)
        self.offers.discover(now)
        self.parameters.look()
        if self.time.simulated != self._simulated:
            self._simulated = self.time.simulated
            self._restart()
        self._tell_drops()
        if self.state is not None:
            self.state.publish_robot(now, self.offers.by_name, self.relay, self.time.now_ns)

    def _restart(self) -> None:
        """Restarts the server, which announces its capabilities only once. Foxglove reconnects."""
        kind = "simulated" if self._simulated else "real"
        self.events.say(f"the robot has {kind} time: clients reconnect")
        old = self._server
        self._server = self._start()
        self.relay.retarget(self._server.port)
        old.stop()

    def _tick(self, time_ns: int) -> None:
        server = self._server
        if server is not None and self._simulated and time_ns >= 0:
            server.broadcast_time(time_ns)

    def _problem(self, channel: str, what: str) -> None:
        if channel in self._problems:
            return
        self._problems[channel] = what
        self.events.say(f"{channel} {what}")
        self._server.publish_status(f"{channel} {what}", StatusLevel.Warning, channel)

    def _set(self, values: list[Parameter]) -> None:
        """Publishes parameters that their owners have set."""
        server = self._server
        if server is not None:
            server.publish_parameter_values(values)

    def refused(self, problem: str) -> None:
        self.events.say(f"not set: {problem}")
        self._server.publish_status(f"not set: {problem}", StatusLevel.Error, "hyphos.params")

    def _tell_drops(self) -> None:
        dropped, now_s = self.relay.dropped, time.monotonic()
        if dropped == self._told or now_s - self._told_s < _TOLD_AGAIN_S:
            return
        self._told, self._told_s = dropped, now_s
        text = f"{dropped:,} messages were dropped: a client is too slow for its subscriptions"
        self._server.publish_status(text, StatusLevel.Warning, "hyphos.drops")

    def close(self) -> None:
        self.offers.close()
        self.parameters.close()
        self.relay.close()
        self._server.stop()
        self._node.close()


def app_url(address: str) -> str:
    """The address that opens the view in a browser."""
    query = urlencode({"ds": "foxglove-websocket", "ds.url": address})
    return f"https://app.foxglove.dev/~/view?{query}"


def _address(options: Options, port: int) -> str:
    host = {"": "localhost", "0.0.0.0": "localhost", "::": "localhost"}.get(
        options.host, options.host
    )
    return f"ws://[{host}]:{port}" if ":" in host else f"ws://{host}:{port}"


class Served(Protocol):
    """A robot or a recording that clients see."""

    events: Events
    relay: Relay

    @property
    def offers(self) -> Offered: ...

    def settle(self) -> None:
        """Follows the choices of the clients."""

    def step(self) -> None:
        """Runs four times per second."""


class Offered(Protocol):
    """The channels of a Served."""

    @property
    def by_name(self) -> Mapping[str, Shown]: ...

    @property
    def counts(self) -> Mapping[str, Counts]: ...


class _Board:
    """The tables on a terminal."""

    def __init__(self) -> None:
        self._before: dict[object, int] = {}
        self._before_s = time.monotonic()

    def render(self, session: Served, address: str) -> RenderableType:
        now_s = time.monotonic()
        seconds = max(1e-6, now_s - self._before_s)
        offers = sorted(session.offers.by_name.items())
        clients = session.relay.clients
        counts: dict[object, int] = {name: offer.counts.received for name, offer in offers}
        counts |= {client: client.bytes for client in clients}
        rate = {key: (n - self._before.get(key, n)) / seconds for key, n in counts.items()}
        self._before, self._before_s = counts, now_s
        head = Text(f"● {address}   {_summary(session)}")
        parts: list[RenderableType] = [head, _channel_table(offers, rate)]
        if clients:
            parts.append(_client_table(clients, rate))
        return Group(*parts)


def _summary(session: Served) -> str:
    offers = session.offers.by_name.values()
    shown = sum(offer.channel is not None for offer in offers)
    watched = sum(offer.clients > 0 for offer in offers)
    dropped = session.relay.dropped
    parts = [f"{shown} channels", f"{watched} watched", f"{len(session.relay.clients)} clients"]
    parts += [f"{dropped:,} dropped for slow clients"] if dropped else []
    parts += [f"{session.relay.refused} refused"] if session.relay.refused else []
    return ", ".join(parts)


def _channel_table(offers: Sequence[tuple[str, Shown]], rate: dict[object, float]) -> Any:
    numbers = ["clients", "Hz", "messages", "lost", "not shown"]
    made = table("", ["channel", "as", *numbers], numbers)
    for name, offer in offers:
        if offer.channel is None:
            made.add_row(Text(name, "dim"), Text(f"– ({offer.why_not})", "dim"))
            continue
        made.add_row(
            name,
            offer.schema,
            str(offer.clients),
            f"{rate[name]:.1f}",
            f"{offer.counts.received:,}",
            Text(f"{offer.counts.lost:,}", "red" if offer.counts.lost else ""),
            Text(f"{offer.counts.unshown:,}", "red" if offer.counts.unshown else ""),
        )
    return made


def _client_table(clients: Sequence[Connection], rate: dict[object, float]) -> Any:
    numbers = ["connected", "MB/s", "MB", "dropped"]
    made = table("", ["client", *numbers], numbers)
    for client in clients:
        made.add_row(
            client.name,
            f"{time.monotonic() - client.since_s:.0f} s",
            f"{rate[client] / 1e6:.2f}",
            f"{client.bytes / 1e6:,.1f}",
            Text(f"{client.dropped:,}", "red" if client.dropped else ""),
        )
    return made


def watch(session: Served, stop: Stop, address: str, quiet: bool) -> None:
    """Serves until a stop request."""
    out = console()
    board = _Board()
    live = LiveArea(out) if out.is_terminal else None
    next_look = next_draw = time.monotonic()
    if live is not None and not quiet:
        live.start()
    try:
        while not stop.now:
            say(session.events, out, quiet)
            session.settle()
            now_s = time.monotonic()
            if now_s >= next_look:
                next_look = now_s + _LOOK_S
                session.step()
            if live is not None and not quiet and now_s >= next_draw:
                next_draw = now_s + _DRAW_S
                live.update(board.render(session, address), refresh=True)
            session.events.wait(_WAKE_S)
    finally:
        if live is not None:
            live.stop()
    say(session.events, out, quiet)


def say(events: Events, out: Any, quiet: bool) -> None:
    for line in events.lines():
        if not quiet:
            out.print(line, soft_wrap=True, markup=False)
            out.file.flush()


def serve(options: Options) -> int:
    """Serves until Ctrl-C, SIGTERM or the time limit."""
    # The SDK would log clients with another protocol on stderr.
    logging.getLogger("foxglove").addHandler(logging.NullHandler())
    with stoppable(options.seconds) as stop:
        session = Session(options)
        try:
            address = _address(options, session.relay.port)
            if not session.offers.by_name:  # printed before the address
                session.events.say(f"no publisher in domain '{options.domain}' yet")
            if not options.quiet:
                print(f"domain {options.domain} for Foxglove at {address}, Ctrl-C ends it")
                print(f"open {app_url(address)}", flush=True)
            watch(session, stop, address, options.quiet)
        finally:
            summary = closing_lines(session)
            session.close()
    if not options.quiet:
        for line in summary:
            print(line, flush=True)
    return 0


def closing_lines(session: Served) -> list[str]:
    """Lost messages, by channel. Empty without losses."""
    lines = []
    for name, counts in sorted(session.offers.counts.items()):
        if counts.lost:
            all_of_them = counts.received + counts.lost
            lines.append(
                f"{name}: {counts.lost:,} of {all_of_them:,} lost before they arrived here"
            )
        if counts.unshown:
            lines.append(f"{name}: {counts.unshown:,} of {counts.received:,} could not be shown")
    if session.relay.dropped:
        lines.append(f"{session.relay.dropped:,} messages dropped for clients that were too slow")
    return lines
