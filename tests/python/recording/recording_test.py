"""Recording to MCAP, and replay."""

from __future__ import annotations

import signal
from itertools import pairwise
from pathlib import Path

import hyphos
import numpy as np
import pytest
from helpers import Cli, Inbox, Start, wait_until
from hyphos import Attached
from hyphos.msgs import Image, LaserScan
from hyphos.observe import look
from hyphos.recording.control import recorders
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
from recordings import (
    POSE,
    counted,
    counts,
    everything,
    make_recording,
    record,
    wait_for_size,
)

# A replay at a rate waits for no subscriber, so a test that stalls needs room for all messages.
ROOMY = hyphos.Policy(depth=2000)


@pytest.mark.usefixtures("numbers_robot")
def test_recorded_messages_equal_the_sent_messages(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--chunk-kb", "16")
    wait_for_size(path, 30_000)
    code, _, err = program.stop()
    assert code == 0, err
    found = everything(path)
    assert set(found) == {"scan", "camera", "pose", "raw"}
    first = int(bytes(found["raw"][0].payload))  # type: ignore[call-overload]
    for index, item in enumerate(found["raw"]):
        assert bytes(item.payload) == b"%d" % (first + index)  # type: ignore[call-overload]
    image = found["camera"][3]
    head = Image.FromString(bytes(image.payload))  # type: ignore[call-overload]
    assert bytes(image.buffers[0]) == bytes([head.width % 256]) * 2000  # type: ignore[call-overload]
    assert bytes(image.buffers[1]) == b"second"  # type: ignore[call-overload]
    pose = np.frombuffer(found["pose"][0].payload, POSE.dtype)[0]  # type: ignore[call-overload]
    assert pose.x == pose.n / 2
    for name, count in counts(path).items():
        assert count["received"] == count["written"] + count["drop_queue"]
        assert count["written"] == len(found[name])
        assert count["missing"] == 0


@pytest.mark.usefixtures("numbers_robot")
def test_record_accepts_patterns(hyphos_start: Start, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "s*", "raw", "absent", "-x", "sc?n")
    wait_until(lambda: bool(recorders(domain)) and counted(domain, "raw") > 0, "messages")
    code, _, err = program.stop()
    assert code == 0, err
    assert "'absent' had no publisher" in err
    assert set(everything(path)) == {"raw"}


def test_an_empty_recording_is_valid_and_reported(
    hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "folder"
    words = ("record", "-d", domain, "-o", str(path), "--for", "0.3", "--quiet")
    code, out, err = hyphos_cli(*words)
    assert (code, out) == (0, "")
    assert err.startswith(f"nothing was recorded: no publisher in domain '{domain}'")
    [file] = path.iterdir()
    assert everything(file) == {}
    assert hyphos_cli("bag", "check", str(file))[0] == 0
    with hyphos.Node.open("mute", domain=domain) as node:
        raw = node.publisher("raw", bytes)
        _, _, err = hyphos_cli(*words, "--overwrite")
        assert err == "nothing was recorded: no message arrived on raw\n"
        raw.close()
        _, _, err = hyphos_cli(*words, "--overwrite", "absent*")
        assert "no publisher for the requested channels in domain" in err


def catches(pid: int, number: signal.Signals) -> bool:
    """True if the process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(status.split("SigCgt:")[1].split()[0], 16)
    return bool(caught >> (number - 1) & 1)


@pytest.mark.usefixtures("numbers_robot")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_recorder_may_be_ended_while_it_starts(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--quiet")
    # The recorder installs its handlers before it loads its modules. Python itself has one for
    # SIGINT.
    wait_until(lambda: catches(program.popen.pid, signal.SIGTERM), "its handlers")
    program.signal(number)
    code, out, err = program.end()
    assert (code, out) == (0, "")
    assert hyphos_cli("bag", "check", str(path))[0] == 0
    written = sum(len(items) for items in everything(path).values())
    assert err.startswith("nothing was recorded: ") == (written == 0), err


def test_log_lines_are_recorded(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    with hyphos.Node.open("mapper", domain=domain) as node:
        node.log.info("before")  # so that the channel exists
        program = record(hyphos_start, domain, path, "log")
        wait_until(lambda: any(end.node.startswith("recorder") for _, end in look(domain).ends()))

        def heard() -> bool:
            """Logs until the recorder is connected. It does not receive earlier lines."""
            node.log.warning("battery at %.1f V", 11.5)
            node.log.error("no map")
            return counted(domain, "log") >= 3

        wait_until(heard, "the recorder to hear both lines, one after the other")
        code, _, err = program.stop()
    assert code == 0, err
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        read = list(reader.iter_decoded_messages(topics=["log"]))
    assert {schema.name for schema, *_ in read if schema} == {"hyphos.msgs.Log"}
    lines = [(line.level, line.name, line.msg) for *_, line in read]
    both = ((30, "mapper", "battery at 11.5 V"), (40, "mapper", "no map"))
    assert both in pairwise(lines)
    code, out, err = hyphos_cli("replay", str(path), "--list")
    assert code == 0, err
    assert "hyphos.msgs.Log" in out


@pytest.mark.usefixtures("numbers_robot")
def test_late_channels_join_the_recording(hyphos_start: Start, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    program = record(hyphos_start, domain, path, "--chunk-kb", "4")
    wait_for_size(path, 5_000)
    with hyphos.Node.open("late", domain=domain) as node:
        late = node.publisher("late", bytes)
        node.every(lambda: late.publish(b"here"), rate_hz=50)
        wait_until(lambda: late.listeners == 1, "the recorder")
        wait_for_size(path, path.stat().st_size + 20_000)
        wait_until(lambda: counted(domain, "late") > 0, "a message of the late channel")
        assert program.stop()[0] == 0
    assert everything(path)["late"]


def test_replay_publishes_the_recorded_messages(
    hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    scans, images = Inbox(), Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("laser", LaserScan, lambda scan: scans(scan.range_max), policy=ROOMY)
        node.subscribe("camera", Attached[Image], images, policy=ROOMY)
        words = ("--wait", "30", "--remap", "scan:=laser", "-d", domain)
        code, _, err = hyphos_cli("replay", str(path), *words)
        assert code == 0, err
        assert scans.wait(20) == list(range(20))
        for number, image in enumerate(images.wait(20)):
            assert (image.head.width, bytes(image.buffers[0])) == (number, bytes([number]))


def test_replay_starts_ends_and_filters(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    scans, images = Inbox(), Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, lambda scan: scans(scan.range_max))
        node.subscribe("camera", Attached[Image], images)
        words = ("--wait", "30", "-c", "sc*", "-s", "0.05", "-e", "0.1", "--rate", "0")
        code, _, err = hyphos_cli("replay", str(path), *words, "-d", domain)
        assert code == 0, err
        assert scans.wait(5) == [5, 6, 7, 8, 9]
        assert images.items == []
        assert "5 messages on 1 channel" in err


def test_replay_loops_until_stopped(hyphos_start: Start, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path, 3)
    scans = Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("scan", LaserScan, lambda scan: scans(scan.range_max), policy=ROOMY)
        program = hyphos_start("replay", str(path), "--loop", "-d", domain, "--wait", "30")
        assert scans.wait(9)[:9] == [0, 1, 2] * 3
        assert program.stop()[0] == 0


def test_replay_lists_and_refuses(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    make_recording(path)
    code, out, _ = hyphos_cli("replay", str(path), "--list")
    assert code == 0
    assert "hyphos.msgs.Image" in out
    assert "0.2 s" in out
    for words, expected, message in (
        (["-c", "absent"], 1, "no channel of the recording to play"),
        (["--remap", "a=b"], 1, "OLD:=NEW"),
        (["--remap", "a:=b"], 1, "no channel 'a'"),
        (["--rate", "-1"], 2, "greater than or equal to 0"),
    ):
        code, _, err = hyphos_cli("replay", str(path), "-d", domain, *words)
        assert code == expected
        assert message in err
