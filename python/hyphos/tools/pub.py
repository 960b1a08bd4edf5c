"""hyphos channel pub"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.text import Text

from hyphos._errors import Error
from hyphos._hyphos import Published, TypeId
from hyphos.observe import look
from hyphos.publisher import Publisher
from hyphos.ros.typebook import TypeBook
from hyphos.tools import scalars
from hyphos.tools.join import an_end, open_tool
from hyphos.tools.live_area import LiveArea
from hyphos.tools.struct_message import StructMessage, class_of, payload_of
from hyphos.tools.values import Read, read_message
from hyphos.tools.waiting import Stop, stoppable, until
from hyphos.tools.waits import process_lines, reporting
from hyphos.types import Raw, codec_for, definition, definitions

_PROGRESS_S = 0.25  # between two updates


@dataclass
class PubOptions:
    channel: str
    type_name: str
    value: str
    rate_hz: float | None
    count: int | None
    buffers: Sequence[Path]
    hex_value: bool
    wait_s: float
    domain: str
    proto_path: Sequence[Path]
    descriptors: Sequence[Path]


def _read_value(options: PubOptions) -> str:
    return sys.stdin.read() if options.value == "-" else options.value


def _parse_bytes(options: PubOptions, text: str) -> tuple[TypeId, bytes]:
    if not options.hex_value:
        return TypeId("bytes", "bytes"), text.encode()
    return TypeId("bytes", "bytes"), bytes_from_hex(text)


def bytes_from_hex(text: str) -> bytes:
    """Hexadecimal digits, or the output of `echo` for bytes."""
    try:
        return scalars.from_hex(text)
    except ValueError as error:
        raise Error("invalid_config", f"the value is not hexadecimal: {error}") from error


def message_from_text(
    cls: Any, text: str, sizes: Sequence[int], now: Callable[[], int] = time.time_ns
) -> Read:
    """A protobuf message from its fields as YAML or JSON, for attached buffers of these sizes."""
    read = read_message(cls, text, now)
    if read.buffers is not None and read.buffers != list(sizes):
        printed = ", ".join(map(str, read.buffers)) or "none"
        raise Error(
            "invalid_config",
            f"the value was printed with attached buffers of {printed} bytes",
            cls.DESCRIPTOR.full_name,
            "give each as a file with --buffer, or leave attached_buffers out",
        )
    return read


def _encoding(options: PubOptions) -> str:
    """ "attached" with buffers, else the encoding of the channel's other endpoints, else
    "protobuf"."""
    if options.buffers:
        return "attached"
    end = an_end(look(options.domain), options.channel)
    return "attached" if end is not None and end.encoding == "attached" else "protobuf"


def _class(options: PubOptions) -> Any:
    """The class of the type: a struct if only a struct has this name, or if the channel carries
    it."""
    book = TypeBook(options.proto_path, options.descriptors, options.domain)
    end = an_end(look(options.domain), options.channel)
    type_hash = None
    if end is not None and (end.type_name, end.encoding) == (options.type_name, "struct"):
        type_hash = end.type_hash
    if type_hash is not None or book.find(options.type_name) is None:
        found = class_of(book, options.type_name, "struct", type_hash)
        if found is not None:
            return found
    return book.get(options.type_name)


def publish_text(options: PubOptions) -> int:
    """Publishes once, `count` times, or until Ctrl-C. 1 if the message could not be delivered."""
    text = _read_value(options)
    buffers = [path.read_bytes() for path in options.buffers]
    cls = None
    if options.type_name == "bytes":
        kind, payload = _parse_bytes(options, text)
        stamped = False
    else:
        cls = _class(options)
        read = message_from_text(cls, text, [len(one) for one in buffers])
        if isinstance(cls, StructMessage):
            kind = cls.struct.id
        else:
            kind = TypeId(cls.DESCRIPTOR.full_name, _encoding(options))
        payload, stamped = payload_of(cls, read.message), read.stamped
    if options.rate_hz is not None and options.rate_hz <= 0:
        raise Error("invalid_config", f"--rate {options.rate_hz:g} must be positive")
    count = options.count or (1 if options.rate_hz is None else None)
    with stoppable() as stop, open_tool("pub", options.domain) as node:
        if isinstance(cls, StructMessage):
            node.runtime.announce_types(definitions(codec_for(cls.struct)))
        elif cls is not None:
            node.runtime.announce_types(definition(cls))
        publisher = node.publisher(options.channel, Raw(kind))
        with reporting(lambda: _awaited(options), limit_s=options.wait_s):
            until(lambda: publisher.listeners > 0, options.wait_s, stop)
        if options.rate_hz is not None:
            print(_plan(options.channel, count, options.rate_hz), file=sys.stderr, flush=True)

        def make() -> tuple[bytes, list[bytes]]:
            if not stamped:
                return payload, buffers
            # Each message is stamped with its send time, on the clock of the robot.
            now = read_message(cls, text, node.clock.now_ns)
            return payload_of(cls, now.message), buffers

        with _Progress(publisher) as progress:
            return _publish(publisher, make, count, options.rate_hz or 1.0, stop, progress)


def _awaited(options: PubOptions) -> list[str]:
    head = f"waiting for a subscriber of '{options.channel}', for at most {options.wait_s:g} s"
    return process_lines(head, options.domain)


def _plan(channel: str, count: int | None, rate_hz: float) -> str:
    much = "" if count is None else f"{count} messages "
    return f"publishing {much}on {channel} at {rate_hz:g} Hz, Ctrl-C ends it"


class _Progress:
    """The number of published messages, on a transient line of the terminal."""

    def __init__(self, publisher: Publisher[Any]) -> None:
        self._publisher = publisher
        self._live = LiveArea(Console(stderr=True))
        self._next_s = time.monotonic() + _PROGRESS_S

    def __enter__(self) -> Self:
        if self._live.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def tell(self, sent: int, failed: int) -> None:
        now_s = time.monotonic()
        if not self._live.is_started or now_s < self._next_s:
            return
        self._next_s = now_s + _PROGRESS_S
        line = Text(f"● {sent:,} published, {self._publisher.listeners} subscribers")
        line.append(f", {failed:,} not delivered" if failed else "", "red")
        self._live.update(line, refresh=True)


def _publish(
    publisher: Publisher[Any],
    make: Callable[[], tuple[bytes, list[bytes]]],
    count: int | None,
    rate: float,
    stop: Stop,
    progress: _Progress,
) -> int:
    start, sent, failed = time.monotonic(), 0, 0
    failure: Published | None = None
    nobody = publisher.listeners == 0
    while count is None or sent < count:
        published = publisher.publish(make())
        if not published:
            failure, failed = published, failed + 1
        sent += 1
        progress.tell(sent, failed)
        if sent == count or stop.wait(max(0.0, start + sent / rate - time.monotonic())):
            break
    heard = "" if not nobody or publisher.listeners else ", no subscriber"
    print(f"published {sent} on {publisher.channel}{heard}", file=sys.stderr)
    if failure is not None:
        raise Error(
            failure.failure or "io",
            f"{failed} of {sent} messages were not delivered",
            publisher.channel,
        )
    return 0
