"""The laboratory's runner: runs, disturbances, stops, and correct counts of each peer."""

from __future__ import annotations

import itertools
import json
import math
import signal
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from helpers import PATIENCE_S, Cli, Start, alive, wait_until, write_program
from hyphos.lab import machine, runner, selftest
from hyphos.lab.case import Case
from hyphos.lab.machine import Load
from hyphos.lab.peers import INTERFACE, Peer, Peers, find_peers
from hyphos.lab.results import Results, Run
from hyphos.lab.runner import Rules, Runner, Wish
from lab_runs import RESOLUTION, SMALL, least_us, measured_row, programs_of


def test_ctrl_c_keeps_the_finished_runs(hyphos_start: Start, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL.replace("seconds: 0.2", "seconds: 30"))
    out = tmp_path / "out"
    program = hyphos_start("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out))
    wait_until(lambda: bool(folders_of(program.popen.pid)), "a run to begin")
    code, _, err = program.stop()
    assert code == 130, err
    assert "continue with --resume" in err
    assert not folders_of(program.popen.pid)


def folders_of(pid: int) -> list[Path]:
    """Folders in shared memory of the runs of the laboratory process `pid`."""
    return list(Path("/dev/shm").glob(f"hyphos-lab-{pid}-*"))


def test_a_killed_laboratory_leaves_nothing(hyphos_start: Start, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL.replace("seconds: 0.2", "seconds: 30"))
    program = hyphos_start("lab", "run", str(tmp_path / "x.yaml"), "-o", str(tmp_path / "out"))
    pid = program.popen.pid
    wait_until(lambda: bool(folders_of(pid)), "a run to begin")
    wait_until(lambda: bool(programs_of(pid)), "its program")
    [run] = programs_of(pid)
    program.signal(signal.SIGKILL)
    program.end()
    wait_until(lambda: not alive(run), "its programs to end")
    wait_until(lambda: not folders_of(pid), "its folder to go")


def peer_program(folder: Path, name: str, packages: str, interface: int) -> None:
    """A program that describes its capabilities, and then fails."""
    described = (
        f'{{"peer": "{name}", "interface": {interface}, "variants": [{{"name": "", '
        '"shapes": ["pair"], "max_size": 1000000, "floor": false, "network": false}]}'
    )
    listed = folder / "peers.json"
    others = json.loads(listed.read_text()) if listed.exists() else []
    listed.write_text(json.dumps([*others, {"peer": name, "packages": packages}]))
    write_program(
        folder / f"hyphos-lab-{name}",
        f"#!/bin/sh\n[ \"$1\" = --describe ] && {{ echo '{described}'; exit 0; }}\n"
        "echo 'the daemon is not there' >&2\nexit 3\n",
    )


def test_a_peer_of_another_version_is_left_out(tmp_path: Path) -> None:
    peer_program(tmp_path, "now", "-", INTERFACE)
    peer_program(tmp_path, "old", "libold-dev", INTERFACE - 1)
    found = find_peers(tmp_path)
    assert [peer.name for peer in found.present] == ["now"]
    assert found.absent == {"old": "its program has another version: run `make peers`"}


def test_a_failed_peer_is_reported_and_not_tried_again(tmp_path: Path) -> None:
    peer_program(tmp_path, "broken", "-", INTERFACE)
    [peer] = find_peers(tmp_path).present
    results = Results(tmp_path)
    told: list[Run] = []
    todo = [Wish(Case("pair"), peer, repeat) for repeat in range(3)]
    Runner(results).measure(todo, lambda run, _done, _all: told.append(run))
    assert [run.failure for run in told] == ["the daemon is not there"]
    [summed] = results.rows()
    assert summed.failure
    assert math.isnan(summed.estimate("p50_us").value)


def test_the_next_runner_repeats_a_failed_run(tmp_path: Path) -> None:
    peer_program(tmp_path, "broken", "-", INTERFACE)
    [peer] = find_peers(tmp_path).present
    todo = [Wish(Case("pair"), peer, repeat) for repeat in range(2)]
    Runner(Results(tmp_path)).measure(todo)
    told = '{"p50_us": 1, "received": 1, "histogram_ns": [[1000, 1]], "open_histogram_ns": []}'
    write_program(peer.program, f"#!/bin/sh\necho '{told}'\n")
    Runner(Results(tmp_path)).measure(todo)
    results = Results(tmp_path)
    assert [(run.repeat, run.failure) for run in results.runs] == [(0, ""), (1, "")]
    assert [one.failure for one in results.rows()] == [""]
    assert (tmp_path / "runs.jsonl").read_text().count("\n") == 3


def counting_program(folder: Path) -> Peer:
    """Reports the number of its runs as its p50."""
    peer_program(folder, "counting", "-", INTERFACE)
    [peer] = find_peers(folder).present
    told = '"received": 1, "histogram_ns": [[1000, 1]], "open_histogram_ns": []'
    write_program(
        peer.program,
        f"#!/bin/sh\necho >> {folder}/count\n"
        f"echo '{{\"p50_us\": '$(wc -l < {folder}/count)', {told}}}'\n",
    )
    return peer


def loads(monkeypatch: pytest.MonkeyPatch, told: Iterable[Load]) -> None:
    """The successive loads beside the runs."""
    source = iter(told)

    class Watch:
        def finish(self) -> Load:
            return next(source)

    monkeypatch.setattr(runner, "LoadWatch", Watch)
    monkeypatch.setattr(machine, "LoadWatch", Watch)


QUIET, DISTURBED = Load(0.0, 0.0), Load(0.5, 0.0)


def test_a_disturbed_run_is_repeated_as_often_as_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = counting_program(tmp_path)
    results = Results(tmp_path)
    # Quiet at the second attempt, or disturbed each time.
    loads(monkeypatch, [DISTURBED, QUIET, DISTURBED, DISTURBED, DISTURBED])
    todo = [Wish(Case("pair"), peer, repeat) for repeat in range(2)]
    Runner(results, Rules(retries=2)).measure(todo)
    assert [run.load for run in results.runs] == [QUIET, DISTURBED]
    assert [(run.result or {})["p50_us"] for run in results.runs] == [2, 5]
    [one] = results.rows()
    assert (len(one.done), one.disturbed, len(one.used)) == (2, 1, 1)


def test_the_wait_for_a_quiet_machine_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    def never() -> Iterator[Load]:
        while True:
            asked.set()
            yield DISTURBED

    loads(monkeypatch, never())
    results = Results(tmp_path)
    measuring = Runner(results, Rules(patience_s=1e6))
    todo = [Wish(Case("pair"), counting_program(tmp_path), 0)]
    waiting = threading.Thread(target=lambda: measuring.measure(todo), daemon=True)
    waiting.start()
    assert asked.wait(PATIENCE_S)
    measuring.stop()
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()
    assert results.runs == []


def test_unknown_peers_are_refused_and_absent_ones_omitted(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SMALL)
    code, _, err = hyphos_cli("lab", "run", str(tmp_path / "x.yaml"), "-p", "zenoh9")
    assert code == 1
    assert "unknown peer 'zenoh9'" in err
    peers = find_peers()
    for name in peers.absent:
        assert not peers.choose([name])


def test_a_name_selects_a_peer_or_all_variants() -> None:
    def peer(middleware: str, variant: str) -> Peer:
        return Peer(Path("x"), middleware, variant, frozenset({"pair"}), 1024, False, False)

    there = [peer("dds", "udp"), peer("dds", ""), peer("zmq", "tcp"), peer("zmq", "ipc")]
    chosen = Peers(there, {}).choose(["dds", "zmq"])
    assert [one.name for one in chosen] == ["dds", "zmq/tcp", "zmq/ipc"]
    assert [one.name for one in Peers(there, {}).choose(["dds/udp"])] == ["dds/udp"]


@pytest.mark.parametrize(
    "words",
    [
        ["--shape", "pear"],
        ["--size", "many"],
        ["--size", "5"],
        ["--pairs", "300", "--shape", "echo"],
        ["--nonsense", "1"],
        ["--rate"],
    ],
)
def test_a_laboratory_program_names_a_wrong_option(start: Start, words: list[str]) -> None:
    [peer] = find_peers().choose(["futex"])
    code, _, err = start(str(peer.program), *words).end()
    assert code == 1
    assert words[0] in err or words[1] in err


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        *(("hyphos/shm", one) for one in ("pair", "echo", "pipeline", "fanout", "fanin", "flood")),
        *itertools.product(("hyphos/ipc", "hyphos/tcp"), ("echo", "pipeline", "fanin")),
        *itertools.product(("zmq/ipc", "zmq/tcp"), ("echo", "fanin", "flood")),
        *(("futex", one) for one in ("pair", "echo", "pipeline", "fanout", "flood")),
    ],
)
def test_every_workload_counts_all_messages(name: str, workload: str) -> None:
    [peer] = find_peers().choose([name])
    case = Case(workload, 4096, pairs=2, publishers=3, subscribers=3, seconds=0.2, messages=200)

    results: list[Run] = []

    class Kept(Results):
        def add(self, run: Run) -> None:
            results.append(run)

    Runner(Kept(Path("/nonexistent"))).measure([Wish(case, peer, 0)])
    [run] = results
    result = run.result
    assert result is not None, run.failure
    # A floor has no back-pressure. It loses messages if a stall of the machine fills its queue.
    assert peer.floor or result["lost"] == 0
    sources = {"echo": 2, "fanin": 3}.get(workload, 1)
    flows = {"fanout": 3}.get(workload, sources)
    assert result["sent"] == sources * case.count
    assert result["received"] + result["lost"] == flows * case.count
    assert result["duplicates"] == result["corrupt"] == 0
    assert len(result["flow_received"]) == flows
    assert sum(result["flow_received"]) == result["received"]


