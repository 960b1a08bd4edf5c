"""The publisher of a channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np

from hyphos import _hyphos
from hyphos._closing import Closing
from hyphos._hyphos import Published
from hyphos._timeouts import to_ns
from hyphos.types import Attached, AttachedCodec, Bytes, Codec

T = TypeVar("T")


class Publisher(Closing, Generic[T]):
    """Publishes messages on one channel. Thread-safe.

    publish() blocks only if the overflow rule of the channel is `block`. It encodes the value with
    the GIL held. Waiting and copies of large payloads run without the GIL. publish() raises
    `hyphos.Error` once the publisher or its node is closed, and in a forked child.
    """

    def __init__(self, core: _hyphos.Publisher, codec: Codec) -> None:
        self._core = core
        self._codec = codec
        self._attached = isinstance(codec, AttachedCodec)

    @overload
    def publish(self, value: T) -> Published: ...
    @overload
    def publish(self, value: object, *buffers: object) -> Published: ...
    def publish(self, value: Any, *buffers: object) -> Published:
        """Publishes one value. `Attached` channels also accept `publish(head, buffer, ...)`.

        The result is false if the channel could not keep a promise of its policy. Its `failure` has
        the reason, for example a `block` timeout, a reliable receiver that is gone, or a message
        that is too large. Raises TypeError for a value of another type.
        """
        # Not _encode(): a call costs a tenth of publishing a small value.
        if self._attached and not isinstance(value, Attached):
            value = Attached(value, buffers)
        elif buffers:
            raise TypeError(f"channel '{self.channel}' has no attached buffers: one value only")
        payload, parts = self._codec.encode(value)
        return self._core.publish(payload, parts)

    def try_publish(self, value: Any, *buffers: object) -> Published:
        """Publishes one value like publish(), but never waits.

        If the overflow rule is `block` and a queue is full, nothing is sent, and the `failure` of
        the result is "overloaded". Such a message counts neither as sent nor as dropped. Cost: that
        of publish() and has_room(), and one copy of the payload.
        """
        return self._core.try_publish(*self._encode(value, buffers))

    def _encode(self, value: Any, buffers: tuple[object, ...]) -> tuple[object, Sequence[object]]:
        if self._attached and not isinstance(value, Attached):
            value = Attached(value, buffers)
        elif buffers:
            raise TypeError(f"channel '{self.channel}' has no attached buffers: one value only")
        return self._codec.encode(value)

    def wait_for(self, subscribers: int = 1, *, timeout_ms: float = 10_000) -> None:
        """Waits until at least `subscribers` would get a message that is published now.

        Counts each subscription of this process, and each other process with subscriptions. Raises
        `hyphos.Error`: timeout, type_mismatch if a subscriber was refused, or disconnected. Waits
        without the GIL. Ctrl-C ends it.
        """
        self._core.wait_for(subscribers, to_ns(timeout_ms))

    def loan(self, size: int) -> Bytes:
        """Loans `size` bytes of memory that receivers can read, as a NumPy array of uint8.

        The bytes are writable and not initialised. Fill the array (or a reshaped or retyped view)
        and publish it: the publisher makes no copy. Do not write to the array after publish().
        Dropping the array returns the memory. Falls back to the heap without shared memory.
        """
        if size == 0:
            return np.zeros(0, np.uint8)
        return np.frombuffer(memoryview(self._core.loan(size)), np.uint8)

    def has_room(self, size: int = 0) -> bool:
        """Returns True if publish() of `size` encoded bytes would neither wait nor drop a message.

        publish() waits if the overflow rule is `block` and a queue is full. Under the other rules a
        full queue drops. The answer covers the queues to other processes. Until the caller
        publishes, only publishers of the same channel in this process can take the room. The check
        takes locks, so do not call it for every message of a fast channel.
        """
        return self._core.has_room(size)

    @property
    def listeners(self) -> int:
        """The number of subscriptions in this process plus receivers in other processes."""
        return self._core.listeners

    @property
    def channel(self) -> str:
        """The name of the channel."""
        return self._core.channel

    def close(self) -> None:
        """Closes the publisher. Later publish() calls raise `hyphos.Error`. Idempotent."""
        self._core.close()
