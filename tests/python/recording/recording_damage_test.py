"""Recordings with a ring or in parts, and recordings after a kill or with a full disk."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import hyphos
import numpy as np
import pytest
from helpers import Cli, Inbox, Start, wait_until
from hyphos.msgs import LaserScan
from hyphos.recording.control import ask, recorders
from hyphos.recording.mcap_file import INTERIM
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.opening import open_source
from hyphos.recording.source import LEFT_OUT
from recordings import check, counts, everything, make_recording, record, wait_for_size


@pytest.mark.usefixtures("numbers_robot")
def test_a_killed_recorder_leaves_readable_chunks(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--chunk-kb", "4")
    wait_for_size(path, 60_000)
    program.signal(signal.SIGKILL)
    program.end()
    source = open_source(path)
    assert "was cut off" in source.warnings[0]
    numbers = [int(bytes(i.payload)) for i in everything(path)["raw"]]  # type: ignore[call-overload]
    assert len(numbers) > 20
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.usefixtures("numbers_robot")
def test_a_ring_is_written_on_request(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "crash.mcap"
    program = record(hyphos_start, domain, path, "--ring-s", "60", "--chunk-kb", "4")
    wait_until(lambda: bool(recorders(domain)), "the recorder")
    [pid] = recorders(domain)
    wait_until(lambda: _received(domain, pid) > 40, "messages")
    first = tmp_path / "first.mcap"
    code, out, err = hyphos_cli("record", "--snapshot", "-d", domain, "-o", str(first))
    assert code == 0, err
    assert "first.mcap" in out
    assert not path.exists()
    assert len(everything(first)["raw"]) > 5
    assert check(hyphos_cli, first)[0] == 0
    so_far = _received(domain, pid)
    wait_until(lambda: _received(domain, pid) > so_far + 8, "more on each of four channels")
    program.signal(signal.SIGUSR1)
    wait_until(lambda: bool(list(tmp_path.glob("crash_*.mcap"))), "the second snapshot")
    code, _, err = program.stop()
    assert code == 0, err
    [second] = tmp_path.glob("crash_*.mcap")
    assert len(everything(second)["raw"]) > len(everything(first)["raw"])
    code, _, err = hyphos_cli("record", "--snapshot", "-d", domain)
    assert code == 1
    assert "no recorder runs" in err


def _received(domain: str, pid: int) -> int:
    reply = ask(domain, pid, {"do": "status"})
    return sum(count["received"] for count in reply["channels"].values())


@pytest.mark.usefixtures("numbers_robot")
def test_a_recording_is_split(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    program = record(hyphos_start, domain, tmp_path / "run.mcap", "--split-s", "0.3")
    wait_until((tmp_path / "run_002.mcap").exists, "the third file")
    code, _, err = hyphos_cli("record", "--split-now", "-d", domain)
    assert code == 0, err
    code, _, err = program.stop()
    assert code == 0, err
    numbers: list[int] = []
    for path in sorted(tmp_path.glob("run_*.mcap")):
        assert check(hyphos_cli, path)[0] == 0
        found = everything(path)
        numbers += [int(bytes(item.payload)) for item in found["raw"]]  # type: ignore[call-overload]
        for name, count in counts(path).items():
            assert count["written"] == len(found[name])
            assert count["received"] == count["written"] + count["drop_queue"]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.usefixtures("numbers_robot")
def test_a_killed_recording_is_repaired_with_its_counters_and_plan(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path, plan = tmp_path / "run.mcap", tmp_path / "robot.yaml"
    plan.write_text("hyphos: 1\nnodes:\n  talker: {plugin: x.so, params: {speed: 2}}\n")
    program = record(hyphos_start, domain, path, "--chunk-kb", "4", "--plan", str(plan))
    wait_until(lambda: path.exists() and INTERIM.encode() in path.read_bytes(), "the counters")
    program.signal(signal.SIGKILL)
    program.end()
    code, out = check(hyphos_cli, path)
    assert code == LEFT_OUT
    assert "writer was killed" in out or "cut off" in out
    scan = Scan(path).read()
    assert sum(scan.counts.values()) > 20
    mended = tmp_path / "mended.mcap"
    code, out, err = hyphos_cli("bag", "check", str(path), "--repair", str(mended))
    assert code == LEFT_OUT, err
    again = Scan(mended).read()
    assert again.problems == []
    assert again.counts.total() == scan.counts.total()
    assert {a.name: a.data for a in again.attachments}["robot.yaml"] == plan.read_bytes()
    metadata = dict(again.metadata)
    assert json.loads(metadata["hyphos.params.plan"]["talker"]) == {"speed": 2}
    for count in counts(mended).values():
        assert count["received"] == count["written"] + count["drop_queue"] + count["drop_disk"]


@pytest.mark.usefixtures("numbers_robot")
def test_a_full_disk_ends_the_recording_and_leaves_a_whole_file(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("a file system can only be mounted by root")
    try:
        path = folder / "run.mcap"
        program = record(hyphos_start, domain, path, "--chunk-kb", "8", "--compression", "none")
        code, _, err = program.end()
        assert code == 1
        assert "the disk is full" in err
        assert "are lost" in err
        assert "free disk space" in err
        # Space for the index was reserved, so the file is complete.
        assert check(hyphos_cli, path) == (0, check(hyphos_cli, path)[1])
        found = everything(path)
        for name, count in counts(path).items():
            assert count["written"] == len(found[name])
            assert count["received"] == count["written"] + count["drop_queue"] + count["drop_disk"]
        assert sum(count["drop_disk"] for count in counts(path).values()) > 0
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_drops_of_a_slow_reader_are_counted_end_to_end(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    """sent = written + Σ drops, with a queue that is far too small for the traffic."""
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--queue-mb", "1", "--chunk-kb", "64")
    with hyphos.Node.open("flood", domain=domain) as node:
        flood = node.publisher("flood", bytes)
        wait_until(lambda: flood.listeners == 1, "the recorder")
        payload = np.random.default_rng(1).bytes(200_000)
        sent = 0
        for _ in range(400):
            flood.publish(payload)
            sent += 1
        wait_until(lambda: _total(domain) >= sent, "the last message")
        assert program.stop()[0] == 0
    [count] = counts(path).values()
    assert count["written"] == len(everything(path)["flood"])
    assert count["received"] == count["written"] + count["drop_queue"]
    assert count["received"] + count["missing"] == sent


def _total(domain: str) -> int:
    [pid] = recorders(domain)
    [count] = ask(domain, pid, {"do": "status"})["channels"].values()
    return int(count["received"]) + int(count["missing"])


def test_replay_advances_step_by_step(hyphos_start: Start, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    scans = Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, lambda scan: scans(scan.range_max))
        program = hyphos_start(
            "replay", str(path), "--step", "-c", "scan", "-d", domain, "--wait", "30", keys=True
        )
        for number in range(3):
            program.type("\n")
            assert scans.wait(number + 1) == list(range(number + 1))
            assert program.line().endswith("scan")
        program.type("q\n")
        assert program.end()[0] == 0
    assert len(scans.items) == 3