def test_injected_delays_and_losses_are_found(tmp_path: Path) -> None:
    """`hyphos lab selftest` tests to 2 %, and at the median, on a quiet machine."""
    [peer] = find_peers().choose([selftest.PEER])
    plain = Case("pair", rate_hz=500, seconds=1, faults=f"{{delay_ms: {selftest.REFERENCE_MS}}}")
    slow = Case("pair", rate_hz=500, seconds=1, faults="{delay_ms: 20}")
    # The queue holds all messages, so that a stall of the machine loses none.
    lossy = Case("pair", rate_hz=100, seconds=4, queue=1000, faults="{loss: 0.2, seed: 3}")
    results = Results(tmp_path)
    Runner(results).measure([Wish(case, peer, 0) for case in (plain, slow)])
    reference, delayed = results.rows()
    lost = measured_row(lossy, peer, tmp_path)
    assert least_us(delayed) >= 20_000 * RESOLUTION
    assert 19_800 * 0.9 < least_us(delayed) - least_us(reference) < 19_800 * 1.1
    assert selftest.loss_check(lost).measured.endswith("%")
    share = lost.estimate("lost_share")
    assert 0.12 < share.value < 0.28  # of 400 messages, within four standard deviations


def test_the_selftest_judges_each_injected_effect(hyphos_cli: Cli) -> None:
    """The accuracy depends on the machine, but each effect is detected."""
    code, shown, err = hyphos_cli("lab", "selftest", "--seconds", "1", "--repeats", "1")
    assert code in (0, 1), err
    assert "[6/6] measured" in err
    assert shown.count("found") + shown.count("missed") == 5
    assert "processors: kept awake" in shown


def test_a_stalled_subscriber_shows_in_the_tail(tmp_path: Path) -> None:
    """A load that waits for replies would send nothing during the stall, and not see it."""
    [peer] = find_peers().choose([selftest.PEER])
    # So long that a stall of the machine concerns less than half of the messages.
    case = Case("pair", rate_hz=200, seconds=4, stall_ms=100)
    stalled = measured_row(case, peer, tmp_path)
    assert stalled.estimate("open_p99_us").value > 70_000
    assert stalled.estimate("p50_us").value < 50_000
