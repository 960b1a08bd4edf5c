"""Recorded messages as a workload: reading, writing for the programs, sending at their times."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Cli, Start
from hyphos import Error
from hyphos.lab import experiment
from hyphos.lab.case import Case
from hyphos.lab.peers import find_peers
from hyphos.lab.recorded import MIN_SIZE, Recorded, read_recorded, resolved
from hyphos.lab.results import Results, Run
from hyphos.lab.runner import Runner, Wish
from hyphos.lab.worker.schedule import Schedule
from hyphos.recording.mcap_file import McapRecording
from hyphos.ros.typebook import TypeBook
from recordings import make_recording
from ros_recordings import write_ros1

SIZES = [40, 1000, 70_000, 33, 5]
GAP_NS = 20_000_000


def bursts(path: Path) -> Path:
    """Five messages of different sizes, the last two at the same time."""
    recording = McapRecording(path, TypeBook())
    blob = recording.add_channel("blob", "test.Blob", "bytes", 7, {})
    for number, size in enumerate(SIZES):
        at = 1_000_000_000 + min(number, 3) * GAP_NS
        recording.write(blob, at, at, number, bytes([number]) * size)
    recording.close({})
    return path


def run_of(name: str, case: Case, folder: Path) -> Run:
    [peer] = find_peers().choose([name])
    folder.mkdir()
    results = Results(folder)
    Runner(results).measure([Wish(case, peer, 0)])
    [run] = results.runs
    return run


def test_messages_of_a_topic_keep_order_sizes_and_times(tmp_path: Path) -> None:
    found = read_recorded(bursts(tmp_path / "x.mcap"), "blob")
    assert found.offsets_ns == [0, GAP_NS, 2 * GAP_NS, 3 * GAP_NS, 3 * GAP_NS]
    assert [len(one) for one in found.payloads] == [40, 1000, 70_000, 33, MIN_SIZE]
    assert found.payloads[4] == b"\4" * 5 + bytes(MIN_SIZE - 5)  # the lab's header must fit
    assert found.largest == 70_000
    # Five mean gaps: four are between the messages, one is before the next loop.
    assert found.span_ns == 3 * GAP_NS * 5 // 4
    assert found.rate_hz == pytest.approx(5e9 / found.span_ns)


def test_a_ros_topic_is_found_by_its_ros_name(
    tmp_path: Path,
) -> None:
    write_ros1(tmp_path / "x.bag")
    by_topic = read_recorded(tmp_path / "x.bag", "/front/scan")
    assert by_topic == read_recorded(tmp_path / "x.bag", "front/scan")
    assert b"laser" in by_topic.payloads[0]


def test_a_single_message_is_sent_once_a_second() -> None:
    alone = Recorded([0], [bytes(64)])
    assert alone.rate_hz == 1.0


def test_a_missing_topic_is_an_error_with_the_known_ones(tmp_path: Path) -> None:
    make_recording(tmp_path / "x.mcap")
    with pytest.raises(Error, match="did you mean 'scan'") as caught:
        read_recorded(tmp_path / "x.mcap", "scam")
    assert caught.value.advice == "set `channel` to one of scan, camera"
    with pytest.raises(Error, match="no channel is given"):
        read_recorded(tmp_path / "x.mcap", "")


def test_a_truncated_recording_is_refused(tmp_path: Path) -> None:
    make_recording(tmp_path / "x.mcap", 250)
    whole = (tmp_path / "x.mcap").read_bytes()
    (tmp_path / "y.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(Error, match="was cut off") as caught:
        read_recorded(tmp_path / "y.mcap", "scan")
    assert "--repair" in str(caught.value.advice)
    with pytest.raises(Error, match="no such file"):
        read_recorded(tmp_path / "z.mcap", "scan")


def test_a_schedule_starts_over_after_its_span(tmp_path: Path) -> None:
    Recorded([0, 10, 30], [b"a" * 32, b"b" * 40, b"c" * 50]).write(tmp_path / "schedule")
    schedule = Schedule(50, 100.0, str(tmp_path / "schedule"), 2.0)
    assert [schedule.size(i) for i in range(4)] == [32, 40, 50, 32]
    assert [schedule.due(i) for i in range(5)] == [0, 5, 15, 22, 27]  # 45 ns at twice the speed
    out = bytearray(50)
    schedule.fill(out, 4)
    assert out == b"b" * 40 + bytes(10)


@pytest.mark.parametrize("name", ["hyphos/shm", "hyphos/tcp", "hyphos_py", "zmq/ipc", "futex"])
@pytest.mark.parametrize("workload", ["pair", "pipeline"])
def test_recorded_messages_arrive_whole_and_at_their_times(
    name: str, workload: str, tmp_path: Path
) -> None:
    recording = str(bursts(tmp_path / "x.mcap"))
    case = resolved(Case(workload, recording=recording, channel="blob", speed=1.0, seconds=0.3))
    assert case.size == 70_000

    run = run_of(name, case, tmp_path / "run")
    told = run.result
    assert told is not None, run.failure
    # The ring of the floor is short, and has no back-pressure: a stall of the machine fills it.
    assert name == "futex" or told["lost"] == 0
    # A message with a size other than the recorded one would count as corrupt.
    assert told["sent"] == told["received"] + told["lost"] == case.count == 20
    assert told["corrupt"] == told["duplicates"] == 0
    # 20 messages are four loops of the recording. The last two are due together.
    due_s = (3 * 75 + 60) / 1e3
    assert told["seconds"] >= due_s
    carried = 4 * sum(max(size, MIN_SIZE) for size in SIZES)
    if told["lost"] == 0:
        assert told["mb_per_s"] * told["seconds"] == pytest.approx(carried / 1e6)


def test_a_fixed_rate_ignores_the_recorded_times(tmp_path: Path) -> None:
    recording = str(bursts(tmp_path / "x.mcap"))
    found = experiment.parse(
        f"lab: 1\nworkload: echo\nrecording: {recording}\nchannel: blob\nseconds: 0.2\n"
        "grid: {rate_hz: [200]}\n",
        "x.yaml",
    )
    [case] = map(resolved, found.cases)
    assert (case.speed, case.rate_hz, case.count) == (0.0, 200.0, 40)
    run = run_of("zmq/tcp", case, tmp_path / "out")
    assert run.result is not None, run.failure
    assert run.result["received"] == 40
    assert run.result["seconds"] >= 39 / 200


def test_a_peer_with_one_message_size_is_left_out() -> None:
    [peer] = find_peers().choose(["hyphos/shm_struct"])
    assert peer.cannot(Case("pair", recording="x.mcap")) == "all its messages have one size"


def test_a_program_refuses_a_truncated_schedule(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "schedule"
    Recorded([0, 10], [b"a" * 32, b"b" * 40]).write(path)
    path.write_bytes(path.read_bytes()[:-1])
    [peer] = find_peers().choose(["futex"])
    words = ("--shape", "pair", "--size", "40", "--recorded", str(path))
    code, _, err = start(str(peer.program), *words).end()
    assert code == 1
    assert "is truncated" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workload: flood\nrecording: x.mcap", "x.yaml:3: 'recording' has no effect in"),
        ("workload: pair\nrecording: x.mcap\nsize: 64", "have their own sizes"),
        ("workload: pair\nrecording: x.mcap\nspeed: 2\nrate_hz: 9", "either a 'speed' or a"),
        ("workload: pair\nchannel: scan", "'channel' needs a recording"),
        ("workload: pair\nrecording: x.mcap\nspeed: 0", "speed: 0 is not from 0.001"),
    ],
)
def test_a_bad_experiment_with_a_recording_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        experiment.parse(f"lab: 1\n{text}\n", "x.yaml")
    assert message in str(caught.value)


def test_an_experiment_asks_for_its_recording(hyphos_cli: Cli, tmp_path: Path) -> None:
    code, _, err = hyphos_cli("lab", "run", "paper_004_recorded")
    assert code == 1
    assert "no recording is given" in err
    assert "--set recording=FILE" in err
    recording = bursts(tmp_path / "x.mcap")
    (tmp_path / "x.yaml").write_text(
        "lab: 1\nworkload: pair\npeers: [futex]\nrecording:\nseconds: 0.1\nrepeats: 1\n"
    )
    words = ["lab", "run", str(tmp_path / "x.yaml"), "-o", str(tmp_path / "out")]
    words += ["--set", f"recording={recording}", "--set", "channel=blob", "--set", "speed=2"]
    code, _, err = hyphos_cli(*words)
    assert code == 0, err
    [run] = Results(tmp_path / "out").runs
    assert run.case.speed == 2.0
    code, _, err = hyphos_cli("lab", "run", str(tmp_path / "x.yaml"), "--set", "spead=2")
    assert code == 1
    assert "did you mean 'speed'?" in err
    assert hyphos_cli("lab", "show", str(tmp_path / "out"))[0] == 0
