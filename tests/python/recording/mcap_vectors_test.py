"""All MCAP conformance vectors through the commands, compared with the `mcap` library."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from helpers import Cli
from hyphos.recording.bag import Selection, WriteOptions, check, cut, gather
from hyphos.recording.bag_convert import convert
from hyphos.recording.player import PlayOptions, play
from mcap.reader import NonSeekingReader
from mcap.records import Channel
from mcap.stream_reader import StreamReader
from mcap_made import INPUTS, vectors

VECTORS = dict(vectors())


def content(path: Path) -> tuple[set[str], list[tuple[str, int, int, bytes]]]:
    """The topics, and the messages in order of time, as the `mcap` library reads them."""
    with path.open("rb") as file:
        records = list(StreamReader(file, validate_crcs=True).records)
    topics = {one.topic for one in records if isinstance(one, Channel)}
    with path.open("rb") as file:
        found = NonSeekingReader(file).iter_messages()
        return topics, [(c.topic, m.log_time, m.publish_time, m.data) for _, c, m in found]


def rest(path: Path) -> tuple[list[tuple[str, int, int, bytes]], list[tuple[str, dict[str, str]]]]:
    """The attachments and the metadata, as the `mcap` library reads them."""
    with path.open("rb") as file:
        attachments = [
            (a.name, a.log_time, a.create_time, a.data)
            for a in NonSeekingReader(file).iter_attachments()
        ]
    with path.open("rb") as file:
        metadata = [(m.name, dict(m.metadata)) for m in NonSeekingReader(file).iter_metadata()]
    return attachments, metadata


def shown(path: Path) -> PlayOptions:
    return PlayOptions(path, 1.0, False, 0.0, None, ["*"], [], True, 0.0, False, "0")


def test_the_number_of_vectors_is_that_of_the_public_suite() -> None:
    assert len(VECTORS) == 416
    assert Counter(name.partition("-")[0] for name in VECTORS) == {
        "NoData": 6,
        "OneAttachment": 14,
        "OneMetadata": 14,
        "OneSchemalessMessage": 74,
        "OneMessage": 154,
        "TenMessages": 154,
    }


@pytest.mark.parametrize("base", INPUTS)
def test_every_vector_is_whole_and_read_as_by_the_library(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mcap"
    for name, data in VECTORS.items():
        if name.partition("-")[0] != base:
            continue
        path.write_bytes(data)
        topics, messages = content(path)

        info = gather(path)
        found = {channel["channel"]: channel["messages"] for channel in info.channels}
        assert found == {topic: len(messages) for topic in topics}, name
        assert info.warnings == [], name
        assert not info.damaged, name
        times = [time for _, time, _, _ in messages]
        assert info.start_ns == min(times, default=0), name
        assert info.seconds == pytest.approx((max(times, default=0) - info.start_ns) / 1e9), name

        capsys.readouterr()
        assert check(path, None) == 0, (name, capsys.readouterr().out)
        assert "the file is whole" in capsys.readouterr().out, name
        assert play(shown(path)) == 0, name
        listed = capsys.readouterr().out
        assert all(topic in listed for topic in topics), name

        for number, command in enumerate((convert_raw, cut_all)):
            out = tmp_path / f"out{number}.mcap"
            assert command(path, out) == 0, name
            assert content(out) == (topics, messages), name
            assert rest(out) == rest(path), name
            assert check(out, None) == 0, name


def convert_raw(path: Path, out: Path) -> int:
    return convert(path, None, WriteOptions(out, overwrite=True))


def cut_all(path: Path, out: Path) -> int:
    return cut(path, Selection(), WriteOptions(out, overwrite=True))


@pytest.mark.parametrize("base", INPUTS)
def test_the_command_line_accepts_vectors(hyphos_cli: Cli, tmp_path: Path, base: str) -> None:
    names = sorted(name for name in VECTORS if name.partition("-")[0] == base)
    for number, name in enumerate((names[0], names[-1])):
        path = tmp_path / f"{number}.mcap"
        path.write_bytes(VECTORS[name])
        for words in (
            ("bag", "info", str(path)),
            ("bag", "check", str(path)),
            ("replay", str(path), "--list"),
            ("bag", "convert", str(path), "-o", str(tmp_path / f"{number}-convert.mcap")),
            ("bag", "cut", str(path), "-o", str(tmp_path / f"{number}-cut.mcap")),
        ):
            code, out, err = hyphos_cli(*words)
            assert (code, err) == (0, ""), (name, words, out)
