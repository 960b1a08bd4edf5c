"""hyphos record: subscribes to channels as they appear. The C++ recorder receives and writes the
messages.

Python only discovers channels, shows the status, and replies to `hyphos record --snapshot`.
"""

from __future__ import annotations

import json
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import (
    Buffer,
    EndpointInfo,
    MessageInfo,
    Plan,
    Policy,
    RecorderStatus,
    Subscription,
)
from hyphos.node import Node
from hyphos.observe import domains_text, look, matches
from hyphos.recording import session
from hyphos.recording.control import ControlServer, ask, recorders
from hyphos.recording.schemas import (
    NOT_CONVERTIBLE,
    Conversion,
    Conversions,
    SchemaBook,
    recorded_policy,
    without_schema,
)
from hyphos.recording.suffixes import require_mcap_name
from hyphos.ros.typebook import TypeBook
from hyphos.tools.join import open_tool, raw_type, stays_inside
from hyphos.tools.waiting import Stop
from hyphos.tools.waits import AFTER_S, channel_lines, names_text, others, process_lines, reporting

if TYPE_CHECKING:  # `hyphos.Recording` works without rich
    from rich.console import Console
    from rich.text import Text

LOOK_EVERY_S = 0.25
# Bytes that may wait in shared memory between a publisher and the recorder's thread.
_LANE_BYTES = 64 << 20
_LEAST_DEPTH, _MOST_DEPTH = 64, 8192
_DEPTH_OF = {"attached": 64, "bytes": 512}  # while the size of messages is unknown
_USUAL_DEPTH = 2048


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
    plan: Path | None = None
    split_bytes: int = 0
    split_s: float = 0.0
    keep_files: int = 0
    ring_bytes: int = 0
    ring_s: float = 0.0
    sync: bool = False
    conversions: Conversions | None = None  # None: every type keeps its own schema

    @property
    def ring(self) -> bool:
        return bool(self.ring_bytes or self.ring_s)


def default_name() -> str:
    return time.strftime("%Y-%m-%d_%H-%M-%S.mcap")


def _depth(end: EndpointInfo) -> int:
    """Messages that may wait in shared memory: many small ones, few large ones."""
    sent, size = end.counter("sent"), end.counter("bytes")
    if sent and size:
        guess = _LANE_BYTES // max(1, size // sent)
    else:
        guess = _DEPTH_OF.get(end.encoding, _USUAL_DEPTH)
    return max(end.policy.depth, min(_MOST_DEPTH, max(_LEAST_DEPTH, guess)))


