"""The files of ROS 2 recordings: MCAP, SQLite databases, and folders of them.

metadata.yaml, the index of a database and the summary of an MCAP file are compared with the
messages. They never replace the messages.
"""

from __future__ import annotations

import shlex
import shutil
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import zstandard
from rosbags.typesys.msg import normalize_msgtype

from hyphos._errors import Error
from hyphos.recording.mcap_file import damage_of, track_of
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.ros_storage import (
    Connection,
    OnBad,
    RawMessage,
    Storage,
    Wanted,
    is_latched,
    load_yaml,
)

_ZSTD = b"\x28\xb5\x2f\xfd"  # no CDR message begins like this
_MOST_MESSAGE = 1 << 32
_SQLITE = b"SQLite format 3\0"
_MCAP = b"\x89MCAP0\r\n"
_MOST_GAPS = 64
# The message encoding for each schema encoding, used if a channel names none.
_WIRE_OF = {"ros1msg": "ros1", "ros2msg": "cdr", "ros2idl": "cdr"}
# The error message for a damaged schema may quote bytes that are not text.
_SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
_INT64 = (-(1 << 63), (1 << 63) - 1)


def _unpacked(data: bytes) -> bytes:
    """Decompresses a message if rosbag2 has compressed it. ValueError if it is damaged."""
    if not data.startswith(_ZSTD):
        return data
    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=_MOST_MESSAGE)
    except (zstandard.ZstdError, MemoryError) as error:
        raise ValueError(f"zstd: {error}") from error


class RosMcap:
    """An MCAP file with ROS messages."""

    def __init__(self, path: Path, scan: Scan | None = None) -> None:
        self.path = path
        self.scan = scan or Scan(path).read()
        self.warnings = damage_of(self.scan)
        self.damaged = self.scan.damaged
        self.start_ns = self.scan.start_ns
        self.end_ns = self.scan.end_ns
        self._by_id = {number: self._connection(number) for number in sorted(self.scan.channels)}
        self.connections = list(self._by_id.values())

    def _connection(self, number: int) -> Connection:
        channel = self.scan.channels[number]
        schema = self.scan.schemas.get(channel.schema_id)
        meta = dict(channel.metadata)
        latched, wrong = is_latched(meta.get("offered_qos_profiles", ""))
        if wrong:
            self.warnings.append(f"{channel.topic}: {wrong}")
        wire = channel.message_encoding
        if not wire and schema is not None:
            wire = _WIRE_OF.get(schema.encoding, "")
        own = None
        if wire not in ("cdr", "ros1"):
            own, wrong = track_of(channel, schema, self.scan.counts[number])
            if wrong:
                self.warnings.append(wrong)
        return Connection(
            number,
            channel.topic,
            _type_name(schema.name if schema else ""),
            wire,
            schema.encoding if schema else "",
            schema.data.decode(errors="replace") if schema and wire in ("cdr", "ros1") else "",
            meta.get("topic_type_hash", meta.get("md5sum", "")),
            latched or meta.get("latching", "").lower() in ("1", "true"),
            meta.get("offered_qos_profiles", ""),
            meta.get("callerid", ""),
            self.scan.counts[number],
            own=own,
        )

    def messages(
        self, wanted: Wanted, start_ns: int | None, end_ns: int | None, bad: OnBad
    ) -> Iterator[RawMessage]:
        chosen = {number for number, one in self._by_id.items() if wanted(one)}
        start = 0 if start_ns is None else start_ns
        end = 1 << 64 if end_ns is None else end_ns
        for message in self.scan.ordered(chosen.__contains__, start, end):
            connection = self._by_id[message.channel]
            try:
                yield RawMessage(connection, message.log_ns, _unpacked(message.data))
            except ValueError:
                bad(connection, "its compression is damaged")

    def close(self) -> None:
        """Does nothing: no file stays open between calls."""


def _type_name(name: str) -> str:
    return normalize_msgtype(name) if name.count("/") == 1 else name


