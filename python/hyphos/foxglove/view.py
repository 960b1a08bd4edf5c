"""hyphos view --serve: one page for browsers, and the same port for Foxglove and Lichtblick."""

from __future__ import annotations

import json
import logging
import secrets
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import foxglove
from foxglove.websocket import Capability, PlaybackState, ServerListener, StatusLevel

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.foxglove.assets import Assets
from hyphos.foxglove.gate import Page, PageGate, is_loopback
from hyphos.foxglove.playback import Player, RecordedOffers, recorded_rows
from hyphos.foxglove.relay import Relay
from hyphos.foxglove.serve import Events, Options, Session, closing_lines, say, watch
from hyphos.foxglove.state import State
from hyphos.recording.opening import open_source
from hyphos.recording.schemas import SchemaBook
from hyphos.recording.source import Source
from hyphos.ros.typebook import TypeBook
from hyphos.tools import native
from hyphos.tools.console import console
from hyphos.tools.waiting import stoppable

_ANY = ("", "0.0.0.0", "::")
_TOLD_AGAIN_S = 10.0
_LONG_READ_BYTES = 256 << 20  # of a file that takes seconds


@dataclass(frozen=True)
class ViewOptions:
    """The values of the command."""

    host: str
    port: int
    token: str  # "" for none given
    what: Path | None  # a plan or a recording
    domain: str | None
    at_s: float | None
    packages: Sequence[Path] = ()  # folders with the meshes of robot models


def page_file() -> Path:
    """The built page of this installation. Raises an error with the remedy without one."""
    for folder in (Path(__file__).resolve().parent, *native.folders("web")):
        if (folder / "page.html").is_file():
            return folder / "page.html"
    raise Error(
        "not_found",
        "this installation has no page for browsers: it was built without npm",
        advice="in a clone of Hyphos: make web. Without the page, use hyphos foxglove",
    )


class RecordedSession:
    """Serves a recording from construction to close()."""

    def __init__(self, options: ViewOptions, file: Path, gate: PageGate) -> None:
        self.events = Events()
        self._problems: set[str] = set()
        self._told = 0
        self._told_s = 0.0
        self._begun = options.at_s is not None  # otherwise the first client starts it
        if file.is_file() and file.stat().st_size > _LONG_READ_BYTES:
            print(f"reading {file} …", flush=True)
        source = open_source(file)
        self._source = source
        self._context = foxglove.Context()
        self.state = State(self._context)
        assets = Assets(options.packages)
        try:
            self.offers = RecordedOffers(source, self._context, SchemaBook(TypeBook()))
            if not any(offer.channel for offer in self.offers.by_name.values()):
                raise Error("not_found", "the recording has no channel to show", str(file))
            self._rows = recorded_rows(source, self.offers)
            self._listener = _RecordedListener(self)
            self._server: Any = foxglove.start_server(
                name=f"hyphos {file.name}",
                host="127.0.0.1",
                port=0,
                capabilities=[Capability.Time],
                server_listener=self._listener,
                asset_handler=assets,
                context=self._context,
                playback_time_range=(source.start_ns, source.end_ns),
            )
        except BaseException:
            source.close()
            raise
        self.player = Player(
            source,
            self._server.broadcast_playback_state,
            lambda time_ns: self._server.broadcast_time(max(0, time_ns)),
            self._problem,
            at_ns=_instant(source, options.at_s),
            note=assets.note,
        )
        try:
            self.relay = Relay(options.host, options.port, self._server.port, self.events.say, gate)
        except BaseException:
            self.player.close()
            self._server.stop()
            source.close()
            raise
        for warning in source.warnings:
            self.events.say(f"warning: {warning}")

    def _problem(self, channel: str, what: str) -> None:
        if channel not in self._problems:
            self._problems.add(channel)
            self.events.say(f"{channel} {what}")
            self._server.publish_status(f"{channel} {what}", StatusLevel.Warning, channel)

    def settle(self) -> None:
        """Plays the channels that clients display now."""
        news = self.offers.news()
        if news is None:
            return
        self.player.want(*news)
        if not self._begun and news[0]:
            self._begun = True
            self.player.play()

    def step(self) -> None:
        now_ns = self.player.state().current_time
        self.state.publish_recording(self._rows, self.offers.by_name, self.relay, now_ns)
        dropped, now_s = self.relay.dropped, time.monotonic()
        if dropped != self._told and now_s - self._told_s >= _TOLD_AGAIN_S:
            self._told, self._told_s = dropped, now_s
            text = f"{dropped:,} messages were dropped: a client is too slow for its subscriptions"
            self._server.publish_status(text, StatusLevel.Warning, "hyphos.drops")

    def close(self) -> None:
        self.player.close()
        self.relay.close()
        self._server.stop()
        self._source.close()