class Recorder:
    """Records until close(). Thread-safe."""

    def __init__(self, node: Node, options: RecordOptions, path: Path) -> None:
        self._node = node
        self._options = options
        self._path = path
        book = TypeBook(options.proto_path, options.descriptors, options.domain)
        if options.plan is not None:
            # `hyphos.Recording` has no plan, and loads no application.
            from hyphos.supervise.plan_types import plan_types  # noqa: PLC0415

            book.add(plan_types(json.loads(Plan.load(str(options.plan), [], False).json())))
        self._schemas = SchemaBook(book)
        self._core = _hyphos.Recorder.open(
            "" if options.ring else str(path),
            overwrite=options.overwrite,
            chunk_bytes=options.chunk_bytes,
            compression=options.compression,
            queue_bytes=options.queue_bytes,
            split_bytes=options.split_bytes,
            split_ns=round(options.split_s * 1e9),
            keep_files=options.keep_files,
            ring_bytes=options.ring_bytes,
            ring_ns=round(options.ring_s * 1e9),
            sync=options.sync,
        )
        session.describe_session(self._core, options.domain, options.plan)
        self._channels: set[str] = set()
        self._omitted: set[str] = set()
        self._converting: list[Subscription] = []
        self.snapshots: list[str] = []

    @property
    def unknown_types(self) -> set[str]:
        return self._schemas.unknown_types

    @property
    def channels(self) -> set[str]:
        return self._channels

    def status(self) -> RecorderStatus:
        return self._core.status()

    def discover(self) -> None:
        """Subscribes to channels that have appeared since the last call."""
        for _, end in look(self._options.domain).ends():
            if not end.is_publisher or end.channel in self._channels:
                continue
            if not self._wanted(end.channel):
                continue
            if stays_inside(end):
                self._omit(end)
            else:
                self._add(end)

    def _omit(self, end: EndpointInfo) -> None:
        if end.channel in self._omitted:
            return
        self._omitted.add(end.channel)
        self._node.log.warn(
            f"{end.channel}: not recorded, because the C++ type {end.type_name} has no serializer "
            "and stays in its process"
        )

    def _wanted(self, channel: str) -> bool:
        return matches(channel, self._options.patterns, self._options.exclude)

    def _add(self, end: EndpointInfo) -> None:
        policy = recorded_policy(end.policy)
        convert = self._options.conversions
        known = convert(end.type_name, end.encoding) if convert is not None else None
        if known is not None:
            spec = known.spec(end.channel, policy)
        else:
            spec = self._schemas.spec(
                end.channel, end.type_name, end.encoding, end.type_hash, policy
            )
        channel_id = self._core.add_channel(
            end.channel,
            spec.message_encoding,
            spec.schema_name,
            spec.schema_encoding,
            spec.schema_data,
            spec.metadata,
            end.policy.latched_depth if end.policy.latched else 0,
        )
        self._channels.add(end.channel)
        # Always best effort: a recorder must not block the robot.
        wish = Policy(latched=end.policy.latched, depth=_depth(end))
        if known is None:
            self._core.subscribe(self._node._core, channel_id, end.channel, raw_type(end).id, wish)
        else:
            write = self._converter(channel_id, known)
            subscribed = self._node.subscribe(end.channel, raw_type(end), write, policy=wish)
            self._converting.append(subscribed)

    def _converter(self, channel_id: int, known: Conversion) -> Callable[..., None]:
        """A callback that records the converted messages of a channel. It runs in Python, in the
        thread pool."""

        def write(value: tuple[Buffer, list[Buffer]], info: MessageInfo) -> None:
            age_ns = info.stamps["callback"] - info.stamps["publish"]
            publish_ns = time.time_ns() - max(0, age_ns)
            try:
                data = known.convert(value[0], value[1], publish_ns)
            except NOT_CONVERTIBLE:
                self._core.refuse(channel_id, info.sequence, info.sender)
                return
            self._core.accept(
                channel_id, publish_ns, data, sequence=info.sequence, sender=info.sender
            )

        return write

    def read_parameters(self) -> None:
        """Stores the parameters of the nodes that run now."""
        read = session.live_parameters()
        values = read(self._node, self._options.domain) if read is not None else {}
        if values:
            self._core.describe(session.PARAMS, values)

    def _snapshot_name(self) -> Path:
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        base = self._path
        for number in range(1000):
            tail = stamp if number == 0 else f"{stamp}_{number}"
            name = base.with_name(f"{base.stem}_{tail}.mcap")
            if not name.exists():
                return name
        raise Error("already_exists", "a thousand snapshots of this second exist", str(base))

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Executes one request of another process. See hyphos.recording.control."""
        wish = request.get("do")
        if wish == "snapshot":
            path = Path(request["path"]) if request.get("path") else self._snapshot_name()
            done = self._core.snapshot(str(path.absolute()), bool(request.get("overwrite")))
            self.snapshots.append(done.path)
            return {
                "path": done.path,
                "messages": done.messages,
                "bytes": done.bytes,
                "seconds": (done.end_ns - done.start_ns) / 1e9,
            }
        if wish == "split":
            self._core.split()
            return {}
        if wish == "status":
            status = self.status()
            return {
                "ring": self._options.ring,
                "channels": status.channels,
                "files": status.files,
                "bytes_on_disk": status.bytes_on_disk,
                "failure": status.failure,
            }
        raise Error("unsupported", f"a recorder has no command '{wish}'")

    def close(self) -> None:
        """Ends the subscriptions. Writes queued messages, counters and the index."""
        for subscription in self._converting:
            subscription.close()
        self._core.close()
        self._node.close()


_LOSSES = {
    "missing": "did not arrive",
    "drop_queue": "at a full queue to the disk",
    "drop_disk": "at a write error",
    "drop_convert": "not convertible to the schema",
}


def _size(count: float) -> str:
    return f"{count / 1e6:,.1f} MB"


def _status(recorder: Recorder, started: float) -> Text:
    from rich.text import Text  # noqa: PLC0415

    status = recorder.status()
    counts = list(status.channels.values())

    def total(name: str) -> int:
        return sum(count[name] for count in counts)

    lost = sum(total(name) for name in _LOSSES)
    where = (
        f"{_size(status.ring_bytes)}, {status.ring_ns / 1e9:.1f} s kept"
        if recorder._options.ring
        else f"{_size(status.bytes_on_disk)} on disk"
    )
    line = Text(
        f"● {time.monotonic() - started:.0f} s   {len(recorder.channels)} channels   "
        f"{total('received'):,} messages   {_size(total('bytes'))} ({where})   "
    )
    line.append(f"{lost:,} lost", "red" if lost else "")
    if len(status.files) > 1:
        line.append(f"   {len(status.files)} files")
    return line


def _lost(recorder: Recorder) -> list[str]:
    """One line per channel that lost messages, with the reasons."""
    lines = []
    for name, count in sorted(recorder.status().channels.items()):
        reasons = [f"{count[key]:,} {words}" for key, words in _LOSSES.items() if count[key]]
        if reasons:
            whole = count["received"] + count["missing"]
            lost = sum(count[key] for key in _LOSSES)
            lines.append(f"{name}: {lost:,} of {whole:,} lost: {', '.join(reasons)}")
    return lines


def _target(options: RecordOptions) -> Path:
    if options.output is None:
        return Path(default_name()) if not options.ring else Path("ring.mcap")
    require_mcap_name(options.output)
    if options.output.suffix == ".mcap":
        options.output.parent.mkdir(parents=True, exist_ok=True)
        return options.output
    options.output.mkdir(parents=True, exist_ok=True)
    return options.output / (default_name() if not options.ring else "ring.mcap")


@contextmanager
def _on_request(recorder: Recorder, console: Console, domain: str) -> Iterator[None]:
    """Handles `hyphos record --snapshot`, and SIGUSR1: a snapshot, or a new file."""
    wishes: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def asked(_number: int, _frame: FrameType | None) -> None:
        wishes.put("snapshot" if recorder._options.ring else "split")

    def serve() -> None:
        while (wish := wishes.get()) is not None:
            try:
                reply = recorder.answer({"do": wish})
                console.print(f"wrote {reply['path']}" if reply else "started a new file")
            except Error as error:
                console.print(f"error: {error}")

    server = ControlServer(domain, recorder.answer)
    worker = threading.Thread(target=serve, name="record-signal", daemon=True)
    worker.start()
    old = signal.signal(signal.SIGUSR1, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, old)
        wishes.put(None)
        worker.join()
        server.close()


def _run(
    recorder: Recorder, options: RecordOptions, console: Console, path: Path, stop: Stop
) -> float:
    """Records until a stop request. Returns the start time."""
    from hyphos.tools.live_area import LiveArea  # noqa: PLC0415

    started = time.monotonic()
    show = console.is_terminal and not options.quiet
    stop.end_after(options.seconds)
    with _on_request(recorder, console, options.domain):
        if not options.quiet:
            what = (
                f"keeping the last messages for {path}" if options.ring else f"recording to {path}"
            )
            console.print(f"{what}, Ctrl-C ends it")
        reader = threading.Thread(target=recorder.read_parameters, daemon=True)
        reader.start()
        after_s = None if options.quiet else AFTER_S
        shown = LiveArea(console) if show else nullcontext()
        with (
            shown as live,
            reporting(lambda: _awaited(recorder, options), after_s) as end_report,
        ):
            while True:
                recorder.discover()
                if any(count["received"] for count in recorder.status().channels.values()):
                    end_report()
                if live is not None:
                    live.update(_status(recorder, started), refresh=True)
                if recorder.status().failure is not None or stop.wait(LOOK_EVERY_S):
                    break
        reader.join(2.0)
    return started


def _awaited(recorder: Recorder, options: RecordOptions) -> list[str]:
    """The report of a recorder that has received nothing yet."""
    patterns = [one for one in options.patterns if one != "*"]
    names = sorted(recorder.channels) or patterns
    head = f"nothing to record yet on {names_text(names)}" if names else "nothing to record yet"
    if recorder.channels:
        return channel_lines(head, options.domain, *names)
    return process_lines(f"{head}: no publisher", options.domain)


def record_channels(options: RecordOptions, stop: Stop) -> int:
    """Records until a stop request or the time limit of the options.

    Leaves a complete recording even without messages, and reports that there were none.
    """
    from rich.console import Console  # noqa: PLC0415

    path = _target(options)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    node = open_tool("recorder", options.domain)
    recorder = Recorder(node, options, path)
    try:
        started = _run(recorder, options, console, path, stop)
    finally:
        failure = closed(recorder)
    if not options.quiet:
        console.print(_status(recorder, started))
        for line in _lost(recorder):
            console.print(line, style="red")
        for name in recorder.status().files or recorder.snapshots:
            console.print(f"wrote {name}")
    for line in without_schema(recorder.unknown_types):
        console.print(line)
    for name in (p for p in options.patterns if "*" not in p and p not in recorder.channels):
        console.print(f"warning: '{name}' had no publisher")
    if failure is not None:
        raise failure
    if not options.ring and not any(c["written"] for c in recorder.status().channels.values()):
        console.print(f"nothing was recorded: {_why_nothing(recorder, options)}")
    return 0


def _why_nothing(recorder: Recorder, options: RecordOptions) -> str:
    if recorder.channels:
        names = ", ".join(sorted(recorder.channels))
        return f"no message arrived on {names}"
    asked = "" if list(options.patterns) == ["*"] else " for the requested channels"
    more = "" if others(look(options.domain)).processes else domains_text(options.domain)
    text = f"no publisher{asked} in domain '{options.domain}'"
    return f"{text}. {more}" if more else text


def closed(recorder: Recorder) -> Error | None:
    """Closes the recorder. Returns the disk error, if any, with a remedy."""
    try:
        recorder.close()
    except Error as error:
        lost = sum(count["drop_disk"] for count in recorder.status().channels.values())
        return Error(
            error.code,
            f"{error.message}: recording ended, {lost:,} messages are lost, all complete chunks "
            "are readable",
            error.where,
            "free disk space, record to another disk, or bound the size with --split-mb and "
            "--keep-files"
            if error.code == "exhausted"
            else "hyphos bag check shows the readable content",
        )
    return None


def control(domain: str, wish: str, output: Path | None, overwrite: bool) -> int:
    """hyphos record --snapshot and --split-now: sends the request to every suitable recorder."""
    found = recorders(domain)
    if not found:
        raise Error(
            "not_found",
            f"no recorder runs in domain '{domain}'",
            advice="hyphos record --ring-s 30 keeps the last 30 s for a snapshot",
        )
    ring = {pid: ask(domain, pid, {"do": "status"})["ring"] for pid in found}
    able = [pid for pid in found if ring[pid] == (wish == "snapshot")]
    if not able:
        raise Error(
            "unsupported",
            "no recorder of this domain keeps a ring for a snapshot"
            if wish == "snapshot"
            else "the recorders of this domain keep rings, without a file to split",
            advice="hyphos record --ring-s 30" if wish == "snapshot" else "--snapshot writes one",
        )
    request: dict[str, Any] = {"do": wish, "overwrite": overwrite}
    if output is not None:
        request["path"] = str(output.absolute())
    for pid in able:
        reply = ask(domain, pid, request)
        if wish == "snapshot":
            print(
                f"{reply['path']}: {reply['messages']:,} messages, {reply['seconds']:.1f} s, "
                f"{_size(reply['bytes'])}"
            )
        else:
            print(f"recorder {pid} starts a new file")
    return 0
