"""The robot under test."""

from __future__ import annotations

import itertools
import os
import re
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from types import TracebackType
from typing import Any, Self

from hyphos._errors import Error
from hyphos._hyphos import Policy
from hyphos.node import Node
from hyphos.publisher import Publisher
from hyphos.testing import evidence, faults, golden, played, session, texts
from hyphos.testing.few_nodes import Program
from hyphos.testing.hosted import START_NS, Stepped
from hyphos.testing.inbox import Inbox, Kept, Limits, Offer
from hyphos.testing.launched import Launched
from hyphos.testing.opening import Options, open_stage
from hyphos.testing.stage import RobotError, Stage, Trouble
from hyphos.testing.taps import Taps
from hyphos.types import Attached, codec_for

_numbers = itertools.count()


class Robot:
    """A robot in a domain of its own, for one test. Use it with `with`.

        with Robot("robot.yaml") as robot:
            robot.expect("greeting", lambda m: m.data == "hello", within=5)

    Without `lockstep` the processes of the plan run as with `hyphos run`, in real time. The `with`
    block begins when all processes are ready and the test receives all channels. With `lockstep`
    all plug-ins and Python nodes of the plan run in the process of the test, one callback at a
    time, on a simulated time that only step(), expect() and play() advance.

    At the end of the block the test fails if a process failed or a callback raised an exception.
    Logs, the last messages and a drawing of the robot are then kept in a folder below `failures`.
    Use one Robot from one thread.
    """

    def __init__(
        self,
        plan: str | Path | None = None,
        *,
        lockstep: bool = False,
        nodes: Sequence[str] | Mapping[str, Program] = (),
        processes: Sequence[str] = (),
        params: Mapping[str, Mapping[str, Any]] | None = None,
        settings: Sequence[str] = (),
        types: Mapping[str, Any] | None = None,
        watch: Sequence[str] = ("*",),
        intercept: Sequence[str] = (),
        strict: bool = False,
        allow_exceptions: bool = False,
        max_drops: int | None = None,
        require_subscribers: bool = False,
        ready_within: float = 60.0,
        tick_ms: float = 10.0,
        begin_at: str | Path | int = START_NS,
        keep_messages: int = 10_000,
        keep_bytes: int = 64 << 20,
        domain: str | None = None,
        failures: str | Path | None = None,
        name: str | None = None,
        base: str | Path = ".",
    ) -> None:
        """`plan` is a robot.yaml. Without it, `nodes` maps names to classes that take the node, or
        to "module:Class" or "file.py:Class", and `params` maps nodes to their parameters.

        - `nodes`: with a plan and `lockstep`: a list, and only these nodes run. Or a map from names
          to classes that replace nodes of the plan.
        - `processes`: with a plan in real time, only these processes run.
        - `settings`: changes of the plan, as `--set`: `"channels.scan.depth=3"`.
        - `types`: types by channel, for types whose classes the test cannot find.
        - `watch`: patterns of the channels whose messages the test receives.
        - `intercept`: channels on which the test can damage messages, see damage(). ["*"]: all.
          "scan:mapper" is the link of a channel to one subscriber.
        - `strict`: fails on each use of a channel that differs from the plan.
        - `allow_exceptions`: exceptions in callbacks do not fail the test.
        - `max_drops`: fails if the nodes dropped more messages than this.
        - `require_subscribers`: fails on a channel without a publisher or without a subscriber.
        - `ready_within`: limit in seconds for the start.
        - `tick_ms`: with `lockstep`, the largest step of the time.
        - `begin_at`: with `lockstep`, the first time: nanoseconds, or a recording.
        - `keep_messages`, `keep_bytes`: the newest messages of each channel are kept up to here.
        - `failures`: folder for the logs of failed tests. Default: `hyphos-failures`, or pytest's
          `--hyphos-failures`.
        - `name`: name of the folder below `failures`. Default: the running test of pytest.
        - `base`: folder to which `plan` and files in `nodes` are relative.
        """
        if plan is None and not isinstance(nodes, Mapping):
            raise Error("invalid_config", "a Robot needs a plan, or nodes={NAME: CLASS}")
        self._base = Path(base)
        self._options = Options(
            plan=self._base / plan if plan is not None else None,
            base=self._base,
            domain=domain or f"test{os.getpid()}-{next(_numbers)}",
            lockstep=lockstep,
            nodes=nodes,
            processes=processes,
            params=params or {},
            settings=settings,
            types=types or {},
            intercept=intercept,
            allow_exceptions=allow_exceptions,
            ready_within_s=ready_within,
            tick_ms=tick_ms,
            begin_at=begin_at,
        )
        self._watch = watch
        self._strict = strict
        self._max_drops = max_drops
        self._require_subscribers = require_subscribers
        self._limits = Limits(keep_messages, keep_bytes)
        self._failures = Path(failures) if failures is not None else session.OPTIONS.failures
        self._name = name or session.name_of_test() or (Path(plan).stem if plan else "robot")
        self._changed = threading.Condition()
        self._publishers: dict[str, Publisher[Any]] = {}
        self._taps: Taps
        self._folder: Path | None = None
        self._stage: Stage | None = None
        self._kept: Path | None = None
        self._checked = False

    # The block.

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="hyphos-test-"))
        try:
            self._begin(self._folder)
        except BaseException:
            self.keep_and_close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.keep_and_close()
            return
        try:
            self.check()
        except BaseException:
            self.keep_and_close()
            raise
        self.close()

    def _begin(self, folder: Path) -> None:
        opened = open_stage(self._options, folder, self._changed)
        stage = self._stage = opened.stage
        self._types, self._faults = opened.types, opened.faults
        self._taps = Taps(
            stage.node,
            self._watch,
            opened.types,
            self._limits,
            opened.faults,
            self._changed,
            stage.policy_of,
        )
        self._taps.subscribe_given()
        stage.begin(self._taps.discover)

    @property
    def _running(self) -> Stage:
        if self._stage is None:
            raise RuntimeError("the robot runs only inside `with Robot(...) as robot:`")
        return self._stage

    # Messages.

    def expect(
        self,
        channel: str,
        predicate: Callable[[Any], object] | None = None,
        *,
        within: float = 5.0,
        fresh: bool = False,
    ) -> Any:
        """Waits for a message of `channel` for which `predicate` is true, and returns the message.

        Without `predicate` any message will do. `within` is in seconds of the robot's time. Each
        message of a channel is looked at once: the next expect() begins after the returned message.
        With `fresh` it begins with the next message that arrives. Raises RobotError, an
        AssertionError, if no such message comes.
        """
        inbox = self._taps.inbox(channel)
        if fresh:
            inbox.cursor = inbox.total
        start = inbox.cursor
        found = self._search(inbox, predicate, within)
        if found:
            return found[0]
        raise RobotError(
            texts.why_not(inbox, start, within, self._running, self._types, self._taps.inboxes)
        )

    def expect_none(
        self,
        channel: str,
        predicate: Callable[[Any], object] | None = None,
        *,
        during: float = 1.0,
    ) -> None:
        """Waits `during` seconds of the robot's time. Fails on a message for which `predicate` is
        true, among those that no expect() has passed."""
        found = self._search(self._taps.inbox(channel), predicate, during)
        if found:
            raise RobotError(
                f"a message on '{channel}' that must not come: {texts.shown(found[0])}"
            )

    def _search(
        self, inbox: Inbox, predicate: Callable[[Any], object] | None, seconds: float
    ) -> list[Any]:
        """The next message that satisfies the predicate, or an empty list."""
        found: list[Any] = []

        def look() -> bool:
            first, waiting = inbox.since(inbox.cursor)
            for number, one in enumerate(waiting, first):
                value = self._value(inbox, one)
                inbox.cursor = number + 1
                if predicate is None or predicate(value):
                    found.append(value)
                    return True
            return False

        self._running.wait(look, seconds)
        return found

    def messages(self, channel: str) -> list[Any]:
        """The messages of a channel so far, the oldest first, up to `keep_messages`."""
        inbox = self._taps.inbox(channel)
        return [self._value(inbox, one) for one in inbox.since(0)[1]]

    def count(self, channel: str) -> int:
        """The number of messages that the test has received on a channel."""
        return self._taps.inbox(channel).total

    def publish(self, channel: str, message: Any, *buffers: object, within: float = 5.0) -> None:
        """Publishes a message to the robot.

        In real time, waits up to `within` seconds until each subscriber is connected. Raises
        RobotError if there is none, or if the message could not be delivered.
        """
        stage = self._running
        if buffers:
            message = Attached(message, list(buffers))
        publisher = self._publisher(channel, message)
        if not stage.wait(lambda: self._is_connected(channel, publisher), within):
            there = texts.channels(self._taps.inboxes)
            raise RobotError(f"no subscriber of '{channel}' within {within:g} s: {there}")
        published = stage.run(lambda: publisher.publish(message))
        if not published:
            raise RobotError(f"the message on '{channel}' was not delivered: {published.failure}")

    def _publisher(self, channel: str, message: Any) -> Publisher[Any]:
        if channel not in self._publishers:
            stage = self._running
            kind = self._options.types.get(channel, _type_of(message))
            ends = stage.ends(channel)
            for target in self._faults.targets_of(channel):
                ends += stage.ends(target)
            policy = ends[0].policy if ends else Policy()
            self._taps.connect_links(Offer(channel, codec_for(kind).id, policy))
            self._publishers[channel] = stage.node.publisher(channel, kind, policy=policy)
        return self._publishers[channel]

    def _is_connected(self, channel: str, publisher: Publisher[Any]) -> bool:
        wanted = self._running.receivers(channel)
        links = self._faults.links_of(channel)
        own = int(self._taps.is_open(channel)) + len(links)
        there = wanted > 0 or len(links) > 0
        linked = all(link.listeners > 0 for link in links)
        return there and linked and publisher.listeners >= wanted + own

    def _value(self, inbox: Inbox, one: Kept) -> Any:
        assert inbox.type is not None, "a channel with messages has a type"
        return self._types.value(inbox.channel, inbox.type, one)

    # Time.

    def step(self, seconds: float) -> None:
        """With `lockstep`: advances the time, and runs all timers and callbacks up to then."""
        self._stepped("step()").step(seconds)

    @property
    def elapsed(self) -> float:
        """With `lockstep`: the time since the start, in seconds."""
        return self._stepped("elapsed").elapsed_s

    def play(
        self,
        recording: str | Path,
        channels: Sequence[str] = ("*",),
        *,
        remap: Mapping[str, str] | None = None,
    ) -> None:
        """Publishes the messages of a recording, the first one now. Returns after the last one.

        With `lockstep`, channels that nodes of the robot publish are left out, unless `channels`
        names them. `Robot(begin_at=recording)` begins with the recording's time.
        """
        stage, path = self._running, self._base / recording
        if isinstance(stage, Stepped):
            played.play(stage, path, channels, remap or {}, self._taps.connect_links)
        else:
            played.replay(self._options.domain, path, channels, remap or {})

    def _stepped(self, what: str) -> Stepped:
        stage = self._running
        if not isinstance(stage, Stepped):
            raise RuntimeError(f"{what} needs Robot(..., lockstep=True)")
        return stage

    # Faults.

    def kill(self, process: str) -> None:
        """Kills a process of the plan with SIGKILL, and waits for its end.

        The plan's `restart` then decides. Without a restart, the other processes continue.
        """
        self._launched("kill()").kill(process)

    def pause(self, process: str) -> None:
        """Stops a process of the plan until resume(), as if it hung."""
        self._launched("pause()").kill(process, signal.SIGSTOP)

    def resume(self, process: str) -> None:
        """Continues a process after pause()."""
        self._launched("resume()").kill(process, signal.SIGCONT)

    def expect_ready(self, process: str, *, within: float = 30.0) -> None:
        """Waits until a process is ready, for example after a restart."""
        stage = self._launched("expect_ready()")
        if not stage.wait(lambda: stage.is_ready(process), within):
            raise RobotError(f"process '{process}' is not ready within {within:g} s")

    def expect_output(self, process: str, pattern: str, *, within: float = 5.0) -> re.Match[str]:
        """Waits for a line of a process's output that matches, of all its lines so far.

        `pattern` is a regular expression for a part of a line. Lines before a restart count.
        """
        stage = self._launched("expect_output()")
        compiled = re.compile(pattern, re.MULTILINE)
        found: list[re.Match[str]] = []

        def look() -> bool:
            found.extend(filter(None, [compiled.search(stage.output(process))]))
            return bool(found)

        if stage.wait(look, within):
            return found[0]
        lines = stage.output(process).splitlines()
        last = f", the last line is {lines[-1]!r}" if lines else ""
        raise RobotError(
            f"no line of process '{process}' matches {pattern!r} within {within:g} s{last}"
        )

    def damage(self, channel: str, fault: Callable[[Any], Any], *, to: str | None = None) -> None:
        """Changes all further messages of an intercepted channel, or with `to` of its link to one
        subscriber, which `intercept` names as "CHANNEL:SUBSCRIBER".

        `fault(message)` returns the message to pass on, a list of messages, or None to lose it.
        """
        self._faults.set(faults.key_of(channel, to), fault)

    def cut(self, *channels: str, to: str | None = None) -> None:
        """Loses all further messages of intercepted channels. Without names: of all of them.

        With `to`, only this subscriber loses them: `intercept` names "CHANNEL:SUBSCRIBER".
        """
        for name in self._named(channels, to):
            self._faults.set(name, faults.lose_all)

    def lose(self, channel: str, share: float, *, seed: int = 1, to: str | None = None) -> None:
        """Loses a random share of the messages, 0 to 1, the same for the same seed."""
        self._faults.set(faults.key_of(channel, to), faults.lose_share(share, seed))

    def repair(self, *channels: str, to: str | None = None) -> None:
        """Ends the faults of channels. Without names: of all channels and links."""
        for name in self._named(channels, to):
            self._faults.set(name, None)

    def lost(self, channel: str, *, to: str | None = None) -> int:
        """The number of messages that faults have lost on an intercepted channel or link."""
        return self._faults.lost[faults.key_of(channel, to)]

    def _named(self, channels: Sequence[str], to: str | None) -> list[str]:
        """The names of interceptions. Without channels: all, or all links to one subscriber."""
        if channels:
            return [faults.key_of(channel, to) for channel in channels]
        names = self._faults.names
        return names if to is None else [name for name in names if name.endswith(f":{to}")]

    def _launched(self, what: str) -> Launched:
        stage = self._running
        if not isinstance(stage, Launched):
            raise RuntimeError(f"{what} needs a Robot with a plan, without lockstep")
        return stage

    # Recordings.

    def record(self, path: str | Path, channels: Sequence[str] = ("*",)) -> None:
        """Writes the messages that the test has received so far to an MCAP file."""
        golden.write(self._base / path, self._chosen(channels))

    def expect_golden(
        self,
        path: str | Path,
        channels: Sequence[str] = ("*",),
        *,
        tolerance: float | Mapping[str, float] = 0.0,
        ignore: Sequence[str] = (),
        time_tolerance: float | None = None,
        update: bool | None = None,
    ) -> None:
        """Compares the received messages with a golden recording, channel by channel and in order.

        - `tolerance`: the largest difference of numbers, for all channels or by channel.
        - `ignore`: fields that are not compared: `"header.stamp_ns"`.
        - `time_tolerance`: the largest difference of times in seconds. None: times do not count.
        - `update`: writes the golden recording. Default: pytest's `--hyphos-update-golden`.
        """
        at = self._base / path
        if session.OPTIONS.update_golden if update is None else update:
            golden.write(at, self._chosen(channels))
            return
        rules = golden.Rules(tolerance, ignore, time_tolerance)
        found = golden.differences(at, self._chosen(channels), channels, rules, self._types)
        if found:
            raise RobotError(
                f"the robot differs from {at}:" + "".join(f"\n  {line}" for line in found)
            )

    def _chosen(self, patterns: Sequence[str]) -> list[Inbox]:
        return golden.chosen(self._taps.inboxes, patterns)

    # The verdict.

    @property
    def node(self) -> Node:
        """The node of the test, for timers, services and everything else of a node."""
        return self._running.node

    @property
    def domain(self) -> str:
        """The domain of the robot, for commands such as `hyphos channel list -d DOMAIN`."""
        return self._options.domain

    @property
    def folder(self) -> Path:
        """The folder of the logs while the robot runs: one file for each process."""
        assert self._folder is not None, "the robot runs only inside its block"
        return self._folder

    @property
    def kept(self) -> Path | None:
        """The folder with logs, messages and drawing, after a failure."""
        return self._kept

    def check(self) -> None:
        """Ends the robot, and raises RobotError if the run had a fault that the test does not
        allow. Called at the end of the block."""
        if self._checked:
            return
        self._checked = True
        self._draw()
        troubles = self._running.stop()
        failing = [*filter(self._fails, troubles), *self._of_drops(troubles)]
        if failing:
            raise RobotError("\n".join(one.text for one in failing))

    def _fails(self, one: Trouble) -> bool:
        if one.kind == "process":
            return True
        if one.kind == "exception":
            return not self._options.allow_exceptions
        if one.kind == "drops":
            return False
        if one.kind in ("no_publisher", "no_subscriber"):
            return self._strict or self._require_subscribers
        return self._strict

    def _of_drops(self, troubles: Sequence[Trouble]) -> list[Trouble]:
        drops = [one for one in troubles if one.kind == "drops"]
        total = sum(one.drops for one in drops)
        if self._max_drops is None or total <= self._max_drops:
            return []
        text = f"{total:,} messages were dropped, and max_drops is {self._max_drops:,}"
        return [Trouble("drops", "\n  ".join([text, *(one.text for one in drops)]))]

    def keep(self) -> Path:
        """Keeps logs, messages and drawing, as after a failure, and returns their folder."""
        if self._kept is None:
            assert self._folder is not None
            self._draw()
            self._kept = evidence.keep(
                self._folder, self._failures, self._name, self._taps.inboxes.values()
            )
        return self._kept

    def _draw(self) -> None:
        if self._stage is not None and self._folder is not None:
            evidence.draw(self._stage, self._folder)

    def keep_and_close(self) -> None:
        """Ends the robot of a failed test: keeps logs, messages and drawing. Idempotent."""
        if self._stage is not None and self._folder is not None:
            self._draw()
            self._stage.stop()  # the logs then are complete
            kept = self.keep()
            print(f"hyphos: logs, messages and drawing of the robot are in {kept}")
        self.close()

    def close(self) -> None:
        """Ends the robot without a verdict. Idempotent."""
        if self._stage is not None:
            self._publishers.clear()
            self._taps.close()
            self._stage.close()
            self._stage = None
        if self._folder is not None:
            rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _type_of(message: Any) -> Any:
    if isinstance(message, Attached):
        head: Any = type(message.head)
        return Attached[head]
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes
    return type(message)
