"""hyphos bag info | check | cut | merge: inspects MCAP recordings and writes new ones from them."""

from __future__ import annotations

import heapq
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from hyphos._errors import Error
from hyphos.recording.latched import values_before
from hyphos.recording.mcap_check import CheckedScan, check_file
from hyphos.recording.mcap_file import INTERIM, PROFILE, SUMMARY, McapRecording, extras_of, tally_of
from hyphos.recording.mcap_records import Channel, Message
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.opening import open_source
from hyphos.recording.remedies import (
    command,
    free_name,
    kind_of,
    require_mcap,
    require_one_kind,
)
from hyphos.recording.schemas import ChannelSpec
from hyphos.recording.source import LEFT_OUT, Source, channel_of, is_mcap, seconds_ns, utc
from hyphos.recording.suffixes import require_mcap_name
from hyphos.recording.writers import is_only_unfinished, warnings_of, writer_of
from hyphos.ros.typebook import TypeBook
from hyphos.tools.console import cell, console, print_json, say, table

Progressor = Callable[[int], None]
_SHOWN_PROBLEMS = 20
_DROPS = ("drop_queue", "drop_disk", "drop_convert", "missing")


@dataclass
class WriteOptions:
    """Options for the output file of the commands."""

    output: Path
    overwrite: bool = False
    compression: str = "zstd"
    chunk_bytes: int = 4 << 20


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Progressor]:
    """A progress bar of bytes read, on a terminal only."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield lambda _at: None
        return
    columns = (TextColumn(what), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda at: bar.update(task, completed=at)


@contextmanager
def writing(options: WriteOptions, profile: str, inputs: Sequence[Path]) -> Iterator[McapRecording]:
    """Opens the output file. Removes it if it is not finished."""
    require_mcap_name(options.output)
    for path in inputs:
        if options.output.exists() and options.output.samefile(path):
            raise Error(
                "invalid_config", "the output is the input file: give another name", str(path)
            )
    if options.output.exists() and not options.overwrite:
        raise Error(
            "already_exists",
            "the file exists",
            str(options.output),
            "give another name, or --overwrite",
        )
    # Under a temporary name until it is complete: an error keeps the previous file.
    part = options.output.with_name(f".{options.output.name}.{os.getpid()}.part")
    try:
        recording = McapRecording(
            part,
            TypeBook(),
            profile=profile,
            chunk_bytes=options.chunk_bytes,
            compression=options.compression,
            overwrite=True,
        )
        yield recording
        recording.close()
        part.replace(options.output)
    finally:
        with suppress(OSError):
            part.unlink()


def _prefixed(prefix: str, topic: str) -> str:
    """A name with a prefix. ROS topics keep their leading slash."""
    slash = "/" if prefix and topic.startswith("/") else ""
    return slash + prefix + (topic.lstrip("/") if prefix else topic)


class Copier:
    """Copies channels and messages of scans into one recording. Equal channels are merged."""

    def __init__(
        self, to: McapRecording, *, prefix: dict[Path, str] | None = None, remedy: str = ""
    ) -> None:
        self._to = to
        self._remedy = remedy  # if two files have a channel with different types
        self._prefix = prefix or {}
        self._ids: dict[tuple[Path, int], int] = {}
        self._known: dict[tuple[Any, ...], int] = {}
        self._types: dict[str, dict[tuple[str, str], Path]] = {}
        self.orphans = 0

    def _spec(self, scan: Scan, channel: Channel) -> ChannelSpec:
        schema = scan.schemas.get(channel.schema_id)
        return ChannelSpec(
            _prefixed(self._prefix.get(scan.path, ""), channel.topic),
            channel.message_encoding,
            schema.name if schema else None,
            schema.encoding if schema else "",
            schema.data if schema else b"",
            dict(channel.metadata),
        )

    def _id(self, scan: Scan, number: int) -> int | None:
        key = (scan.path, number)
        if key in self._ids:
            return self._ids[key]
        channel = scan.channels.get(number)
        if channel is None:
            self.orphans += 1
            return None
        spec = self._spec(scan, channel)
        kind = (spec.message_encoding, spec.schema_name or "")
        # One file may have several types of a channel, but two files must agree.
        known = self._types.setdefault(spec.channel, {})
        others = [(one, path) for one, path in known.items() if path != scan.path]
        if kind not in known and others:
            (encoding, name), path = others[0]
            raise Error(
                "type_mismatch",
                f"channel '{spec.channel}' is {kind[1] or kind[0]} here and "
                f"{name or encoding} in {path}",
                str(scan.path),
                self._remedy or "give --prefix, which adds the file name to each channel",
            )
        known.setdefault(kind, scan.path)
        same = (*kind, spec.channel, spec.schema_data, tuple(sorted(spec.metadata.items())))
        if same not in self._known:
            self._known[same] = self._to.add(spec)
        self._ids[key] = self._known[same]
        return self._ids[key]

    def add_all(self, scan: Scan) -> None:
        """Adds all channels, including those without messages."""
        for number in scan.channels:
            self._id(scan, number)

    def write(self, scan: Scan, message: Message, log_ns: int | None = None) -> None:
        """Writes a message at its own time, or at another."""
        number = self._id(scan, message.channel)
        if number is not None:
            at = message.log_ns if log_ns is None else log_ns
            self._to.write(number, at, message.publish_ns, message.sequence, message.data)

    def copy_rest(self, scan: Scan, *, summary: bool) -> None:
        """Copies attachments and metadata. Without `summary` it omits the counters of the whole
        recording, which do not apply to a part."""
        self._to.flush()
        prefix = self._prefix.get(scan.path, "")
        for attachment in scan.attachments:
            self._to.attach(
                prefix + attachment.name,
                attachment.media_type,
                attachment.data,
                attachment.log_ns,
                attachment.create_ns,
            )
        last = {name: values for name, values in scan.metadata if name == INTERIM}
        finished = any(name == SUMMARY for name, _ in scan.metadata)
        for name, values in scan.metadata:
            if name != INTERIM and (summary or name != SUMMARY):
                self._to.describe(name, values)
        if summary and not finished and last:
            self._to.describe(SUMMARY, last[INTERIM])


# --- info ---------------------------------------------------------------------------------------


@dataclass
class Info:
    """The output of `hyphos bag info`."""

    path: str
    kind: str
    bytes: int
    seconds: float
    start_ns: int
    messages: int
    channels: list[dict[str, Any]]
    chunks: dict[str, int] = field(default_factory=dict)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    damaged: bool = False  # a part of it cannot be read


def _size_of(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def gather(path: Path) -> Info:
    source = open_source(path)
    try:
        info = Info(
            str(path),
            source.kind,
            _size_of(path),
            max(0, source.end_ns - 1 - source.start_ns) / 1e9,
            source.start_ns,
            sum(track.count for track in source.tracks),
            [
                {
                    "channel": track.channel,
                    "type": track.type_name,
                    "encoding": track.encoding,
                    "messages": track.count,
                    "problem": track.problem,
                    "from": track.origin,
                }
                for track in sorted(source.tracks, key=lambda track: track.channel)
            ],
            warnings=(warnings := warnings_of(path, source.warnings)),
            damaged=source.damaged and not is_only_unfinished(warnings),
        )
        scan = _scan_of(source)
    finally:
        source.close()
    if scan is not None:
        _add_mcap(info, scan)
    return info


def _scan_of(source: Source) -> Scan | None:
    """The scan of an MCAP file that is a complete recording by itself."""
    storages = getattr(source, "storages", [source])
    scan = getattr(storages[0], "scan", None) if len(storages) == 1 else None
    return scan if isinstance(scan, Scan) else None


def _add_mcap(info: Info, scan: Scan) -> None:
    extras = extras_of(scan)
    info.chunks = extras.chunks
    info.attachments = extras.attachments
    info.metadata = extras.metadata
    for channel in info.channels:
        text = extras.metadata.get(SUMMARY, extras.metadata.get(INTERIM, {}))
        count = tally_of(text.get(channel["channel"], "{}"))
        channel["lost"] = {name: count[name] for name in _DROPS if count.get(name)}


def show_info(paths: Sequence[Path], as_json: bool) -> int:
    found: list[Info] = []
    failures: list[Error] = []
    for path in paths:
        try:
            found.append(gather(path))
        except Error as error:
            failures.append(error)
    code = LEFT_OUT if any(info.damaged for info in found) else 0
    try:
        return _show_all(found, as_json, code)
    finally:
        # An unreadable file must not hide the others.
        for failure in failures[1:]:
            print(f"error: {failure}", file=sys.stderr)
        if failures:
            raise failures[0]


def _show_all(found: Sequence[Info], as_json: bool, code: int) -> int:
    if as_json:
        print_json([vars(info) for info in found])
        return code
    out = console()
    for info in found:
        when = utc(info.start_ns)
        out.print(
            f"[bold]{cell(info.path)}[/bold]: {info.kind}, {info.bytes / 1e6:,.1f} MB, "
            f"{info.messages:,} messages, {info.seconds:.1f} s from {when}"
        )
        if info.chunks:
            say(out, f"chunks: {', '.join(f'{n:,} {how}' for how, n in info.chunks.items())}")
        _print_channels(info, out)
        for attachment in info.attachments:
            name, media_type, size = (attachment[key] for key in ("name", "media_type", "bytes"))
            say(out, f"attachment {name} ({media_type}, {size:,} bytes)")
        names = [name for name in info.metadata if name not in (SUMMARY, INTERIM)]
        if names:
            say(out, f"metadata: {', '.join(names)}")
        for warning in info.warnings:
            say(out, f"warning: {warning}")
    return code


def _print_channels(info: Info, out: Console) -> None:
    columns = ["channel", "type", "messages", "rate", "lost", "from"]
    made = table("", columns, ["messages", "rate"])
    for channel in info.channels:
        rate = f"{channel['messages'] / info.seconds:.1f} Hz" if info.seconds > 0 else ""
        lost = ", ".join(f"{count:,} {why}" for why, count in channel.get("lost", {}).items())
        kind = cell(channel["type"] or channel["encoding"])
        if channel["problem"]:
            kind = f"[yellow]{cell(channel['problem'])}[/yellow]"
        made.add_row(
            cell(channel["channel"]),
            kind,
            f"{channel['messages']:,}",
            rate,
            lost,
            cell(channel["from"]),
        )
    out.print(made)


# --- check --------------------------------------------------------------------------------------


def check(path: Path, repair: WriteOptions | None) -> int:
    """Checks a file. Returns 0 if it is whole, LEFT_OUT if a part cannot be read, 1 if only its
    index is wrong. With `repair`, all readable content goes to a new file, and the result is 0 or
    LEFT_OUT."""
    require_mcap(path)
    scan = CheckedScan(path)
    with progress_bar("checking", path.stat().st_size) as progress:
        scan.read(progress)
    total = sum(scan.counts.values())
    out = console()
    say(
        out,
        f"{path}: {len(scan.chunks):,} complete chunks, {total:,} messages on "
        f"{len(scan.counts):,} channels readable",
    )
    problems = [*scan.problems, *check_file(scan)]
    for problem in problems[:_SHOWN_PROBLEMS]:
        say(out, f"  {problem}")
    if len(problems) > _SHOWN_PROBLEMS:
        out.print(f"  and {len(problems) - _SHOWN_PROBLEMS:,} more")
    if scan.unknown:
        out.print(f"  {scan.unknown.total():,} records of unknown kinds")
    code = LEFT_OUT if scan.damaged else 1 if problems else 0
    if repair is not None:
        written = _repair(scan, repair)
        say(out, f"wrote {repair.output}: {written:,} messages")
        return code if code == LEFT_OUT else 0
    if (writer := writer_of(path)) is not None:
        out.print(
            f"process {writer} is still writing the file: check it when that process has ended"
        )
        return code or 1
    if code:
        remedy = command("bag", "check", path, "--repair", free_name(path, "_repaired"))
        say(out, f"→ {remedy}")
    else:
        out.print("the file is whole")
    return code


def _repair(found: Scan, options: WriteOptions) -> int:
    with (
        progress_bar("repairing", found.size) as progress,
        writing(options, found.profile, [found.path]) as to,
    ):
        copier = Copier(to)
        copier.add_all(found)
        for message in found.ordered(progress=progress):
            copier.write(found, message)
        copier.copy_rest(found, summary=True)
        return to.messages


# --- cut and merge ------------------------------------------------------------------------------


@dataclass
class Selection:
    """A selection of messages: seconds from the start of the recording, and channel patterns."""

    start_s: float | None = None
    end_s: float | None = None
    channels: Sequence[str] = ("*",)
    exclude: Sequence[str] = ()

    def wants(self, topic: str) -> bool:
        name = topic.strip("/")
        taken = any(fnmatchcase(name, pattern.strip("/")) for pattern in self.channels)
        return taken and not any(fnmatchcase(name, p.strip("/")) for p in self.exclude)

    @property
    def everything(self) -> bool:
        return (self.start_s, self.end_s, *self.channels, *self.exclude) == (None, None, "*")


def cut(path: Path, selection: Selection, options: WriteOptions) -> int:
    require_mcap(path)
    scan = Scan(path)
    with progress_bar("reading", path.stat().st_size) as progress:
        scan.read(progress)
    start_ns, end_ns = _span(scan, selection)
    with (
        progress_bar("cutting", path.stat().st_size) as progress,
        writing(options, scan.profile, [path]) as to,
    ):
        copier = Copier(to)
        wanted = {n for n, one in scan.channels.items() if selection.wants(one.topic)}
        if selection.everything:
            copier.add_all(scan)
        carried = []
        if selection.start_s is not None:
            carried = values_before(scan, wanted.__contains__, start_ns)
        for message in carried:
            copier.write(scan, message, max(start_ns, 0))
        for message in scan.ordered(wanted.__contains__, start_ns, end_ns, progress):
            copier.write(scan, message)
        count = to.messages
        if count == 0 and not selection.everything:
            raise Error(
                "not_found",
                "this part has no messages:  " + _names(scan),
                str(path),
                command("bag", "info", path),
            )
        copier.copy_rest(scan, summary=selection.everything)
    code = _tell(options.output, count, [scan])
    for topic, number in Counter(scan.channels[one.channel].topic for one in carried).items():
        say(console(), f"added at the start: {topic}, {number:,} latched values from before")
    if not selection.everything and any(n in (SUMMARY, INTERIM) for n, _ in scan.metadata):
        console().print("left out: the counters of the whole recording")
    return code


def _names(scan: Scan) -> str:
    length = (scan.end_ns - (scan.start_ns or 0)) / 1e9
    names = ", ".join(sorted(channel.topic for channel in scan.channels.values()))
    return f"the recording has {length:.1f} s of {names or 'no channels'}"


def _span(scan: Scan, selection: Selection) -> tuple[int, int]:
    first = scan.start_ns or 0
    start = first + seconds_ns(selection.start_s or 0.0, "--start")
    if selection.end_s is None:
        return (0 if selection.start_s is None else start), 1 << 64
    end = first + seconds_ns(selection.end_s, "--end")
    if end <= start:
        raise Error("invalid_config", "--end must be after --start")
    return start, end


def merge(paths: Sequence[Path], options: WriteOptions, *, prefix: bool) -> int:
    if len({path.resolve() for path in paths}) < len(paths):
        raise Error("invalid_config", "a file is given twice", advice="give each file once")
    kinds = {path: "" if is_mcap(path) else kind_of(path) for path in paths}
    scans = [Scan(path).read() for path in paths if not kinds[path]]
    kinds |= {scan.path: _family(scan) for scan in scans}
    require_one_kind(paths, kinds, options.output)
    prefixes = _prefixes(paths) if prefix else {}
    remedy = command("bag", "merge", "--prefix", *paths, "-o", options.output)
    total = sum(path.stat().st_size for path in paths)
    with (
        progress_bar("merging", total) as progress,
        writing(options, _profile_of(scans), paths) as to,
    ):
        copier = Copier(to, prefix=prefixes, remedy="" if prefix else remedy)
        at = dict.fromkeys(paths, 0)

        def moved(path: Path) -> Progressor:
            def set_at(offset: int) -> None:
                at[path] = offset
                progress(sum(at.values()))

            return set_at

        def tagged(scan: Scan) -> Iterator[tuple[Scan, Message]]:
            return ((scan, message) for message in scan.ordered(progress=moved(scan.path)))

        merged = heapq.merge(*map(tagged, scans), key=lambda pair: pair[1].log_ns)
        for scan, message in merged:
            copier.write(scan, message)
        for scan in scans:
            copier.add_all(scan)
            copier.copy_rest(scan, summary=False)
        _write_sum(to, scans, prefixes)
        count = to.messages
    return _tell(options.output, count, scans)


def _family(scan: Scan) -> str:
    """The kind of system that wrote the messages of a file."""
    encodings = {channel.message_encoding for channel in scan.channels.values()}
    if scan.profile == "ros1" or (scan.profile != "ros2" and "ros1" in encodings):
        return "ROS 1"
    if scan.profile == "ros2" or "cdr" in encodings:
        return "ROS 2"
    return "MCAP without ROS"


def _profile_of(scans: Sequence[Scan]) -> str:
    """The profile of the output: the common one of the inputs, or that of their family."""
    profiles = {scan.profile for scan in scans}
    if len(profiles) == 1:
        return profiles.pop()
    family = _family(scans[0])
    if family.startswith("ROS"):
        return family.replace(" ", "").lower()
    return PROFILE if PROFILE in profiles else ""


def _prefixes(paths: Sequence[Path]) -> dict[Path, str]:
    """A unique channel prefix for each file."""
    found: dict[Path, str] = {}
    for path in paths:
        name = channel_of(path.stem)
        number = 1
        while (word := name if number == 1 else f"{name}_{number}") + "/" in found.values():
            number += 1
        found[path] = f"{word}/"
    return found


def _write_sum(to: McapRecording, scans: Sequence[Scan], prefixes: dict[Path, str]) -> None:
    """Writes the sums of the counters of all inputs."""
    total: dict[str, dict[str, int]] = {}
    for scan in scans:
        found = dict(scan.metadata)
        for channel, text in found.get(SUMMARY, found.get(INTERIM, {})).items():
            mine = total.setdefault(prefixes.get(scan.path, "") + channel, {})
            for name, count in tally_of(text).items():
                mine[name] = mine.get(name, 0) + count
    if total:
        to.describe(SUMMARY, {name: json.dumps(count) for name, count in total.items()})


def _tell(output: Path, count: int, scans: Sequence[Scan]) -> int:
    """Prints the result. Returns the exit code."""
    out = console()
    say(out, f"wrote {output}: {count:,} messages, {output.stat().st_size / 1e6:,.1f} MB")
    for scan in scans:
        lost = sum(problem.lost for problem in scan.problems)
        if lost:
            say(
                out,
                f"warning: {scan.path} has {lost} damaged places, which are left out. "
                f"{command('bag', 'check', scan.path)} lists them",
            )
        if scan.orphans:
            out.print(f"warning: {scan.orphans:,} messages of unknown channels are left out")
        if scan.unknown:
            count = scan.unknown.total()
            out.print(f"warning: {count:,} records of unknown kinds are left out")
    return LEFT_OUT if any(scan.damaged or scan.unknown for scan in scans) else 0
