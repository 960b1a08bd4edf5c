"""Robots in real time: the test observes them through shared memory, as the tools do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, Policy, ProcessInfo
from hyphos.observe import Look, is_hidden, look
from hyphos.testing.inbox import Offer
from hyphos.testing.stage import RobotError, Trouble
from hyphos.tools.graph import RobotGraph, graph_of
from hyphos.tools.join import open_tool, raw_type, stays_inside

T = TypeVar("T")

_LOOK_S = 0.05
_LEAST_DEPTH, _MOST_DEPTH = 64, 8192
# Messages that may wait in shared memory for the test: many small ones, few large ones.
_DEPTH_OF = {"attached": 64, "bytes": 512}
_USUAL_DEPTH = 2048


class Observed:
    """The part of a Stage that real-time robots have in common.

    A thread takes a snapshot of the domain every 50 ms, for channels and for failures.
    """

    def __init__(self, domain: str, plan: dict[str, Any], changed: threading.Condition) -> None:
        self.domain = domain
        # Their messages do not leave the process of their publisher.
        self._local = {one["name"] for one in plan["channels"] if one["scope"] == "local"}
        self.left_out: list[str] = []
        self.node = open_tool("test", domain)
        self._changed = changed
        self._looks: list[Look] = []
        self._last = Look(0.0, [])
        self._count = 0
        self._ended = threading.Event()
        self._failure: Exception | None = None
        self._thread: threading.Thread | None = None

    # For subclasses.

    def failure(self) -> str:
        """The reason why no further wait makes sense, or "". Called with the lock of `changed`."""
        return ""

    # Of a Stage.

    def watch(self, discover: Callable[[Sequence[Offer]], None]) -> None:
        self._thread = threading.Thread(target=self._watch, args=(discover,), daemon=True)
        self._thread.start()

    def wait(self, condition: Callable[[], bool], within_s: float) -> bool:
        deadline = time.monotonic() + within_s
        while not condition():
            with self._changed:
                if self._failure is not None:
                    raise self._failure
                if words := self.failure():
                    raise RobotError(words)
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, _LOOK_S))
        return True

    def run(self, work: Callable[[], T]) -> T:
        return work()

    def policy_of(self, offer: Offer) -> Policy:
        """Always best effort: a test must not block the robot."""
        depth = _DEPTH_OF.get(offer.type.encoding, _USUAL_DEPTH)
        depth = min(_MOST_DEPTH, max(offer.policy.depth, depth, _LEAST_DEPTH))
        return Policy(latched=offer.policy.latched, depth=depth)

    def ends(self, channel: str) -> list[EndpointInfo]:
        with suppress(Error):
            return [end for _, end in self._of_robot(look(self.domain), channel)]
        return []

    def receivers(self, channel: str) -> int:
        with suppress(Error):
            found = self._of_robot(look(self.domain), channel)
            return len({p.participant for p, end in found if not end.is_publisher})
        return 0

    def connect(self, within_s: float) -> None:
        """Waits until the test receives each channel from all its publishers."""
        seen = self.wait(self._next_look(), within_s)
        if not seen or not self.wait(lambda: not self._unconnected(self._last), within_s):
            names = ", ".join(f"'{name}'" for name in self._unconnected(look(self.domain)))
            raise RobotError(
                f"the test could not connect to all publishers of {names} in {within_s:g} s"
            )

    def _unconnected(self, now: Look) -> list[str]:
        """The channels that the test receives, but not yet from all publishers."""
        ends = self.node.runtime.endpoints()
        own = [end.channel for end in ends if end.is_publisher]
        received = {end.channel for end in ends if not end.is_publisher} - self._local
        found = []
        for info in self.node.runtime.channels():
            if info.name not in received:
                continue
            # All publishers of a channel in one process are one connection.
            found_test: dict[int, bool] = {}
            for process, end in self._of_robot(now, info.name):
                if end.is_publisher:
                    # The test finds a publisher before the publisher finds the test.
                    before = found_test.get(process.participant, False)
                    found_test[process.participant] = before or "shm" in end.transports
            known = info.publishers - own.count(info.name)
            if known < len(found_test) or not all(found_test.values()):
                found.append(info.name)
        return found

    def graph(self) -> RobotGraph:
        with self._changed:
            before, now = self._looks[0], self._looks[-1]
        robot = [one for one in now.processes if one.name != self.node.name]
        return graph_of(self.domain, Look(now.time_s, robot), before)

    def close(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.node.close()
        del self.node  # the runtime ends with the last reference to it
        _hyphos.shm_clean(self.domain)  # of processes that the test killed

    # The thread.

    def _watch(self, discover: Callable[[Sequence[Offer]], None]) -> None:
        while not self._ended.wait(_LOOK_S):
            try:
                now = look(self.domain)
                discover(self._offers(now))
            except Error as error:
                with self._changed:
                    self._failure = error
                continue
            with self._changed:
                self._count += 1
                self._last = now
                # The last snapshot with endpoints stays, since they end with their processes.
                if any(self._of_robot(now)) or not self._looks:
                    self._looks = [*self._looks[-20:], now]
                self._changed.notify_all()

    def _next_look(self) -> Callable[[], bool]:
        """A condition that is true after one more complete snapshot."""
        first = self._count
        return lambda: self._count >= first + 2

    def _of_robot(
        self, now: Look, channel: str | None = None
    ) -> list[tuple[ProcessInfo, EndpointInfo]]:
        return [(p, end) for p, end in now.ends(channel) if p.name != self.node.name]

    def _offers(self, now: Look) -> list[Offer]:
        return [
            Offer(end.channel, raw_type(end).id, end.policy)
            for _, end in self._of_robot(now)
            if end.is_publisher and not is_hidden(end.channel) and not stays_inside(end)
        ]

    def own_troubles(self) -> list[Trouble]:
        """Exceptions in the callbacks of the test itself."""
        errors = self.node.runtime.callback_errors()
        return [Trouble("exception", errors.first)] if errors.count else []
