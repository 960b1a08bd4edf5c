"""Numbers at their limits: a time, size or count that a format or a clock cannot hold is never
wrapped. The message is refused with an error and a count.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import hyphos
import pytest
from bags_made import Row, Topic, make_bag, make_db3, string1, string2
from helpers import Cli, Inbox
from hyphos import Node
from hyphos.msgs import String
from hyphos.recording.bag import Selection, WriteOptions, check, cut, gather, merge
from hyphos.recording.bag_convert import convert
from hyphos.recording.mcap_file import McapRecording
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.source import LEFT_OUT
from hyphos.ros.typebook import TypeBook
from mcap.reader import make_reader
from mcap_made import Attachment, Channel, Layout, Message, Record, Schema, make
from recordings import SECOND, everything

STRING = Schema(1, "std_msgs/msg/String", "ros2msg", b"string data\n")
CHATTER = Channel(1, 1, "/chatter", "cdr", ())
INT64, UINT64 = 1 << 63, 1 << 64
ROS1_END = (1 << 32) * SECOND  # seconds of 32 bits
EDGES = sorted(
    {0, 1, SECOND - 1, SECOND, ROS1_END - 1, ROS1_END, INT64 - 1, INT64, INT64 + 5, UINT64 - 1}
)
NEGATIVE = [-INT64, -INT64 + 1, -5 * SECOND, -SECOND, -1]
HELD = {
    "mcap": range(UINT64),
    "ros1": range(ROS1_END),
    "ros2": range(INT64),
    "ros2-db3": range(-INT64, INT64),
}


def mcap_file(path: Path, times: list[int], *, chunks: bool = True) -> Path:
    records: list[Record] = [STRING, CHATTER]
    records += [Message(t, n, 1, t, string2(str(t))) for n, t in enumerate(times)]
    path.write_bytes(make(records, Layout(chunks=chunks, profile="ros2", statistics=True)))
    return path


def db3_file(path: Path, times: list[int]) -> Path:
    return make_db3(path, [Row()], [(1, time, string2(str(time))) for time in times])


def found(path: Path) -> list[tuple[int, str]]:
    return [
        (item.time_ns, String.FromString(bytes(item.payload)).data)  # type: ignore[call-overload]
        for item in everything(path)["chatter"]
    ]


def expected(times: list[int]) -> list[tuple[int, str]]:
    return [(time, str(time)) for time in sorted(times)]


@pytest.mark.parametrize("chunks", [False, True])
def test_all_64_bits_of_a_time_are_read_and_copied(tmp_path: Path, chunks: bool) -> None:
    path = mcap_file(tmp_path / "run.mcap", EDGES[::-1], chunks=chunks)
    assert found(path) == expected(EDGES)
    assert check(path, None) == 0
    outputs = [tmp_path / f"{number}.mcap" for number in range(4)]
    assert cut(path, Selection(), WriteOptions(outputs[0])) == 0
    assert merge([path], WriteOptions(outputs[1]), prefix=False) == 0
    assert check(path, WriteOptions(outputs[2])) == 0
    assert convert(path, None, WriteOptions(outputs[3])) == 0
    for out in outputs:
        assert found(out) == expected(EDGES)
        assert check(out, None) == 0
        with out.open("rb") as file:
            summary = make_reader(file).get_summary()
            assert summary is not None
            assert summary.statistics is not None
            assert summary.statistics.message_end_time == UINT64 - 1


@pytest.mark.parametrize("time", EDGES)
def test_commands_accept_each_time_alone(tmp_path: Path, hyphos_cli: Cli, time: int) -> None:
    path = mcap_file(tmp_path / "run.mcap", [time])
    assert gather(path).start_ns == time
    for words in (
        ("bag", "info", str(path)),
        ("bag", "check", str(path), "--repair", "r.mcap", "--overwrite"),
        ("replay", str(path), "--list"),
        ("bag", "cut", str(path), "-o", "c.mcap", "-s", "0", "--overwrite"),
    ):
        code, _, err = hyphos_cli(*words)
        assert (code, err) == (0, ""), words
    assert found(tmp_path / "r.mcap") == found(tmp_path / "c.mcap") == expected([time])


@pytest.mark.parametrize("target", HELD)
@pytest.mark.parametrize("origin", ["mcap", "db3"])
def test_a_time_is_kept_or_counted_as_lost(
    origin: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if origin == "mcap":
        times = EDGES
        path = mcap_file(tmp_path / "run.mcap", times)
    else:
        times = NEGATIVE + [time for time in EDGES if time < INT64]
        path = db3_file(tmp_path / "run.db3", times)
    assert found(path) == expected(times)
    out = tmp_path / {"mcap": "o.mcap", "ros1": "o.bag"}.get(target, "o")
    code = convert(path, target, WriteOptions(out))
    held = [time for time in times if time in HELD[target]]
    lost = len(times) - len(held)
    assert code == (LEFT_OUT if lost else 0)
    assert (
        f"{lost} messages: its time is outside the range of" in capsys.readouterr().out
    ) == bool(lost)
    assert found(out) == expected(held)


def test_times_of_a_hyphos_recording_are_kept_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    recording = McapRecording(path, TypeBook())
    kind = hyphos.TypeId("hyphos.msgs.String", "protobuf")
    channel = recording.add_channel("chatter", kind.name, "protobuf", kind.hash, {})
    for time in EDGES:
        body = String(data=str(time)).SerializeToString()
        recording.write(channel, time, time, 1, body)
    recording.close()
    assert found(path) == expected(EDGES)
    for target in ("ros1", "ros2", "ros2-db3"):
        out = tmp_path / ("o.bag" if target == "ros1" else target)
        assert convert(path, target, WriteOptions(out)) == LEFT_OUT
        assert found(out) == expected([time for time in EDGES if time in HELD[target]])


@pytest.mark.parametrize("time", [-1, -5 * SECOND, UINT64, UINT64 + 5])
def test_the_writer_refuses_times_out_of_range(tmp_path: Path, time: int) -> None:
    recording = McapRecording(tmp_path / "run.mcap", TypeBook())
    channel = recording.add_channel("a", "bytes", "bytes", 1, {})
    for log_ns, publish_ns in ((time, 0), (0, time)):
        with pytest.raises(hyphos.Error, match="MCAP cannot hold the time"):
            recording.write(channel, log_ns, publish_ns, 1, b"")
    recording.close()


def test_replay_skips_times_that_no_clock_has(
    hyphos_cli: Cli, domain: str, tmp_path: Path, inbox: Inbox
) -> None:
    """A negative time of another writer is a late time here. The replay does not wait for it."""
    start = 1_700_000_000 * SECOND
    path = mcap_file(tmp_path / "run.mcap", [start, UINT64 - 5, start + SECOND // 100, INT64])
    with Node.open("hearer", domain=domain) as node:
        node.subscribe("chatter", String, lambda message: inbox(message.data))
        code, _, err = hyphos_cli("replay", str(path), "--wait", "30", "-d", domain)
        assert inbox.wait(2) == [str(start), str(start + SECOND // 100)]
    assert code == LEFT_OUT
    assert "2 messages: its time is after the year 2262" in err


def test_replay_plays_times_before_1970(
    hyphos_cli: Cli, domain: str, tmp_path: Path, inbox: Inbox
) -> None:
    path = db3_file(tmp_path / "run.db3", [-5, 0, 5])
    with Node.open("hearer", domain=domain) as node:
        node.subscribe("chatter", String, lambda message: inbox(message.data))
        words = ("replay", str(path), "--wait", "30", "-d", domain, "--clock")
        assert hyphos_cli(*words)[0] == 0
        assert inbox.wait(3) == ["-5", "0", "5"]


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "1e300", "-1e300"])
def test_invalid_seconds_are_refused(hyphos_cli: Cli, tmp_path: Path, seconds: str) -> None:
    path = mcap_file(tmp_path / "run.mcap", [1, 2])
    for words in (
        ("bag", "cut", str(path), "-o", "o.mcap", f"--end={seconds}"),
        ("bag", "cut", str(path), "-o", "o.mcap", f"--start={seconds}"),
        ("replay", str(path), f"--start={seconds}"),
        ("replay", str(path), f"--end={seconds}"),
    ):
        code, _, err = hyphos_cli(*words)
        assert code == 2, words
        assert re.search("not a finite number|too large|too small", err), err


def test_bags_hold_times_up_to_2106(tmp_path: Path) -> None:
    times = [0, 1, ROS1_END - 1]
    path = make_bag(tmp_path / "a.bag", [Topic()], [(0, t, string1(str(t))) for t in times])
    assert found(path) == expected(times)


def test_times_of_attachments_are_kept(tmp_path: Path) -> None:
    attachment = Attachment(log_ns=UINT64 - 1, create_ns=INT64 + 7)
    path, out = tmp_path / "run.mcap", tmp_path / "o.mcap"
    path.write_bytes(make([attachment], Layout()))
    assert cut(path, Selection(), WriteOptions(out)) == 0
    [kept] = Scan(out).read().attachments
    assert (kept.log_ns, kept.create_ns, kept.data) == (UINT64 - 1, INT64 + 7, b"\1\2\3")


@pytest.mark.parametrize("size", [1 << 32, 1 << 40, INT64, UINT64 - 1])
def test_sizes_beyond_the_file_cost_only_their_record(tmp_path: Path, size: int) -> None:
    whole = make(
        [STRING, CHATTER, *(Message(n, n, 1, n, string2("x")) for n in range(9))], Layout()
    )
    at = whole.index(b"\5" + struct.pack("<Q", 22 + len(string2("x"))), 200)
    path = tmp_path / "run.mcap"
    path.write_bytes(whole[: at + 1] + struct.pack("<Q", size) + whole[at + 9 :])
    scan = Scan(path).read()
    assert scan.counts.total() == 8
    assert scan.damaged
    assert len(everything(path)["chatter"]) == 8
