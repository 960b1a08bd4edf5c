"""hyphos record: subscribes to channels as they appear and writes what comes.

Callbacks copy a message out of its slot and queue it; one thread compresses and writes. The queue
is bounded in bytes; what does not fit is dropped and counted, so a slow disk never slows the robot.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hyphos._errors import Error
from hyphos._hyphos import Buffer, EndpointInfo, MessageInfo, Policy
from hyphos.node import Node
from hyphos.recording import attached
from hyphos.recording.mcap_file import McapRecording
from hyphos.tools.join import open_tool, raw_type
from hyphos.tools.observe import is_hidden, look
from hyphos.tools.typebook import TypeBook
from hyphos.tools.waiting import stoppable

_LOOK_EVERY_S = 0.25
_FLUSH_EVERY_S = 1.0
_DEPTH = 64  # messages that may wait for our callback, per publisher


@dataclass
class RecordOptions:
    patterns: Sequence[str]
    exclude: Sequence[str]
    output: Path | None
    seconds: float | None
    chunk_bytes: int
    compression: str
    queue_bytes: int
    overwrite: bool
    quiet: bool
    domain: str
    proto_path: Sequence[Path]
    descriptors: Sequence[Path]


@dataclass
class ChannelCount:
    """received = written + drop_queue; the publishers sent received + missing since we came."""

    received: int = 0
    written: int = 0
    bytes: int = 0
    missing: int = 0  # gaps in the publishers' numbers: lost before us
    drop_queue: int = 0  # lost by us: the disk was too slow


class _Entry(NamedTuple):
    channel_id: int
    tally: ChannelCount
    log_ns: int
    publish_ns: int
    sequence: int
    data: bytes


@dataclass
class _Inbox:
    """The bounded queue between callbacks and the writer."""

    limit: int
    entries: deque[_Entry] = field(default_factory=deque)
    size: int = 0
    closed: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def put(self, entry: _Entry) -> bool:
        with self.changed:
            if self.size + len(entry.data) > self.limit and self.entries:
                return False
            self.entries.append(entry)
            self.size += len(entry.data)
            self.changed.notify()
            return True

    def take(self, timeout_s: float) -> _Entry | None:
        with self.changed:
            if not self.entries and not self.closed:
                self.changed.wait(timeout_s)
            if not self.entries:
                return None
            entry = self.entries.popleft()
            self.size -= len(entry.data)
            return entry

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify()


def default_name() -> str:
    return time.strftime("%Y-%m-%d_%H-%M-%S.mcap")


class Recorder:
    """Records until close(). Thread-safe."""

    def __init__(self, node: Node, options: RecordOptions, path: Path) -> None:
        self._node = node
        self._options = options
        self._file = McapRecording(
            path,
            TypeBook(options.proto_path, options.descriptors),
            chunk_bytes=options.chunk_bytes,
            compression=options.compression,
            overwrite=options.overwrite,
        )
        self._inbox = _Inbox(options.queue_bytes)
        self._file_lock = threading.Lock()
        self.counts: dict[str, ChannelCount] = {}
        self.bytes_on_disk = 0
        self.failure: OSError | None = None
        self._writer = threading.Thread(target=self._write_all, name="mcap-writer")
        self._writer.start()

    @property
    def unknown_types(self) -> set[str]:
        return self._file.unknown_types

    def discover(self) -> None:
        """Subscribes to channels that have appeared since the last call."""
        for _, end in look(self._options.domain).ends():
            if end.is_publisher and end.channel not in self.counts and self._wanted(end.channel):
                self._add(end)

    def _wanted(self, channel: str) -> bool:
        # What Hyphos itself uses is recorded only if it is asked for: "*/_params".
        patterns = [p for p in self._options.patterns if is_hidden(p) or not is_hidden(channel)]
        matches = [fnmatchcase(channel, pattern) for pattern in patterns]
        return any(matches) and not any(fnmatchcase(channel, p) for p in self._options.exclude)

    def _add(self, end: EndpointInfo) -> None:
        count = ChannelCount()
        policy = {
            "reliability": end.policy.reliability,
            "overflow": end.policy.overflow,
            "latched": end.policy.latched,
            "depth": end.policy.depth,
        }
        with self._file_lock:
            channel_id = self._file.add_channel(
                end.channel, end.type_name, end.encoding, end.type_hash, policy
            )
        last: dict[int, int] = {}

        def arrived(value: tuple[Buffer, list[Buffer]], info: MessageInfo) -> None:
            now_ns = time.time_ns()
            stamps = info.stamps
            before = last.get(info.sender)
            if before is not None and info.sequence > before + 1:
                count.missing += info.sequence - before - 1
            last[info.sender] = info.sequence
            payload, buffers = value
            data = attached.join(bytes(payload), buffers) if buffers else bytes(payload)
            count.received += 1
            published_ns = now_ns - (stamps["callback"] - stamps["publish"])
            entry = _Entry(channel_id, count, now_ns, published_ns, info.sequence, data)
            if not self._inbox.put(entry):
                count.drop_queue += 1

        self.counts[end.channel] = count
        # Best effort whatever the channel says: a recorder must not hold up the robot.
        wish = Policy(latched=end.policy.latched, depth=max(_DEPTH, end.policy.depth))
        self._node.subscribe(end.channel, raw_type(end), arrived, policy=wish)

    def _write_all(self) -> None:
        flushed = time.monotonic()
        try:
            while True:
                entry = self._inbox.take(_FLUSH_EVERY_S)
                if entry is None and self._inbox.closed:
                    return
                with self._file_lock:
                    if entry is not None:
                        self._write(entry)
                    if time.monotonic() - flushed >= _FLUSH_EVERY_S:
                        self._file.flush()
                        self.bytes_on_disk = self._file.size
                        flushed = time.monotonic()
        except OSError as error:
            self.failure = error

    def _write(self, entry: _Entry) -> None:
        self._file.write(
            entry.channel_id, entry.log_ns, entry.publish_ns, entry.sequence, entry.data
        )
        entry.tally.written += 1
        entry.tally.bytes += len(entry.data)

    def close(self) -> None:
        """Ends the subscriptions, writes what waits, the counters and the index."""
        self._node.close()
        self._inbox.close()
        self._writer.join()
        if self.failure is not None:
            raise Error(
                "exhausted",
                f"writing failed: {self.failure.strerror}; complete chunks are readable",
                str(self._file.path),
                "free space on the disk",
            ) from self.failure
        summary = {name: json.dumps(asdict(count)) for name, count in self.counts.items()}
        self._file.close(summary)
        self.bytes_on_disk = self._file.path.stat().st_size


def _status(recorder: Recorder, started: float) -> Text:
    counts = recorder.counts.values()
    lost = sum(count.missing + count.drop_queue for count in counts)
    line = Text(
        f"● {time.monotonic() - started:.0f} s   {len(recorder.counts)} channels   "
        f"{sum(count.received for count in counts):,} messages   "
        f"{sum(count.bytes for count in counts) / 1e6:,.1f} MB "
        f"({recorder.bytes_on_disk / 1e6:,.1f} on disk)   "
    )
    line.append(f"{lost:,} lost", "red" if lost else "")
    return line


def _target(options: RecordOptions) -> Path:
    if options.output is None:
        return Path(default_name())
    if options.output.suffix == ".mcap":
        options.output.parent.mkdir(parents=True, exist_ok=True)
        return options.output
    options.output.mkdir(parents=True, exist_ok=True)
    return options.output / default_name()


def record_channels(options: RecordOptions) -> int:
    """Records until Ctrl-C, SIGTERM or the time limit. 1 if nothing was recorded."""
    path = _target(options)
    console = Console(stderr=True, highlight=False)
    with stoppable(options.seconds) as stop:
        node = open_tool("recorder", options.domain)
        recorder = Recorder(node, options, path)
        started = time.monotonic()
        if not options.quiet:
            console.print(f"recording to {path}; Ctrl-C ends it")
        show = console.is_terminal and not options.quiet
        with (
            Live(console=console, auto_refresh=False, transient=True)
            if show
            else _Nothing() as live
        ):
            while True:
                recorder.discover()
                if isinstance(live, Live):
                    live.update(_status(recorder, started), refresh=True)
                if recorder.failure is not None or stop.wait(_LOOK_EVERY_S):
                    break
        recorder.close()
    if not options.quiet:
        console.print(_status(recorder, started))
        for name in sorted(recorder.unknown_types):
            console.print(f"{name} is recorded without its schema: give --proto-path")
        console.print(f"wrote {path}")
    missing = [p for p in options.patterns if "*" not in p and p not in recorder.counts]
    for name in missing:
        console.print(f"warning: nobody published '{name}'")
    return 0 if any(count.written for count in recorder.counts.values()) else 1


class _Nothing:
    """In place of a live display."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None
