"""The decisions of a supervisor, with a fake clock and fake processes."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from hyphos.supervise.children import Usage
from hyphos.supervise.events import (
    Crashed,
    Ended,
    Event,
    Healthy,
    IsReady,
    Lost,
    NotStarted,
    Signalled,
    Started,
    Unhealthy,
    from_message,
    to_message,
)
from hyphos.supervise.printer import Interrupted
from hyphos.supervise.supervisor import Managed, Options, State, Supervisor

HEALTH = {"heartbeat_ms": 0, "channels": [], "action": "kill"}


def process(name: str, after: tuple[str, ...] = (), **other: Any) -> dict[str, Any]:
    """A process as the plan describes it, with short times."""
    return {
        "name": name,
        "kind": "native",
        "after": list(after),
        "ready_timeout_ms": 10_000,
        "stop_timeout_ms": 5_000,
        "restart": "never",
        "backoff_ms": 100,
        "max_backoff_ms": 1_000,
        "max_restarts_per_minute": 5,
        "health": HEALTH,
        **other,
    }


class PaperPlace:
    """Records the orders of the supervisor."""

    def __init__(self, host: str = "") -> None:
        self.host = host
        self.started: list[str] = []
        self.signals: list[tuple[str, int]] = []

    def start(self, process: str) -> None:
        self.started.append(process)

    def signal(self, process: str, number: int) -> None:
        self.signals.append((process, number))

    def usage(self, process: str) -> Usage:  # noqa: ARG002
        return Usage()

    def close(self) -> None:
        pass


class Scene:
    """A supervisor with a running plan."""

    def __init__(self, *plans: dict[str, Any], **options: Any) -> None:
        self.place = PaperPlace()
        self.now = 0.0
        self.told: list[str] = []
        self.marks: list[tuple[str, str]] = []
        self.pids = 100
        self.sup = Supervisor(
            [Managed(plan, self.place) for plan in plans],
            Options(**options),
            lambda words, _style: self.told.append(words),
            lambda name, words: self.marks.append((name, words)),
        )
        self.sup.begin(self.now)

    def __getitem__(self, name: str) -> Managed:
        return next(one for one in self.sup.processes if one.name == name)

    def handle(self, event: Event) -> None:
        self.sup.handle(event, self.now)

    def over(self) -> bool:
        return self.sup.over

    def up(self, name: str) -> int:
        """Makes a process started and ready. Returns its pid."""
        pid = self.begun(name)
        self.handle(IsReady(name, pid))
        return pid

    def begun(self, name: str) -> int:
        self.pids += 1
        self.handle(Started(name, self.pids))
        return self.pids

    def end(self, name: str, code: int = 0) -> None:
        self.handle(Ended(name, self[name].pid, code))

    def later(self, seconds: float) -> None:
        """Advances the time, with a tick at every instant that the supervisor asked for."""
        until = self.now + seconds
        while (due := self.sup.next_due()) is not None and due <= until:
            self.now = max(self.now, due)
            self.sup.tick(self.now)
        self.now = until

    def take_signals(self) -> list[tuple[str, int]]:
        taken, self.place.signals = self.place.signals, []
        return taken


def test_each_process_starts_after_its_predecessors_are_ready() -> None:
    scene = Scene(process("c", ("a", "b")), process("a"), process("b", ("a",)))
    assert scene.place.started == ["a"]
    scene.begun("a")
    assert scene.place.started == ["a"]  # running is not ready
    assert scene["b"].label == "waiting"
    scene.handle(IsReady("a", scene["a"].pid))
    assert scene.place.started == ["a", "b"]
    scene.up("b")
    assert scene.place.started == ["a", "b", "c"]


def test_a_process_that_exits_with_0_counts_as_ready() -> None:
    scene = Scene(process("setup"), process("robot", ("setup",)))
    scene.begun("setup")
    scene.end("setup", 0)
    assert scene.place.started == ["setup", "robot"]


def test_processes_after_a_failed_one_are_reported() -> None:
    scene = Scene(process("a"), process("b", ("a",)), process("c", ("b",)), keep_going=True)
    scene.begun("a")
    scene.end("a", 3)
    assert scene["a"].label == "failed (3)"
    assert scene["b"].label == "not started: a, which it waits for, failed"
    assert scene["c"].label == "not started: b, which it waits for, failed"
    assert scene.sup.over
    assert [one.name for one in scene.sup.failed] == ["a", "b", "c"]


def test_a_failure_ends_the_run_unless_keep_going_is_set() -> None:
    scene = Scene(process("a"), process("b"))
    scene.up("a")
    scene.up("b")
    scene.end("a", 1)
    assert scene.take_signals() == [("b", signal.SIGINT)]
    scene.end("b", 0)
    assert scene.sup.over
    assert [one.name for one in scene.sup.failed] == ["a"]
    going = Scene(process("a"), process("b"), keep_going=True)
    going.up("a")
    going.up("b")
    going.end("a", -11)
    assert going.take_signals() == []
    assert not going.sup.over
    assert going["a"].label == "crashed (SIGSEGV)"
    assert scene.sup.cause is scene["a"]
    assert going.sup.cause is None


def test_a_crash_names_the_work_of_the_thread_once() -> None:
    scene = Scene(process("a", restart="on_failure"))
    scene.up("a")
    crashed = Crashed("a", scene["a"].pid, "node 'n', callback of a timer")
    assert from_message(to_message(crashed)) == crashed
    scene.sup.handle(crashed, scene.now)
    scene.end("a", -signal.SIGSEGV)
    assert scene["a"].end == "crashed (SIGSEGV) in node 'n', callback of a timer"
    assert ("a", f"--- {scene['a'].end}, restart 1 ---") in scene.marks
    scene.now += 1
    scene.sup.tick(scene.now)
    scene.up("a")
    scene.end("a", -signal.SIGKILL)  # the next end is not a crash
    assert scene["a"].end == "killed by SIGKILL"


def test_a_failure_is_noted_in_the_log() -> None:
    scene = Scene(process("a"))
    scene.up("a")
    scene.end("a", 3)
    assert scene.marks == [("a", "--- failed (3) ---")]


def test_only_tracebacks_of_a_stop_are_held_back() -> None:
    held = Interrupted()
    asked = [
        b"Traceback (most recent call last):\n",
        b'  File "a.py", line 1, in <module>\n',
        b"    import re\n",
        b"KeyboardInterrupt\n",
    ]
    assert [line for one in asked for line in held.take("p", one)] == []
    other = [*asked[:3], b"ValueError: no map\n", b"next\n"]
    assert [line for one in other for line in held.take("p", one)] == other
    for line in asked[:2]:
        assert held.take("p", line) == []
    assert held.take("q", b"other\n") == [b"other\n"]
    assert held.rest("p") == asked[:2]  # it ended in the middle
    assert held.rest("p") == []


@pytest.mark.parametrize(
    ("policy", "code", "again"),
    [
        ("never", 1, False),
        ("never", 0, False),
        ("on_failure", 1, True),
        ("on_failure", -9, True),
        ("on_failure", 0, False),
        ("always", 0, True),
        ("always", 1, True),
    ],
)
def test_the_policy_decides_on_a_restart(policy: str, code: int, again: bool) -> None:
    scene = Scene(process("a", restart=policy), process("b"))
    scene.up("a")
    scene.up("b")
    scene.end("a", code)
    scene.later(0.1)
    assert scene.place.started.count("a") == (2 if again else 1)


def test_the_backoff_grows_to_its_cap_and_resets() -> None:
    scene = Scene(process("a", restart="always", max_restarts_per_minute=100))
    waits = []
    for _ in range(6):
        scene.up("a")
        scene.end("a", 1)
        due = scene.sup.next_due()
        assert due is not None
        waits.append(round(due - scene.now, 6))
        scene.later(waits[-1])
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    scene.up("a")
    scene.later(1.5)
    scene.end("a", 1)
    due = scene.sup.next_due()
    assert due is not None
    assert due - scene.now == pytest.approx(0.1)


def test_too_many_restarts_in_a_minute_are_given_up() -> None:
    scene = Scene(process("a", restart="on_failure", backoff_ms=0, max_backoff_ms=0))
    for _ in range(5):
        scene.up("a")
        scene.end("a", -9)
        scene.later(0.0)
    assert scene.place.started == ["a"] * 6
    scene.up("a")
    scene.end("a", -9)
    scene.later(60.0)
    assert scene.place.started == ["a"] * 6
    assert scene["a"].label == (
        "killed by SIGKILL, giving up after 5 restarts within a minute (max_restarts_per_minute)"
    )
    assert scene.sup.over
    assert scene.sup.failed


def test_restarts_spread_over_time_are_never_given_up() -> None:
    scene = Scene(process("a", restart="on_failure"))
    for _ in range(50):
        scene.up("a")
        scene.later(13.0)
        scene.end("a", -9)
        scene.later(0.1)
    assert scene["a"].state == State.STARTING
    assert scene["a"].restarts == 50
    assert len(scene.marks) == 50
    assert scene.marks[0] == ("a", "--- killed by SIGKILL, restart 1 ---")


def test_a_restart_leaves_dependent_processes_alone() -> None:
    scene = Scene(process("a", restart="on_failure"), process("b", ("a",)))
    scene.up("a")
    scene.up("b")
    scene.end("a", -9)
    scene.later(0.1)
    assert scene.place.started == ["a", "b", "a"]
    assert scene.take_signals() == []
    scene.up("a")
    assert any("a is back after" in words for words in scene.told)


def test_a_process_that_is_never_ready_has_failed() -> None:
    scene = Scene(process("a"), process("b", ("a",)))
    scene.begun("a")
    scene.later(9.9)
    assert scene.take_signals() == []
    scene.later(0.2)
    assert scene.take_signals() == [("a", signal.SIGKILL)]
    scene.end("a", -9)
    assert scene["a"].label == "killed: not ready after 10 s (ready_timeout_ms)"
    assert scene.sup.over


def test_unhealthy_processes_are_killed_and_restarted() -> None:
    scene = Scene(process("a", restart="on_failure"))
    pid = scene.up("a")
    scene.handle(Unhealthy("a", pid - 1, "an earlier run"))
    assert scene.take_signals() == []
    scene.handle(Unhealthy("a", pid, "no heartbeat"))
    assert scene.take_signals() == [("a", signal.SIGKILL)]
    scene.end("a", -9)
    assert scene["a"].label == "restarting"
    scene.later(0.1)
    scene.up("a")
    assert scene["a"].label == "running"


def test_unhealthy_processes_may_only_be_reported() -> None:
    scene = Scene(process("a", health={**HEALTH, "action": "report"}))
    pid = scene.up("a")
    scene.handle(Unhealthy("a", pid, "no heartbeat"))
    assert scene.take_signals() == []
    assert scene["a"].label == "unhealthy"
    scene.handle(Healthy("a", pid))
    assert scene["a"].label == "running"
    assert scene.told[-2:] == ["a is unhealthy: no heartbeat", "a works again"]


def test_processes_end_in_reverse_order_with_escalation() -> None:
    scene = Scene(process("a"), process("b", ("a",)), process("c", ("b",)), process("d", ("a",)))
    for name in "abcd":
        scene.up(name)
    scene.handle(Signalled(signal.SIGINT))
    assert scene.take_signals() == [("c", signal.SIGINT), ("d", signal.SIGINT)]
    scene.end("c")
    assert scene.take_signals() == [("b", signal.SIGINT)]
    scene.end("b", -2)
    assert scene.take_signals() == []  # d still needs a
    scene.later(5.0)
    assert scene.take_signals() == [("d", signal.SIGTERM)]
    scene.later(2.0)
    assert scene.take_signals() == [("d", signal.SIGKILL)]
    scene.end("d", -9)
    assert scene.take_signals() == [("a", signal.SIGINT)]
    scene.end("a", 130)
    assert scene.sup.over
    assert [one.name for one in scene.sup.failed] == ["d"]


def test_a_second_signal_skips_the_waiting() -> None:
    scene = Scene(process("a"), process("b", ("a",)))
    scene.up("a")
    scene.up("b")
    scene.handle(Signalled(signal.SIGINT))
    assert scene.take_signals() == [("b", signal.SIGINT)]
    scene.handle(Signalled(signal.SIGINT))
    assert scene.take_signals() == [("a", signal.SIGTERM), ("b", signal.SIGTERM)]
    scene.handle(Signalled(signal.SIGINT))
    assert scene.take_signals() == [("a", signal.SIGKILL), ("b", signal.SIGKILL)]


def test_a_process_that_cannot_be_killed_is_left_behind() -> None:
    scene = Scene(process("a"), grace_s=0.5)
    scene.up("a")
    scene.sup.stop(scene.now)
    scene.later(12.4)
    assert not scene.over()
    scene.later(0.2)
    assert scene.over()
    assert "cannot be killed" in scene["a"].label


def test_no_process_starts_during_the_shutdown() -> None:
    scene = Scene(process("a", restart="always"), process("b", ("a",)), process("c"))
    scene.up("c")
    scene.begun("a")
    scene.end("a", 1)
    scene.sup.stop(scene.now)
    scene.later(1.0)
    assert scene.place.started == ["a", "c"]
    scene.end("c")
    assert scene.sup.over
    assert scene.sup.failed == []


def test_a_starting_process_is_ended_once_its_pid_is_known() -> None:
    scene = Scene(process("a"))
    scene.handle(Signalled(signal.SIGINT))
    assert scene.take_signals() == []
    scene.begun("a")
    assert scene.take_signals() == [("a", signal.SIGINT)]


def test_a_program_that_cannot_be_started_is_a_failure() -> None:
    scene = Scene(process("a", restart="on_failure"))
    scene.handle(NotStarted("a", "there is no such program"))
    scene.later(0.1)
    assert scene.place.started == ["a", "a"]
    for _ in range(5):
        scene.handle(NotStarted("a", "there is no such program"))
        scene.later(1.0)
    assert "there is no such program" in scene["a"].label
    assert scene.sup.over


def test_a_lost_machine_ends_its_processes() -> None:
    here, there = PaperPlace(), PaperPlace("far")
    told: list[str] = []
    sup = Supervisor(
        [
            Managed(process("a"), here),
            Managed(process("b", restart="on_failure"), there),
            Managed(process("c", restart="on_failure"), there),
        ],
        Options(),
        lambda words, _: told.append(words),
        lambda *_: None,
    )
    sup.begin(0.0)
    for name, pid in (("a", 1), ("b", 2), ("c", 3)):
        sup.handle(Started(name, pid), 0.0)
        sup.handle(IsReady(name, pid), 0.0)
    sup.handle(Lost("far", "cable"), 1.0)
    assert [one.alive for one in sup.processes] == [True, False, False]
    sup.handle(Ended("b", 2, 0), 1.0)  # too late, and ignored
    sup.tick(1.1)
    assert there.started == ["b", "c", "b", "c"]
    assert "b lost: cable, restarting in 0.1 s" in told


def test_tools_do_not_keep_a_run_alive() -> None:
    scene = Scene(process("record", kind="tool"), process("a", ("record",)))
    scene.up("record")
    scene.up("a")
    scene.end("a", 0)
    assert scene.take_signals() == [("record", signal.SIGINT)]


def test_a_run_is_over_when_all_its_processes_have_ended() -> None:
    scene = Scene(process("a"), process("b"))
    scene.up("a")
    scene.up("b")
    scene.end("a")
    assert not scene.over()
    scene.end("b")
    assert scene.over()
    assert scene.sup.failed == []


def test_events_survive_a_connection() -> None:
    for event in (Started("a", 3), IsReady("a", 3), Unhealthy("a", 3, "x"), Ended("a", 3, -9)):
        assert from_message(to_message(event)) == event
    # remote hosts may not send this event
    assert from_message({"event": "Signalled", "number": 2}) is None
    assert from_message({"event": "Started", "nonsense": 1}) is None
    assert from_message({}) is None
