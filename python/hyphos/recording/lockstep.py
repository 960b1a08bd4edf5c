"""hyphos replay --lockstep: runs nodes of a plan on a recording, with identical outputs each time.

All nodes run in this process, without transports, one callback at a time. The player publishes a
message, then all its consequences run to their end, then the next message follows. Clocks and
timers use the time of the recording. It advances in ticks, and stops while callbacks run. So the
number of threads and the load of the machine have no influence. Nodes that start their own threads,
or read another clock than that of their node, are not covered.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import ManualClock, Plan, Policy, TypeId
from hyphos.node import Node, Runtime
from hyphos.observe import is_hidden
from hyphos.publisher import Publisher
from hyphos.recording.bag import progress_bar
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.opening import open_source
from hyphos.recording.player import parse_remap
from hyphos.recording.schemas import SchemaBook, announce, recorded_policy, without_schema
from hyphos.recording.source import LEFT_OUT, Source, Track, part_of, playable
from hyphos.recording.track_filter import wanted
from hyphos.ros.typebook import TypeBook
from hyphos.stepped import SteppedNodes
from hyphos.tools.console import say

_SECOND = 1_000_000_000
_WAITING_BYTES = 256 << 20  # queued for the disk, beyond it the next message waits
_DISK_LOOK_S = 0.01
_MOST_TIME = (1 << 63) - 1
_PLAYER, _RECORDER = "replay", "recorder"


@dataclass
class LockstepOptions:
    """Options of `hyphos replay --lockstep`."""

    file: Path
    plan: Path
    output: Path
    nodes: Sequence[str] = ()
    patterns: Sequence[str] = ()
    remap: Sequence[str] = ()
    settings: Sequence[str] = ()
    threads: int = 0
    start_s: float = 0.0
    end_s: float | None = None
    tick_ms: float = 10.0
    overwrite: bool = False
    compression: str = "zstd"
    quiet: bool = False


@dataclass
class _Choice:
    """The nodes to run and the channels to play."""

    nodes: list[dict[str, Any]]
    tracks: list[Track]
    notes: list[str] = field(default_factory=list)


def _publishes(plan: dict[str, Any], channel: str) -> set[str]:
    for entry in plan["channels"]:
        if entry["name"] == channel:
            return set(entry.get("publishers") or [])
    return set()


def choose(
    plan: dict[str, Any], source: Source, options: LockstepOptions, remap: dict[str, str]
) -> _Choice:
    """Chooses the nodes under test and their inputs. One choice determines the other."""
    if not options.nodes and not options.patterns:
        raise Error(
            "invalid_config",
            "give the nodes to test (--node), or the channels to play (-c)",
            str(options.file),
        )
    kinds = ("plugin", "python", "builtin")
    hosted = {node["name"]: node for node in plan["nodes"] if node["kind"] in kinds}
    unknown = [name for name in options.nodes if name not in hosted]
    if unknown:
        raise Error(
            "not_found",
            f"the plan has no plug-in or Python node '{unknown[0]}', "
            f"only {', '.join(sorted(hosted)) or 'none'}",
            str(options.plan),
            "executables cannot run in lock-step, because they are separate processes",
        )
    tracks, notes = [], []
    for track in source.tracks:
        channel = remap.get(track.channel, track.channel)
        clock = channel == plan["clock"]["channel"]  # this run publishes the time
        if clock or track.problem or not wanted(track, options.patterns or ["*"]):
            continue
        made_here = _publishes(plan, channel) & set(options.nodes)
        if made_here and not options.patterns:
            notes.append(f"{channel} is not played: {', '.join(sorted(made_here))} publishes it")
            continue
        tracks.append(track)
    played = {remap.get(track.channel, track.channel) for track in tracks}
    if not played:
        raise Error("not_found", "no channel of the recording to play", str(options.file))
    names = list(options.nodes) or list(hosted)
    if not options.nodes:
        for name in list(names):
            replaced = sorted(c for c in played if name in _publishes(plan, c))
            if replaced:
                names.remove(name)
                notes.append(
                    f"{name} does not run: the recording provides its {', '.join(replaced)}"
                )
        for node in plan["nodes"]:
            if node["kind"] not in kinds:
                what = "a gateway" if node["kind"] == "gateway" else "a separate program"
                notes.append(f"{node['name']} does not run: it is {what}")
    if not names:
        raise Error("invalid_config", "no node left to test", str(options.plan), "--node")
    return _Choice([hosted[name] for name in names], tracks, notes)


class Lockstep:
    """One run. All access to the graph is from its thread pool."""

    _nodes: SteppedNodes  # set by run()
    _part: tuple[int, int]  # part of the recording, set by run()

    def __init__(self, options: LockstepOptions) -> None:
        self._options = options
        self._remap = parse_remap(options.remap)
        self._plan = json.loads(Plan.load(str(options.plan), list(options.settings), False).json())
        self._source = open_source(options.file)
        self.choice = choose(self._plan, self._source, options, self._remap)
        clock = self._plan["clock"]["channel"]
        self._ours = {clock, f"{clock}/answer", f"{clock}/control"}
        self._clock = ManualClock()
        self._recorder = _hyphos.Recorder.open(
            str(options.output),
            overwrite=options.overwrite,
            compression=options.compression,
            deterministic=True,
            clock=self._clock,
            queue_bytes=2 * _WAITING_BYTES,
        )
        self._types = TypeBook()
        self._schemas = SchemaBook(self._types)
        self._recorded: set[str] = set()
        self.played = 0

    @property
    def source(self) -> Source:
        return self._source

    @property
    def unknown_types(self) -> set[str]:
        """The types that are recorded without their definitions."""
        return self._schemas.unknown_types

    def counts(self) -> dict[str, dict[str, int]]:
        """The counters of the outputs, by channel."""
        return self._recorder.status().channels

    def run(self) -> None:
        self._nodes = SteppedNodes(
            self._options.plan,
            self.choice.nodes,
            settings=self._options.settings,
            threads=self._options.threads,
        )
        runtime = self._nodes.runtime
        player, recorder = runtime.node(_PLAYER), runtime.node(_RECORDER)
        publishers = {id(track): self._publisher(track, player) for track in self.choice.tracks}
        played = {publisher.channel for publisher in publishers.values()}
        self._part = part_of(self._source, self._options.start_s, self._options.end_s)
        start_ns, end_ns = self._span()
        self._clock.ns = start_ns
        self._nodes.begin_time(player, start_ns, replayed=True)
        try:
            self._nodes.start()
            self._record_new(runtime, recorder, played)
            self._play(runtime, recorder, publishers, played, start_ns, end_ns)
            runtime.settle()
        finally:
            self._nodes.close()
            player.close()
            self._recorder.close()
            recorder.close()
            self._source.close()

    def _publisher(self, track: Track, node: Node) -> Publisher[Any]:
        from hyphos.types import Raw  # noqa: PLC0415

        kind = (
            TypeId(track.type_name, track.encoding)
            if track.type_hash is None
            else TypeId.known(track.type_name, track.encoding, track.type_hash)
        )
        policy: dict[str, Any] = dict(track.policy)
        announce(node.runtime, track)
        channel = self._remap.get(track.channel, track.channel)
        return node.publisher(channel, Raw(kind), policy=Policy(**policy))

    def _span(self) -> tuple[int, int]:
        start, end = self._part
        # The outputs go to an MCAP file, which has no time before 1970.
        return max(0, start), min(end, _MOST_TIME)

    def _advance(self, until_ns: int) -> None:
        """Advances the time of the recording, and calls the timers that become due."""
        tick_ns = max(1, round(self._options.tick_ms * 1e6))
        while self._clock.ns < until_ns:
            span_ns = min(tick_ns, until_ns - self._clock.ns)
            self._clock.ns += span_ns
            self._nodes.advance(span_ns)
        while self._recorder.status().waiting_bytes > _WAITING_BYTES:
            time.sleep(_DISK_LOOK_S)

    def _record_new(self, runtime: Runtime, node: Node, played: set[str]) -> None:
        """Records new outputs. Called at instants of the recording, so that runs are identical."""
        for channel in runtime.channels():
            if channel.publishers == 0 or channel.name in self._recorded | played:
                continue
            if is_hidden(channel.name) or channel.name in self._ours:  # channels of Hyphos itself
                continue
            kind, policy = channel.type, channel.policy
            self._types.add(runtime.announced_types())
            spec = self._schemas.spec(
                channel.name,
                kind.name,
                kind.encoding,
                kind.hash,
                recorded_policy(policy),
            )
            number = self._recorder.add_channel(
                spec.channel,
                spec.message_encoding,
                spec.schema_name,
                spec.schema_encoding,
                spec.schema_data,
                spec.metadata,
                policy.latched_depth if policy.latched else 0,
            )
            self._recorded.add(channel.name)
            self._recorder.subscribe(node._core, number, channel.name, kind, policy)

    def _play(
        self,
        runtime: Runtime,
        recorder: Node,
        publishers: dict[int, Publisher[Any]],
        played: set[str],
        start_ns: int,
        end_ns: int,
    ) -> None:
        looked_ns = start_ns
        total = sum(track.count for track in self.choice.tracks)
        with progress_bar("replaying", total) as progress:
            items = self._source.items(lambda track: id(track) in publishers, *self._part)
            for item in playable(self._source, items):
                if item.time_ns < 0:
                    self._source.skipped.add(item.track, "its time is before 1970")
                    continue
                self._advance(item.time_ns)
                publisher, value = publishers[id(item.track)], (item.payload, item.buffers)
                runtime.settle(partial(publisher.publish, value))
                self.played += 1
                if self.played == 1 or item.time_ns - looked_ns >= _SECOND:
                    looked_ns = item.time_ns
                    self._record_new(runtime, recorder, played)
                progress(self.played)
        self._advance(end_ns)


def digest(path: Path) -> str:
    """A digest over all messages of a recording: channels, times, numbers and bytes, in order."""
    state = hashlib.sha256()
    scan = Scan(path)
    for messages in scan.messages():
        for message in messages:
            channel = scan.channels[message.channel]
            head = (channel.topic, message.log_ns, message.publish_ns, message.sequence)
            state.update(repr((*head, len(message.data))).encode())
            state.update(message.data)
    return state.hexdigest()


def replay_in_lockstep(options: LockstepOptions) -> int:
    console = Console(stderr=True, highlight=False)
    run = Lockstep(options)
    if not options.quiet:
        names = ", ".join(node["name"] for node in run.choice.nodes)
        channels = ", ".join(sorted(track.channel for track in run.choice.tracks))
        say(console, f"testing {names} with {channels}")
        for note in run.choice.notes:
            say(console, f"note: {note}")
    try:
        run.run()
    except BaseException:
        options.output.unlink(missing_ok=True)  # a part would look like a result
        raise
    scan = Scan(options.output).read()
    lost = {
        name: count["drop_queue"] for name, count in run.counts().items() if count["drop_queue"]
    }
    if lost:
        raise Error(
            "overloaded", f"one message caused more output than the queue holds: lost {lost}"
        )
    print(
        f"{options.output}: {run.played:,} messages played, {sum(scan.counts.values()):,} recorded "
        f"on {len(scan.channels):,} channels, digest {digest(options.output)}"
    )
    unknown = without_schema(run.unknown_types)
    for line in (*run.source.warnings, *run.source.skipped.lines(), *unknown):
        say(console, line)
    return LEFT_OUT if run.source.damaged or run.source.skipped else 0
