"""hyphos channel echo"""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hyphos._errors import Error
from hyphos._hyphos import Buffer, EndpointInfo, MessageInfo
from hyphos.observe import look, require_channel
from hyphos.ros.typebook import TypeBook
from hyphos.tools.field_path import FieldPath
from hyphos.tools.join import an_end, open_tool, raw_type
from hyphos.tools.struct_message import PROTOBUF, class_of
from hyphos.tools.value_text import print_json, print_yaml, shorten, to_plain
from hyphos.tools.waiting import Stop, stoppable
from hyphos.tools.waits import channel_lines, reporting

_SHORT_BYTES = 256  # longer payloads are shortened unless --full
_SHORT_BUFFER = 64
_WAITING = 64  # messages that wait for a slow terminal


@dataclass
class EchoOptions:
    channel: str
    count: int | None
    timeout_s: float | None
    full: bool
    meta: bool
    as_json: bool
    domain: str
    proto_path: Sequence[Path]
    descriptors: Sequence[Path]
    field: str = ""  # print only this field


def hexdump(data: bytes, limit: int | None = None) -> str:
    """Offset, sixteen bytes and their ASCII text per line."""
    shown = data if limit is None else data[:limit]
    lines = []
    for at in range(0, len(shown), 16):
        row = shown[at : at + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{at:08x}  {row.hex(' '):<47}  {text}")
    if len(shown) < len(data):
        lines.append(f"… {len(data) - len(shown):,} more bytes")
    return "\n".join(lines)


class Typed(Protocol):
    """An object with a type: an endpoint of a channel, or a part of a service."""

    @property
    def type_name(self) -> str: ...
    @property
    def encoding(self) -> str: ...
    @property
    def type_hash(self) -> int | None:
        """None: unknown. A struct is then found by its name alone."""


class Formatter:
    """Turns messages of one channel into text."""

    def __init__(self, end: Typed, options: EchoOptions) -> None:
        self._options = options
        self._encoding = end.encoding
        self._type_name = end.type_name
        book = TypeBook(options.proto_path, options.descriptors, options.domain)
        self._cls = class_of(book, end.type_name, end.encoding, end.type_hash)
        self._field: FieldPath | None = None
        if options.field:
            if self._cls is None:
                raise Error(
                    "unsupported",
                    f"--field needs fields, but {end.type_name} ({end.encoding}) has none here",
                    options.channel,
                    self.note or "omit --field",
                )
            self._field = FieldPath(options.field, self._cls.DESCRIPTOR)

    @property
    def note(self) -> str:
        """A note for the user about the output, or ""."""
        if self._cls is not None:
            return ""
        if self._encoding == "struct":
            return (
                f"no process announces the fields of {self._type_name}, so the output is bytes: "
                "list them in its `hyphos_fields`"
            )
        if self._encoding in PROTOBUF:
            return (
                f"no process announces {self._type_name}, so the output is bytes: give "
                "--proto-path or --descriptor, or --ros to the gateway"
            )
        return ""

    def __call__(
        self, payload: bytes, buffers: Sequence[Buffer], info: MessageInfo | None = None
    ) -> str:
        if self._field is not None:
            return self._only_field(self._field, payload)
        return (self._json if self._options.as_json else self._text)(payload, buffers, info)

    def _only_field(self, field: FieldPath, payload: bytes) -> str:
        """One line for a plain value, so that scripts can read it."""
        value = field.of(self._cls.FromString(payload), as_json=self._options.as_json)
        if self._options.as_json:
            return print_json(value)
        text = print_yaml(value if self._options.full else shorten(value))
        return f"{text}\n---" if isinstance(value, dict | list) else text

    def _fields(self, payload: bytes, *, as_json: bool) -> Any:
        return to_plain(self._cls.FromString(payload), as_json=as_json)

    def _json(self, payload: bytes, buffers: Sequence[Buffer], info: MessageInfo | None) -> str:
        value: Any = (
            self._fields(payload, as_json=True)
            if self._cls is not None
            else {"bytes": payload.hex()}
        )
        if isinstance(value, dict):  # else a type such as Timestamp, which is text in JSON
            if buffers:
                value["attached_buffers"] = [len(buffer) for buffer in buffers]
            if self._options.meta and info is not None:
                value["_meta"] = _meta(info)
        return print_json(value)

    def _text(self, payload: bytes, buffers: Sequence[Buffer], info: MessageInfo | None) -> str:
        limit = None if self._options.full else _SHORT_BYTES
        parts = []
        if self._options.meta and info is not None:
            parts.append("\n".join(f"# {key}: {value}" for key, value in _meta(info).items()))
        if self._cls is None:
            parts.append(_commented(f"{len(payload):,} bytes\n{hexdump(payload, limit)}"))
        else:
            fields = self._fields(payload, as_json=False)
            parts.append(print_yaml(fields if self._options.full else shorten(fields)))
        for number, buffer in enumerate(buffers):
            limit = None if self._options.full else _SHORT_BUFFER
            dump = hexdump(bytes(memoryview(buffer)[:limit]), limit)
            more = (
                f"\n… {len(buffer) - limit:,} more bytes" if limit and len(buffer) > limit else ""
            )
            parts.append(_commented(f"buffer {number}: {len(buffer):,} bytes\n{dump}{more}"))
        return "\n".join([*parts, "---"])


def _commented(text: str) -> str:
    """The text as YAML comments, so that the output before them can be read back."""
    return "\n".join(f"# {line}" for line in text.rstrip().splitlines())


def _meta(info: MessageInfo) -> dict[str, Any]:
    stamps = info.stamps
    return {
        "sequence": info.sequence,
        "sender": f"{info.sender:016x}",
        "replayed": info.replayed,
        "latency_us": (stamps["callback"] - stamps["publish"]) / 1e3,
    }


def _find_end(options: EchoOptions, stop: Stop) -> EndpointInfo | None:
    """An endpoint of the channel. Waits for one if there is a time limit."""
    while True:
        now = look(options.domain)
        end = an_end(now, options.channel)
        if end is not None:
            return end
        if options.timeout_s is None:
            require_channel(now, options.channel, options.domain)
        if stop.wait(0.1):
            return None


def echo_channel(options: EchoOptions) -> int:
    """Prints messages until Ctrl-C or `count`. Raises an error after the time limit."""
    inbox: queue.Queue[tuple[bytes, list[Buffer], MessageInfo] | None] = queue.Queue(_WAITING)
    skipped = shown = 0
    with stoppable() as stop:
        deadline = Stop(options.timeout_s)
        with reporting(lambda: _awaited(options)):
            end = _find_end(options, deadline)
        if end is None:
            raise _nothing(options)
        formatter = Formatter(end, options)
        if formatter.note:
            print(f"# {formatter.note}", flush=True)

        def arrived(value: tuple[Buffer, list[Buffer]], info: MessageInfo) -> None:
            nonlocal skipped
            try:
                inbox.put_nowait((bytes(value[0]), value[1], info))
            except queue.Full:
                skipped += 1

        with (
            open_tool("echo", options.domain) as node,
            reporting(lambda: _awaited(options)) as end_report,
        ):
            node.subscribe(options.channel, raw_type(end), arrived, policy=end.policy)
            while not stop.now and (options.count is None or shown < options.count):
                message = _next(inbox, stop, deadline if not shown else None)
                if message is None:
                    break
                end_report()
                print(formatter(*message), flush=True)
                shown += 1
    if skipped:
        print(f"# {skipped} messages were skipped: the terminal is too slow", flush=True)
    if not shown and deadline.now:
        raise _nothing(options)
    return 0


def _next(inbox: queue.Queue[Any], stop: Stop, deadline: Stop | None) -> Any:
    """The next message, or None on a stop request."""
    while not stop.now and not (deadline is not None and deadline.now):
        try:
            return inbox.get(timeout=0.1)
        except queue.Empty:
            time.sleep(0)
    return None


def _awaited(options: EchoOptions) -> list[str]:
    head = f"waiting for a message on '{options.channel}'"
    return channel_lines(head, options.domain, options.channel)


def _nothing(options: EchoOptions) -> Error:
    return Error(
        "timeout",
        f"no message arrived on '{options.channel}' within {options.timeout_s:g} s",
        advice="hyphos channel info shows its publishers",
    )
