"""hyphos replay: publishes a recording at its own pace."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from hyphos._errors import Error
from hyphos._hyphos import Policy, TypeId
from hyphos.clock import SimTime
from hyphos.node import Node
from hyphos.observe import look
from hyphos.publisher import Publisher
from hyphos.recording.opening import open_source
from hyphos.recording.pace import Keys, Pace
from hyphos.recording.schemas import announce
from hyphos.recording.source import LEFT_OUT, Item, Source, Track, part_of, playable, utc
from hyphos.tools.console import cell, say, table
from hyphos.tools.console import console as make_console
from hyphos.tools.join import open_tool
from hyphos.tools.waiting import Stop, stoppable, until
from hyphos.tools.waits import process_lines, reporting
from hyphos.types import Raw

_BAR_EVERY_S = 0.1
_LATE_S = 0.1  # delays from here on are reported
_MOST_TIME = (1 << 63) - 1
_TICK_NS = 10_000_000  # largest step of the replayed time between messages


@dataclass
class PlayOptions:
    file: Path
    rate: float
    loop: bool
    start_s: float
    end_s: float | None
    patterns: Sequence[str]
    remap: Sequence[str]
    show: bool
    wait_s: float
    quiet: bool
    domain: str
    step: bool = False
    clock: bool = False


def parse_remap(pairs: Sequence[str]) -> dict[str, str]:
    """["a:=b"] → {"a": "b"}"""
    result = {}
    for pair in pairs:
        old, colon, new = pair.partition(":=")
        if not colon or not old or not new:
            raise Error("invalid_config", f"invalid --remap {pair}: give OLD:=NEW, e.g. tilt:=scan")
        result[old.strip("/")] = new.strip("/")
    return result


def show_source(source: Source, path: Path, console: Console) -> None:
    """Prints the contents of a recording."""
    seconds = (source.end_ns - source.start_ns) / 1e9
    when = utc(source.start_ns)
    say(console, f"{path}: {source.kind}, {seconds:.1f} s from {when}")
    made = table("", ["channel", "type", "messages", "rate", "from"], ["messages", "rate"])
    for track in sorted(source.tracks, key=lambda track: track.channel):
        rate = f"{track.count / seconds:.1f} Hz" if seconds > 0 else ""
        kind = cell(track.type_name)
        if track.problem:
            kind = f"[yellow]left out: {cell(track.problem)}[/yellow]"
        made.add_row(cell(track.channel), kind, f"{track.count:,}", rate, cell(track.origin))
    console.print(made)
    for warning in source.warnings:
        say(console, f"warning: {warning}")


class ReplayClock:
    """Publishes the times of a recording as the robot's time. `hyphos time` can pause it, step it
    and change its speed, and the messages follow."""

    def __init__(self, node: Node, start_ns: int, rate: float) -> None:
        self._paced = rate > 0
        start_ns = min(max(0, start_ns), _MOST_TIME)
        self._time = SimTime(node, start_ns=start_ns, speed=rate or 1.0, manual=True, replayed=True)
        self._due_s = time.monotonic()

    def begin(self, start_ns: int) -> None:
        """Starts a pass. A second pass is a jump back."""
        start_ns = min(max(0, start_ns), _MOST_TIME)
        if self._time.now_ns() != start_ns:
            self._time.jump(time_ns=start_ns)
        self._due_s = time.monotonic()

    def advance_to(self, time_ns: int, stop: Stop) -> bool:
        """Advances the time until a message is due. Returns False on a stop request."""
        while (left := time_ns - self._time.now_ns()) > 0:
            step = min(left, _TICK_NS)
            if self._paced:
                self._due_s += step / 1e9 / self._time.speed
                early = self._due_s - time.monotonic()
                if early > 0 and stop.wait(early):
                    return False
            paused = self._time.paused
            if not self._time.advance(duration_ms=step / 1e6, give_up=lambda: stop.now):
                return False
            if paused:  # real time continued during the pause
                self._due_s = time.monotonic()
        return not stop.now


class Player:
    """Publishes the items of a source on the channels of a node."""

    def __init__(self, source: Source, node: Node, options: PlayOptions) -> None:
        self._source = source
        self._options = options
        self._remap = parse_remap(options.remap)
        self._check_remap()
        self._publishers: dict[int, Publisher[Any]] = {}
        self._left_out: list[Track] = []
        self._open_all(node)
        if not self._publishers:
            raise Error(
                "not_found",
                "no channel of the recording to play",
                str(options.file),
                shlex.join(["hyphos", "replay", str(options.file), "--list"]),
            )
        self.published = self.failed = 0
        self.pace = Pace(options.rate, stepping=options.step)
        paced = 0.0 if options.step else options.rate
        self._clock = ReplayClock(node, self.span()[0], paced) if options.clock else None

    def _open_all(self, node: Node) -> None:
        """Opens all channels. A channel that fails does not stop the others."""
        failures: list[Error] = []
        for track in self._source.tracks:
            if not self._wanted(track):
                continue
            if not track.problem:
                try:
                    self._publishers[id(track)] = self._open(track, node)
                    continue
                except Error as error:
                    failures.append(error)
                    track.problem = error.message
            self._left_out.append(track)
        if failures and not self._publishers:
            raise failures[0]

    def report(self) -> list[str]:
        """One line for each omitted channel and each kind of omitted message."""
        lines = [
            f"left out: {track.origin or track.channel}, {track.count:,} messages: {track.problem}"
            for track in self._left_out
        ]
        return lines + self._source.skipped.lines()

    def _check_remap(self) -> None:
        known = {track.channel for track in self._source.tracks}
        for old in self._remap:
            if old not in known:
                raise Error(
                    "not_found",
                    f"--remap {old}: the recording has no channel '{old}', "
                    f"only {', '.join(sorted(known))}",
                    str(self._options.file),
                )

    def _wanted(self, track: Track) -> bool:
        return any(fnmatchcase(track.channel, p.strip("/")) for p in self._options.patterns)

    def _is_open(self, track: Track) -> bool:
        return id(track) in self._publishers

    def _open(self, track: Track, node: Node) -> Publisher[Any]:
        if track.type_hash is None:
            kind = TypeId(track.type_name, track.encoding)
        else:
            kind = TypeId.known(track.type_name, track.encoding, track.type_hash)
        wish: dict[str, Any] = dict(track.policy)
        if self._options.rate == 0:
            # As fast as the subscribers can receive.
            wish |= {"reliability": "reliable", "overflow": "block", "block_timeout_ms": 10_000}
        channel = self._remap.get(track.channel, track.channel)
        announce(node.runtime, track)
        return node.publisher(channel, Raw(kind), policy=Policy(**wish))

    @property
    def publishers(self) -> list[Publisher[Any]]:
        return list(self._publishers.values())

    def span(self) -> tuple[int, int]:
        """The first and the last (exclusive) nanosecond to play."""
        return part_of(self._source, self._options.start_s, self._options.end_s)

    def play_once(self, stop: Stop, progress: Any) -> None:
        """Plays once. `progress(position_ns)` is called about ten times per second."""
        start_ns, end_ns = self.span()
        shown = 0.0
        self.pace.begin()
        if self._clock is not None:
            self._clock.begin(start_ns)
        # The clock keeps the pace, unless the user steps.
        paced = self._clock is None or self._options.step
        for item in playable(self._source, self._source.items(self._is_open, start_ns, end_ns)):
            if paced and not self.pace.wait(item.time_ns - start_ns, stop):
                return
            if self._clock is not None and not self._clock.advance_to(item.time_ns, stop):
                return
            self._publish(item)
            if self._options.step and not self._options.quiet:
                print(
                    f"{(item.time_ns - start_ns) / 1e9:10.6f} s  {item.track.channel}", flush=True
                )
            if (now := time.monotonic()) - shown >= _BAR_EVERY_S:
                progress(item.time_ns - start_ns)
                shown = now

    def _publish(self, item: Item) -> None:
        value = (item.payload, item.buffers)
        if self._publishers[id(item.track)].publish(value):
            self.published += 1
        else:
            self.failed += 1


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.fields[name]}"),
        BarColumn(),
        TextColumn("{task.fields[at]:.1f} / {task.fields[of]:.1f} s"),
        TextColumn("{task.fields[count]:,} messages"),
        console=console,
        auto_refresh=False,
    )


def _is_joined(player: Player, domain: str) -> bool:
    """True if a subscriber has joined, and with it all that subscribe in the domain now.

    They join one after the other, and each of them needs the first messages of its channels.
    """
    if not any(publisher.listeners for publisher in player.publishers):
        return False
    seen = look(domain)
    types = {
        end.channel: end.type_name
        for process, end in seen.ends()
        if end.is_publisher and process.pid == os.getpid()
    }

    def subscribers(channel: str) -> int:
        """The subscriptions of one process are one listener."""
        return len(
            {
                process.participant
                for process, end in seen.ends(channel)
                if not end.is_publisher and end.type_name == types.get(channel)
            }
        )

    return all(one.listeners >= subscribers(one.channel) for one in player.publishers)


def play(options: PlayOptions) -> int:
    """Plays to the end, or until Ctrl-C. Raises an error if messages could not be delivered.

    Returns LEFT_OUT if a part of the recording could not be played.
    """
    if options.rate < 0:
        raise Error("invalid_config", f"--rate {options.rate:g} must not be negative")
    source = open_source(options.file)
    console = make_console() if options.show else Console(stderr=True, highlight=False)
    try:
        if options.show:
            show_source(source, options.file, console)
            return LEFT_OUT if source.damaged else 0
        with stoppable() as stop, open_tool("replay", options.domain) as node:
            player = Player(source, node, options)
            for warning in source.warnings:
                say(console, f"warning: {warning}")
            if options.wait_s:
                head = f"waiting for subscribers, for at most {options.wait_s:g} s"
                with reporting(lambda: process_lines(head, options.domain)):
                    until(lambda: _is_joined(player, options.domain), options.wait_s, stop)
            with _keys(player, options, console):
                _run(player, stop, console, options)
    finally:
        source.close()
    if not options.quiet:
        console.print(
            f"published {player.published:,} messages on {len(player.publishers)} channels"
        )
        if player.pace.latest_s > _LATE_S and options.rate:
            console.print(
                f"warning: up to {player.pace.latest_s * 1e3:.0f} ms late, try a lower --rate"
            )
    left_out = player.report()
    for line in left_out:
        say(console, line)
    if player.failed:
        raise Error("overloaded", f"{player.failed:,} messages were not delivered")
    return LEFT_OUT if left_out or source.damaged else 0


def _keys(player: Player, options: PlayOptions, console: Console) -> AbstractContextManager[object]:
    """Keys act on a terminal, or on any input with --step."""
    if not options.step and not (sys.stdin.isatty() and console.is_terminal):
        return nullcontext()
    if not options.quiet:
        console.print(Keys.HELP)
    return Keys(player.pace)


def _run(player: Player, stop: Stop, console: Console, options: PlayOptions) -> None:
    start_ns, end_ns = player.span()
    total_s = max(0.0, (end_ns - start_ns) / 1e9)
    if total_s == 0.0 and end_ns < start_ns:
        raise Error("invalid_config", "--start is after the end of the part to play")
    if options.quiet or options.step or not console.is_terminal:
        while True:
            player.play_once(stop, lambda _position: None)
            if not options.loop or stop.now:
                return
    with _bar(console) as bar:
        task = bar.add_task("", total=total_s, name=options.file.name, at=0.0, of=total_s, count=0)

        def progress(position_ns: int) -> None:
            at = position_ns / 1e9
            bar.update(task, completed=at, at=at, count=player.published, refresh=True)

        while True:
            player.play_once(stop, progress)
            if not options.loop or stop.now:
                break
        if not stop.now:
            progress(end_ns - start_ns)
