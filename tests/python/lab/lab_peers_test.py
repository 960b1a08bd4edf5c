"""The peers: each available one carries every workload that it declares."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hyphos.lab.case import WORKLOADS, Case
from hyphos.lab.peers import WORKER, find_peers
from hyphos.lab.results import Results
from hyphos.lab.runner import Runner, Wish

OTHERS = (
    *("lcm", "gz", "zenoh", "hyphos_py", "ros1", "rospy", "fastdds", "csharp"),
    *("cyclonedds", "iceoryx", "iceoryx2", "gateway", "gateway_ros1", "gateway_ros2"),
    "tbb",
)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("middleware", OTHERS)
def test_an_available_peer_carries_its_declared_workloads(
    middleware: str, workload: str, tmp_path: Path
) -> None:
    peers = find_peers()
    if middleware in peers.absent:
        pytest.skip(f"{middleware} is absent: {peers.absent[middleware]}")
    # A rate needs messages while the clock runs, so a stall must not take all of that time.
    seconds = 1.0 if workload == "uncapped" else 0.1
    case = Case(
        workload, 4096, pairs=2, publishers=2, subscribers=2, seconds=seconds, messages=100,
        warmup=10,
    )  # fmt: skip
    variants = [peer for peer in peers.present if peer.middleware == middleware]
    able = [peer for peer in variants if not peer.cannot(case)]
    if not able:
        pytest.skip(f"no variant of {middleware} does {workload}")
    results = Results(tmp_path)
    Runner(results).measure([Wish(case, peer, 0) for peer in able])
    assert [run.peer for run in results.runs] == [peer.name for peer in able]
    sources = {"echo": 2, "fanin": 2}.get(workload, 1)
    flows = {"fanout": 2}.get(workload, sources)
    for run in results.runs:
        assert run.result is not None, run.failure
        told = run.result
        assert told["duplicates"] == told["corrupt"] == 0
        if case.uncapped:  # without back-pressure it may lose messages, which it reports
            assert told["received"] + told["lost"] == told["sent"]
            [rate] = told["publishing_rates_hz"]
            assert 0 < rate * case.seconds <= told["received"]
            continue
        assert told["sent"] == sources * case.count
        assert told["received"] + told["lost"] == flows * case.count
        # Small messages, no more than any queue holds, so that no peer has a reason to lose some.
        assert told["lost"] == 0


@pytest.mark.parametrize("name", ["hyphos/tcp", "hyphos_py/tcp", "ros1"])
def test_a_queue_has_its_configured_capacity(name: str, tmp_path: Path) -> None:
    """A subscriber stops for 300 ms, in which 60 messages come. They wait, or are lost."""
    peers = find_peers()
    if name in peers.absent:
        pytest.skip(f"{name} is absent: {peers.absent[name]}")
    lost = []
    for queue in (2, 1000):
        # Large messages, because the kernel has queues between programs too.
        # The stop begins half a second after the first message, wherever the machine stalls.
        case = Case("pair", 200_000, 200, stall_ms=300, seconds=1.5, warmup=10, queue=queue)
        results = Results(tmp_path / str(queue))
        results.folder.mkdir()
        Runner(results).measure([Wish(case, peer, 0) for peer in peers.choose([name])])
        [run] = results.runs
        assert run.result is not None, run.failure
        lost.append(run.result["lost"])
    assert lost[0] > 0
    assert lost[1] == 0


def test_a_floor_loses_messages_that_its_ring_cannot_hold(tmp_path: Path) -> None:
    """A subscriber stops for 100 ms, in which 20 messages come. The ring has 8 slots."""
    [peer] = find_peers().choose(["futex"])
    results = Results(tmp_path)
    case = Case("pair", 4096, 200, stall_ms=100, seconds=1.5, warmup=3)
    Runner(results).measure([Wish(case, peer, 0)])
    [run] = results.runs
    assert run.result is not None, run.failure
    assert run.result["lost"] > 0
    assert run.result["received"] + run.result["lost"] == run.result["sent"] == case.count
    assert run.result["duplicates"] == run.result["corrupt"] == 0


WORDS = (
    *("--peer", "hyphos_py", "--shape", "pair", "--size", "64", "--rate", "10", "--count", "20"),
    *("--seconds", "1"),
    *("--warmup", "1", "--processes", "3", "--subscribers", "1", "--publishers", "1"),
    *("--pairs", "1", "--work-us", "0", "--stall-ms", "0", "--stall-every-ms", "1000"),
    *("--speed", "1", "--queue", "0"),
    *("--role", "pub", "--index", "0"),
    *("--run-dir", "/nonexistent", "--run-id", "1", "--ports", "12000"),
)


@pytest.mark.parametrize(
    ("length_of", "message"),
    [
        (lambda right: right, "has another version"),
        (lambda right: right + 8, "the wrong size for this run"),
    ],
)
def test_a_python_process_refuses_an_unknown_sheet(
    length_of: Callable[[int], int], message: str
) -> None:
    """Both sides map the same memory. A different layout would write to wrong places."""
    sheet = os.memfd_create("sheet")
    head = 64 + 256 * (64 + 64)
    os.ftruncate(sheet, length_of(head + 8 * 20 * 3))
    try:
        done = subprocess.run(
            [sys.executable, str(WORKER), *WORDS, "--sheet-fd", str(sheet)],
            pass_fds=[sheet],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(sheet)
    assert done.returncode == 1
    assert message in done.stderr


def test_the_sheet_has_one_magic_number_in_both_languages() -> None:
    source = Path(__file__).resolve().parents[3] / "lab" / "common" / "sheet.hpp"
    [ours] = re.findall(r"kMagic = (0x[0-9a-f]+)", source.read_text())
    [theirs] = re.findall(r"_MAGIC = (0x[0-9A-Fa-f]+)", (WORKER.parent / "sheet.py").read_text())
    assert int(ours, 16) == int(theirs, 16)