class _RecordedListener(ServerListener):
    """Callbacks of the SDK's threads."""

    def __init__(self, session: RecordedSession) -> None:
        self._session = session

    def on_subscribe(self, client: Any, channel: Any) -> None:
        if self._session.state.is_it(channel.id):
            self._session.state.chosen()
        else:
            self._session.offers.chosen(client.id, channel.id)
        self._session.events.wake()

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        if not self._session.state.is_it(channel.id):
            self._session.offers.left(client.id, channel.id)
            self._session.events.wake()

    def on_playback_control_request(self, playback_control_request: Any) -> PlaybackState | None:
        return self._session.player.request(playback_control_request)


def _instant(source: Source, at_s: float | None) -> int:
    if at_s is None:
        return source.start_ns
    return min(source.start_ns + round(at_s * 1e9), max(source.start_ns, source.end_ns - 1))


def _domain_of(plan: Path) -> str:
    return str(json.loads(Plan.load(str(plan), [], False).json())["domain"])


def _robot(options: ViewOptions, gate: PageGate) -> Session:
    domain = options.domain
    if domain is None:
        domain = "0" if options.what is None else _domain_of(options.what)
    return Session(
        Options(
            host=options.host,
            port=options.port,
            domain=domain,
            gate=gate,
            state=True,
            assets=Assets(options.packages),
        )
    )


def serve_view(options: ViewOptions) -> int:
    """Serves until Ctrl-C, SIGTERM or the time limit."""
    logging.getLogger("foxglove").addHandler(logging.NullHandler())
    options = _with_token(options)
    gate = PageGate(Page(page_file()), options.token)
    is_plan = options.what is not None and options.what.suffix in (".yaml", ".yml")
    session: Session | RecordedSession
    with stoppable() as stop:
        if options.what is None or is_plan:
            session = _robot(options, gate)
        else:
            session = RecordedSession(options, options.what, gate)
        try:
            say(session.events, console(), quiet=False)
            for line in addresses(options.host, session.relay.port, options.token):
                print(line, flush=True)
            watch(session, stop, _page(options.host, session.relay.port), quiet=False)
        finally:
            lines = closing_lines(session)
            session.close()
    for line in lines:
        print(line, flush=True)
    return 0


def _with_token(options: ViewOptions) -> ViewOptions:
    """Every address but one of this machine alone needs a token."""
    if options.token or is_loopback(options.host):
        return options
    return replace(options, token=secrets.token_urlsafe(16))


def _page(host: str, port: int) -> str:
    name = socket.gethostname() if host in _ANY else host
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def addresses(host: str, port: int, token: str) -> Sequence[str]:
    """Lines with the address of the page, and that of the protocol."""
    page = _page(host, port)
    socket_address = page.replace("http", "ws", 1)
    if not token:
        return [f"open {page} (Ctrl-C ends it)", f"Foxglove and Lichtblick: {socket_address}"]
    return [
        f"open {page}#{urlencode({'token': token})} (Ctrl-C ends it)",
        f"Foxglove and Lichtblick: {socket_address}?{urlencode({'token': token})}",
    ]
