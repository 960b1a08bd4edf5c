"""The MCAP reader of the viewer (record/mcap_reader.hpp), compared with the `mcap` library."""

from __future__ import annotations

import subprocess
import zlib
from pathlib import Path

import pytest
from mcap.reader import NonSeekingReader
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, IndexType, Writer
from mcap_made import INPUTS, vectors

PROBE = Path(__file__).parents[3] / "build/release/tests/record/mcap_probe"

pytestmark = pytest.mark.skipif(not PROBE.exists(), reason="the recorder's tests are not built")


def probe(*paths: Path) -> list[list[str]]:
    """The lines of each file."""
    command = [str(PROBE), *map(str, paths)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files: list[list[str]] = []
    for line in out.splitlines():
        if line.startswith(("file ", "refused ")):
            files.append([])
        files[-1].append(line)
    return files


def messages(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("message ")]


def expected(path: Path) -> list[str]:
    """The messages as the library reads them, in order of time."""
    with path.open("rb") as file:
        return [
            f"message {m.channel_id} {m.sequence} {m.log_time} {m.publish_time} {len(m.data)} "
            f"{zlib.crc32(m.data)}"
            for _, _, m in NonSeekingReader(file).iter_messages()
        ]


@pytest.mark.parametrize("base", INPUTS)
def test_every_vector_is_read_as_by_the_library(base: str, tmp_path: Path) -> None:
    paths = []
    for name, data in vectors():
        if name.partition("-")[0] == base:
            paths.append(tmp_path / f"{name}.mcap")
            paths[-1].write_bytes(data)
    for path, lines in zip(paths, probe(*paths), strict=True):
        assert sorted(messages(lines)) == sorted(expected(path)), path.name
        times = [int(line.split()[3]) for line in messages(lines)]
        assert times == sorted(times), path.name
        with path.open("rb") as file:
            kinds = [type(record).__name__ for record in StreamReader(file).records]
        named = [line for line in lines if line.startswith(("metadata", "attachment"))]
        assert any(line.startswith("metadata") for line in named) == ("Metadata" in kinds), (
            path.name
        )
        assert any(line.startswith("attachment") for line in named) == ("Attachment" in kinds)
        # A file without an index is not corrupt, but it is named.
        problems = [line for line in lines if line.startswith("problem")]
        assert all("index" in line for line in problems), problems
        assert bool(problems) == (lines[0] == "file scanned"), path.name


def write(path: Path, **options: object) -> None:
    """3,000 messages of 3 channels whose times go back and forth."""
    with path.open("wb") as file:
        writer = Writer(file, **options)  # type: ignore[arg-type]
        writer.start(profile="test")
        schema = writer.register_schema("pkg.A", "protobuf", b"definition")
        ids = [writer.register_channel(name, "protobuf", schema) for name in ("/a", "/b", "/c")]
        for number in range(3_000):
            time = 1_000_000 + number * 100 - (number % 7) * 350
            data = bytes([number % 251]) * (number % 400)
            writer.add_message(ids[number % 3], time, data, time - 5, number)
        writer.add_metadata("state", {"a": "b"})
        writer.finish()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("compression", list(CompressionType))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunk_size": 3_000},
        {"use_chunking": False},
        {"use_summary_offsets": False, "repeat_channels": False, "repeat_schemas": False},
        {"index_types": IndexType.NONE},
        {"index_types": IndexType.CHUNK},
        {"index_types": IndexType.MESSAGE, "chunk_size": 10_000},
        {"use_statistics": False},
        {"enable_crcs": False},
    ],
    ids=str,
)
def test_files_of_every_option_are_read_as_by_the_library(
    compression: CompressionType, options: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "made.mcap"
    write(path, compression=compression, **options)
    (lines,) = probe(path)
    assert sorted(messages(lines)) == sorted(expected(path))
    times = [int(line.split()[3]) for line in messages(lines)]
    assert times == sorted(times)
    counts = [line.split()[3] for line in lines if line.startswith("channel")]
    if options != {"use_statistics": False} or lines[0] == "file scanned":
        assert counts == ["1000"] * 3


def test_a_file_cut_short_gives_the_messages_of_its_whole_chunks(tmp_path: Path) -> None:
    whole = tmp_path / "whole.mcap"
    write(whole, chunk_size=5_000, compression=CompressionType.ZSTD)
    data = whole.read_bytes()
    all_messages = set(expected(whole))
    cuts = [tmp_path / f"{size}.mcap" for size in range(100, len(data), len(data) // 40)]
    for path in cuts:
        path.write_bytes(data[: int(path.stem)])
    before = 0
    for path, lines in zip(cuts, probe(*cuts), strict=True):
        found = messages(lines)
        assert set(found) <= all_messages, path.name
        assert len(found) >= before, path.name
        assert any("without an index" in line for line in lines), path.name
        before = len(found)
    assert before > 2_900
