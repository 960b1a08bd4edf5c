"""The messages that a robot under test has published, channel by channel."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from google.protobuf import descriptor_pool

from hyphos._errors import Error
from hyphos._hyphos import Policy, TypeId
from hyphos.ros.protos import message_class
from hyphos.ros.typebook import TypeBook
from hyphos.types import Attached, Codec, codec_for


@dataclass(frozen=True)
class Kept:
    """One message, as encoded."""

    time_ns: int  # of the robot's clock, when the test received it
    sequence: int
    payload: bytes
    buffers: tuple[bytes, ...]

    @property
    def size(self) -> int:
        return len(self.payload) + sum(map(len, self.buffers))


@dataclass(frozen=True)
class Offer:
    """A channel that the robot publishes."""

    channel: str
    type: TypeId
    policy: Policy


@dataclass(frozen=True)
class Limits:
    """The messages that are kept of one channel: the newest."""

    messages: int
    bytes: int


class Inbox:
    """The messages of one channel. Each has a number, counted from 0. Thread-safe."""

    def __init__(self, channel: str, changed: threading.Condition, limits: Limits) -> None:
        self.channel = channel
        self.type: TypeId | None = None
        self.policy = Policy()
        self.cursor = 0  # number of the first message that no expect() has passed
        self._changed = changed
        self._limits = limits
        self._kept: deque[Kept] = deque()
        self._bytes = 0
        self._first = 0  # number of the oldest kept message

    @property
    def total(self) -> int:
        """The number of messages so far, also of those that are not kept any more."""
        with self._changed:
            return self._first + len(self._kept)

    @property
    def forgotten(self) -> int:
        """The number of messages that are not kept any more."""
        return self._first

    def add(self, one: Kept) -> None:
        with self._changed:
            self._kept.append(one)
            self._bytes += one.size
            while len(self._kept) > self._limits.messages or (
                self._bytes > self._limits.bytes and len(self._kept) > 1
            ):
                self._bytes -= self._kept.popleft().size
                self._first += 1
            self._changed.notify_all()

    def since(self, number: int) -> tuple[int, list[Kept]]:
        """The kept messages from `number` on, and the number of the first of them."""
        with self._changed:
            first = max(number, self._first)
            return first, list(islice(self._kept, first - self._first, None))


class Types:
    """Decodes messages: by the types that the test gives, else by the classes that it can find."""

    def __init__(self, given: Mapping[str, Any], domain: str | None) -> None:
        self._given = given
        self._domain = domain
        self._codecs: dict[str, Codec] = {}

    @property
    def given_channels(self) -> list[str]:
        return list(self._given)

    def given(self, channel: str) -> Codec | None:
        return codec_for(self._given[channel]) if channel in self._given else None

    def value(self, channel: str, kind: TypeId, one: Kept) -> Any:
        codec: Any = self.codec(channel, kind)
        return codec.decode(one.payload, list(one.buffers))

    def codec(self, channel: str, kind: TypeId) -> Codec:
        """The codec of a channel. Raises an error if the test does not know its type."""
        known = self._codecs.get(channel)
        if known is None:
            known = self._codecs[channel] = self._find(channel, kind)
        return known

    def _find(self, channel: str, kind: TypeId) -> Codec:
        given = self.given(channel)
        if given is not None:
            if (given.id.name, given.id.encoding) != (kind.name, kind.encoding):
                raise Error(
                    "type_mismatch",
                    f"the test gives {given.id.name} ({given.id.encoding}) as the type of "
                    f"'{channel}', which carries {kind.name} ({kind.encoding})",
                    channel,
                    "correct types= of the Robot",
                )
            return given
        if kind.encoding == "bytes":
            return codec_for(bytes)
        if kind.encoding in ("protobuf", "attached"):
            cls: Any = self._class(kind.name)
            if cls is not None:
                return codec_for(Attached[cls] if kind.encoding == "attached" else cls)
        form = "Struct(...)" if kind.encoding == "struct" else "its class"
        raise Error(
            "not_found",
            f"channel '{channel}' carries {kind.name} ({kind.encoding}), which the test does not "
            "know",
            channel,
            f"import its class before, or give types={{'{channel}': {form}}} to the Robot",
        )

    def _class(self, name: str) -> Any:
        """The class of the test's own modules first, so that messages of both compare as equal."""
        try:
            return message_class(descriptor_pool.Default().FindMessageTypeByName(name))
        except KeyError:
            return TypeBook(domain=self._domain).find(name)