class Db3:
    """A database of rosbag2, read in the order of its rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self.damaged = False
        self._rows = array("q")
        self._times = array("q")
        self._topics = array("q")
        self.start_ns: int | None = None
        self.end_ns = 0
        self._database = self._open()
        try:
            self._by_id = self._read_topics()
            self._read_rows()
        except _SQLITE_ERRORS as error:
            self.close()
            raise Error("corrupt", f"the database cannot be read: {error}", str(path)) from error
        self.connections = list(self._by_id.values())

    def _open(self) -> sqlite3.Connection:
        where = self.path.resolve().as_uri()
        ways = [f"{where}?immutable=1"]
        # The last messages of a killed recorder are in a file beside the database.
        beside = [self.path.with_name(self.path.name + end) for end in ("-wal", "-journal")]
        left = any(one.exists() and one.stat().st_size for one in beside)
        if left:
            ways.insert(0, f"{where}?mode=ro")
        for number, way in enumerate(ways):
            database = sqlite3.connect(way, uri=True, check_same_thread=False)
            database.text_factory = lambda data: data.decode(errors="replace")
            try:
                database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except _SQLITE_ERRORS as error:
                database.close()
                if number + 1 == len(ways):
                    raise Error(
                        "corrupt", f"this is not a database: {error}", str(self.path)
                    ) from error
                continue
            if left and number:
                self.damaged = True
                self.warnings.append("the messages in the file beside it (-wal) cannot be read")
            return database
        raise AssertionError

    def close(self) -> None:
        self._database.close()

    def _columns(self, table: str) -> set[str]:
        return {row[1] for row in self._database.execute(f"PRAGMA table_info({table})")}

    def _select(self, table: str, columns: dict[str, str], order: str) -> list[tuple[Any, ...]]:
        """Rows with these columns. Columns that an old schema lacks get their default."""
        known = self._columns(table)
        if not known:
            return []
        wanted = ", ".join(name if name in known else other for name, other in columns.items())
        return self._database.execute(f"SELECT {wanted} FROM {table} ORDER BY {order}").fetchall()

    def _read_topics(self) -> dict[int, Connection]:
        definitions: dict[str, tuple[str, str]] = {}
        columns = {"topic_type": "''", "encoding": "''", "encoded_message_definition": "''"}
        try:
            for name, encoding, text in self._select("message_definitions", columns, "rowid"):
                definitions.setdefault(str(name), (str(encoding), str(text)))
        except _SQLITE_ERRORS as error:
            self.warnings.append(f"its message_definitions cannot be read: {error}")
        columns = {
            "id": "rowid",
            "name": "''",
            "type": "''",
            "serialization_format": "'cdr'",
            "offered_qos_profiles": "''",
            "type_description_hash": "''",
        }
        found: dict[int, Connection] = {}
        for number, name, kind, wire, qos, digest in self._select("topics", columns, "rowid"):
            latched, wrong = is_latched(qos)
            if wrong:
                self.warnings.append(f"{name}: {wrong}")
            encoding, text = definitions.get(str(kind), ("", ""))
            if not isinstance(number, int):
                self.warnings.append(f"the topic '{name}' has no number")
                continue
            found[number] = Connection(
                number,
                str(name),
                _type_name(str(kind)),
                str(wire) or "cdr",
                encoding,
                text,
                str(digest or ""),
                latched,
                str(qos or ""),
            )
        return found

    def _read_rows(self) -> None:
        if not {"topic_id", "timestamp", "data"} <= self._columns("messages"):
            self.damaged = True
            self.warnings.append("the database has no table of messages")
            return
        timeless = 0
        counts: Counter[int] = Counter()
        for row, topic, time_ns in self._walk_rows():
            if not (isinstance(time_ns, int) and isinstance(topic, int)):
                timeless += 1
                continue
            counts[topic] += 1
            if topic not in self._by_id:
                continue
            self._rows.append(row)
            self._topics.append(topic)
            self._times.append(time_ns)
        for number, connection in self._by_id.items():
            connection.count = counts[number]
        orphans = sum(n for topic, n in counts.items() if topic not in self._by_id)
        for lost, why in (
            (timeless, "messages have no valid time or topic number"),
            (orphans, "messages belong to topics that are not in the database"),
        ):
            if lost:
                self.damaged = True
                self.warnings.append(f"{lost:,} {why}")
        if self._times:
            self.start_ns, self.end_ns = min(self._times), max(self._times)

    def _walk_rows(self) -> Iterator[tuple[int, Any, Any]]:
        """(row, topic, time) of all readable rows. A damaged page loses its rows."""
        # Not through the index of times, which may differ from the table.
        query = (
            "SELECT rowid, topic_id, timestamp FROM messages NOT INDEXED "
            "WHERE rowid > ? ORDER BY rowid"
        )
        last, step, gaps = -(1 << 63), 1, 0
        while True:
            try:
                for row in self._database.execute(query, (last,)):
                    last, step = row[0], 1
                    yield row
            except (*_SQLITE_ERRORS, OverflowError) as error:
                if gaps == 0:
                    self.damaged = True
                    self.warnings.append(f"the database is damaged: {error}")
                gaps += 1
                last, step = max(last, 0) + step, step * 2
                if gaps > _MOST_GAPS:
                    return
            else:
                return

    def messages(
        self, wanted: Wanted, start_ns: int | None, end_ns: int | None, bad: OnBad
    ) -> Iterator[RawMessage]:
        chosen = {number for number, one in self._by_id.items() if wanted(one)}
        start = _INT64[0] if start_ns is None else max(start_ns, _INT64[0])
        end = 1 << 64 if end_ns is None else end_ns
        times = np.frombuffer(self._times, np.int64) if self._times else np.zeros(0, np.int64)
        for place in np.argsort(times, kind="stable").tolist():
            time_ns = self._times[place]
            connection = self._by_id[self._topics[place]]
            if connection.id not in chosen or not start <= time_ns < end:
                continue
            try:
                data = self._data(self._rows[place])
            except ValueError as error:
                bad(connection, str(error))
                continue
            yield RawMessage(connection, time_ns, data)

    def _data(self, row: int) -> bytes:
        try:
            found = self._database.execute("SELECT data FROM messages WHERE rowid = ?", (row,))
            data = found.fetchone()
        except _SQLITE_ERRORS as error:
            raise ValueError("its row of the database is damaged") from error
        if data is None or not isinstance(data[0], bytes):
            raise ValueError("its row of the database has no data")
        try:
            return _unpacked(data[0])
        except ValueError as error:
            raise ValueError("its compression is damaged") from error


# --- folders ------------------------------------------------------------------------------------


@dataclass
class Announced:
    """The declarations of metadata.yaml. None: absent there, or not valid."""

    topics: dict[str, int] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    messages: int | None = None
    start_ns: int | None = None
    duration_ns: int | None = None
    warnings: list[str] = field(default_factory=list)
    damaged: bool = False


def open_folder(path: Path) -> tuple[list[Storage], Announced, TemporaryDirectory[str]]:
    """Opens all files of a recording's folder, including those that metadata.yaml does not name."""
    announced, names = _read_metadata(path / "metadata.yaml")
    on_disk = sorted(one for one in path.iterdir() if one.is_file() and _kind(one))
    files = [path / name for name in names]
    for one in files:
        if not one.is_file():
            announced.damaged = True
            announced.warnings.append(f"metadata.yaml names {one.name}, which does not exist")
    files = [one for one in files if one.is_file()]
    known = {one.name for one in files}
    for one in on_disk:
        # A compressed file may be beside its original.
        if known.isdisjoint({one.name, one.stem, f"{one.name}.zstd"}):
            if names:
                announced.warnings.append(f"metadata.yaml does not name {one.name}, but it is read")
            files.append(one)
            known.add(one.name)
    temporary = TemporaryDirectory(prefix="hyphos-")
    storages: list[Storage] = []
    failures: list[Error] = []
    try:
        for one in files:
            try:
                storages.append(_open_file(one, Path(temporary.name)))
            except Error as error:
                failures.append(error)
                announced.damaged = True
                announced.warnings.append(f"{one.name} cannot be read: {error.message}")
        _require_some(path, storages, failures)
    except BaseException:
        for storage in storages:
            storage.close()
        temporary.cleanup()
        raise
    return storages, announced, temporary


