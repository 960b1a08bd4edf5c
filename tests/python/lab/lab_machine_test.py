"""The load of the machine beside a measurement."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import PATIENCE_S, alive, look_until, wait_until
from hyphos import Error
from hyphos.lab import machine, machines
from hyphos.lab.busy_cpus import kept_awake
from hyphos.lab.machine import (
    Load,
    LoadWatch,
    describe_machine,
    expect_best,
    wait_until_close,
    wait_until_quiet,
)
from lab_runs import programs_of

SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def spinning(seconds: float, *, below: bool = False) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-S", "-c", SPIN.format(seconds)]
    return subprocess.Popen(["sh", "-c", '"$@"; true', "sh", *words] if below else words)


def cores_of(load: Callable[[LoadWatch], Load], seconds: float) -> float:
    """How many cores `load` counts as foreign, minus those of other programs, which vary."""

    def more() -> float:
        found = load(LoadWatch()).foreign
        calm = LoadWatch()
        time.sleep(seconds)
        return (found - calm.finish().foreign) * (os.cpu_count() or 1)

    return min(more() for _ in range(5))


@pytest.mark.parametrize("below", [False, True])
def test_running_child_processes_are_not_foreign(below: bool) -> None:
    def running(watch: LoadWatch) -> Load:
        with spinning(60, below=below) as process:
            try:
                time.sleep(1.0)
                return watch.finish()
            finally:
                subprocess.run(["pkill", "-P", str(process.pid)], check=False)
                process.kill()

    assert cores_of(running, 1.0) < 0.6


def test_ended_child_processes_are_not_foreign() -> None:
    def ended(watch: LoadWatch) -> Load:
        with spinning(0.5) as process:
            process.wait()
        return watch.finish()

    assert cores_of(ended, 0.5) < 0.6


def found_one_by_one(monkeypatch: pytest.MonkeyPatch, figure: str, best: type) -> list[float]:
    """The successive measurements of the machine. Its best is not known."""
    told: list[float] = []
    monkeypatch.setattr(machine, figure, lambda: told.pop(0))
    monkeypatch.setattr(best, "known", 0.0)
    return told


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The successive paces of the processors."""
    return found_one_by_one(monkeypatch, "pace", machine._Best)


@pytest.fixture
def handovers(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The successive times of a cache line between the processors."""
    return found_one_by_one(monkeypatch, "handover", machine._Closest)


def test_slower_processors_disturb_a_run(paces: list[float]) -> None:
    paces += [40.0, 20.0]
    load = LoadWatch().finish()
    assert load.speed == 0.5
    assert load.disturbed
    paces += [20.0, 40.0, 38.0, 39.0]
    assert LoadWatch().finish().speed == 0.5
    assert LoadWatch().finish().speed == 38 / 40


def test_an_earlier_faster_pace_disturbs_a_run(paces: list[float]) -> None:
    paces += [50.0, 20.0, 20.0, 60.0]
    described = describe_machine()
    machine._Best.known = 0.0
    assert expect_best(described) == 1.0
    assert LoadWatch().finish().speed == 0.4
    assert describe_machine()["pace"].startswith("60.0 million")
    assert expect_best(described) == pytest.approx(1.2)
    assert expect_best({"cpu": "of an older file"}) == 1.0


def test_distant_processors_disturb_a_run(handovers: list[float]) -> None:
    handovers += [30.0, 150.0]
    load = LoadWatch().finish()
    assert load.handover == 5.0
    assert load.apart
    assert load.disturbed
    handovers += [35.0, 25.0, 160.0, 0.0]
    assert not LoadWatch().finish().apart
    assert (
        LoadWatch().finish().handover == 6.4
    )  # as a multiple of 25, an unknown time gives no figure


def test_an_earlier_faster_hand_over_disturbs_a_run(handovers: list[float]) -> None:
    handovers += [26.4, 160.0, 160.0]
    described = describe_machine()
    assert described["hand-over"] == "26 ns between processors"
    machine._Closest.known = 0.0
    expect_best(described)
    assert LoadWatch().finish().apart
    machine._Closest.known = 0.0
    expect_best({"cpu": "of an older file"})
    handovers += [160.0, 160.0]
    assert not LoadWatch().finish().apart  # equal to the best known


def test_the_wait_for_close_processors_is_limited(handovers: list[float]) -> None:
    machine._Closest.known = 25.0
    handovers += [150.0, 150.0, 26.0]
    assert wait_until_close(PATIENCE_S)
    handovers += [150.0]
    assert not wait_until_close(0.0)
    handovers += [150.0]
    assert not wait_until_close(PATIENCE_S, lambda: True)


@pytest.mark.parametrize("what", ["pace", "hand-over", "load at start"])
def test_passing_properties_do_not_make_another_machine(what: str, tmp_path: Path) -> None:
    here = describe_machine()
    name, _ = machines.enter(tmp_path, here)
    assert machines.enter(tmp_path, {**here, what: here[what] + "9"}) == (name, [])
    with pytest.raises(Error, match="of another machine"):
        machines.enter(tmp_path, {**here, "cores": here["cores"] + "9"})


def test_the_hand_over_is_measured_between_processors() -> None:
    before = os.sched_getaffinity(0)
    found = machine.handover()
    assert (found > 0) == (len(before) > 1)
    assert found < 1e6
    one = {min(before)}
    try:
        os.sched_setaffinity(0, one)
        assert machine.handover() == 0.0
    finally:
        os.sched_setaffinity(0, before)


def test_measuring_the_pace_restores_the_affinity() -> None:
    before = os.sched_getaffinity(0)
    assert machine.pace() > 0
    assert os.sched_getaffinity(0) == before


def test_the_wait_for_a_quiet_machine_is_limited() -> None:
    began = time.monotonic()
    wait_until_quiet(0.2)
    assert time.monotonic() - began < PATIENCE_S


def loops_of(pid: int) -> list[set[int]]:
    """The processors of its threads of lowest priority."""
    threads = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return [
        os.sched_getaffinity(thread)
        for thread in threads
        if os.sched_getscheduler(thread) == os.SCHED_IDLE
    ]


def test_every_processor_is_kept_awake_at_low_priority() -> None:
    here = [{one} for one in sorted(os.sched_getaffinity(0))]
    assert describe_machine()["processors"] == "may sleep"
    with kept_awake():
        [loops] = look_until(bool, lambda: programs_of(os.getpid(), "hyphos-lab-busy"), "the loops")
        wait_until(lambda: sorted(loops_of(loops), key=min) == here, "a loop on each processor")
        assert describe_machine()["processors"] == "kept awake"
    assert not alive(loops)
    assert describe_machine()["processors"] == "may sleep"
    with kept_awake(False):
        assert programs_of(os.getpid(), "hyphos-lab-busy") == []


def test_processors_may_sleep_after_the_keeper_is_killed() -> None:
    code = """
import time
from hyphos.lab.busy_cpus import kept_awake
with kept_awake():
    print("kept", flush=True)
    time.sleep(60)
"""
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "kept\n"
        [loops] = look_until(bool, lambda: programs_of(process.pid, "hyphos-lab-busy"), "the loops")
        process.kill()
    wait_until(lambda: not alive(loops), "its loops to end")