def open_packed(path: Path) -> tuple[Storage, TemporaryDirectory[str]]:
    """Opens a file that is compressed as a whole. Returns it with its temporary folder."""
    temporary = TemporaryDirectory(prefix="hyphos-")
    try:
        return _open_file(path, Path(temporary.name)), temporary
    except BaseException:
        temporary.cleanup()
        raise


def _require_some(path: Path, storages: list[Storage], failures: list[Error]) -> None:
    if storages and (
        (path / "metadata.yaml").exists()
        or any(isinstance(one, Db3) or one.scan.profile == "ros2" for one in storages)  # type: ignore[attr-defined]
    ):
        return
    if failures:
        raise failures[0]
    raise Error(
        "invalid_config",
        "a folder needs a metadata.yaml, .db3 or .mcap files of ROS 2 to be a recording",
        str(path),
        _recordings_in(path),
    )


def _recordings_in(path: Path) -> str:
    """The command for the files of a folder that are recordings by themselves."""
    found = sorted(one for one in path.rglob("*") if one.suffix in (".mcap", ".bag", ".db3"))
    return shlex.join(["hyphos", "bag", "info", *map(str, found[:3])]) if found else ""


def _kind(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(16)
    found = [magic for magic in (_SQLITE, _MCAP) if head.startswith(magic)]
    if found:
        return found[0]
    return _ZSTD if head.startswith(_ZSTD) else b""


def _open_file(path: Path, temporary: Path) -> Storage:
    kind = _kind(path)
    if kind == _ZSTD:
        plain = temporary / path.stem
        try:
            with path.open("rb") as packed, plain.open("wb") as out:
                reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
                shutil.copyfileobj(reader, out, 1 << 20)
        except zstandard.ZstdError as error:
            if plain.stat().st_size == 0:
                raise Error("corrupt", f"zstd: {error}", str(path)) from error
        path, kind = plain, _kind(plain)
    if kind == _MCAP:
        return RosMcap(path)
    if kind == _SQLITE:
        return Db3(path)
    raise Error("corrupt", "the file is neither MCAP nor a database", str(path))


def _read_metadata(path: Path) -> tuple[Announced, list[str]]:
    announced = Announced()
    if not path.exists():
        announced.warnings.append("there is no metadata.yaml, so all files of the folder are read")
        return announced, []
    try:
        loaded = load_yaml(path.read_text(errors="replace"))
    except (OSError, ValueError) as error:
        announced.warnings.append(f"metadata.yaml cannot be read ({error}) and is not used")
        return announced, []
    info = _get(loaded, "rosbag2_bagfile_information")
    files = _get(info, "relative_file_paths")
    names = [PurePath(one).name for one in files if isinstance(one, str)] if _is_list(files) else []
    if not isinstance(info, dict):
        announced.warnings.append("metadata.yaml is not that of a recording and is not used")
    announced.messages = _number(_get(info, "message_count"))
    announced.start_ns = _number(_get(info, "starting_time", "nanoseconds_since_epoch"))
    announced.duration_ns = _number(_get(info, "duration", "nanoseconds"))
    topics = _get(info, "topics_with_message_count")
    for entry in topics if isinstance(topics, list) else []:
        name, count = _get(entry, "topic_metadata", "name"), _number(_get(entry, "message_count"))
        if isinstance(name, str) and count is not None:
            announced.topics[name] = announced.topics.get(name, 0) + count
            announced.types[name] = str(_get(entry, "topic_metadata", "type") or "")
    return announced, [name for name in dict.fromkeys(names) if name]


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def cleaned(temporary: TemporaryDirectory[str] | None) -> None:
    if temporary is not None:
        with suppress(OSError):
            temporary.cleanup()
