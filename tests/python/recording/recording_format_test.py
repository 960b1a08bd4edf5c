"""The file format of a recording: the content that any MCAP reader finds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import hyphos
import numpy as np
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from hyphos.msgs import Image, LaserScan
from hyphos.recording import attached
from hyphos.recording.mcap_file import McapRecording
from hyphos.recording.opening import open_source
from hyphos.ros.typebook import TypeBook
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
from recordings import everything


@pytest.mark.parametrize("sizes", [[], [0], [5], [300, 0, 70_000]])
def test_buffers_are_joined_and_split(sizes: list[int]) -> None:
    head = Image(width=3, encoding="mono8").SerializeToString()
    buffers = [bytes([n]) * size for n, size in enumerate(sizes)]
    got_head, got_buffers = attached.split(attached.join(head, buffers))
    assert bytes(got_head) == head
    assert [bytes(buffer) for buffer in got_buffers] == buffers


def test_an_array_of_any_type_can_be_joined() -> None:
    array = np.arange(4, dtype=np.float32).reshape(2, 2)
    _, [buffer] = attached.split(attached.join(b"", [array]))
    assert bytes(buffer) == array.tobytes()


def test_damaged_messages_are_refused() -> None:
    stored = attached.join(Image(width=3, encoding="mono8").SerializeToString(), [b"abc" * 50])
    for cut in range(1, len(stored)):
        try:
            head, buffers = attached.split(stored[:cut])
        except ValueError:
            continue
        assert not buffers  # only a cut between two fields of the head may pass
        Image.FromString(bytes(head))
    with pytest.raises(ValueError, match="wire type"):
        attached.split(b"\x0f")
    with pytest.raises(ValueError, match="follows an attached buffer"):
        attached.split(attached.join(b"", [b"x"]) + b"\x08\x01")


def test_any_protobuf_tool_reads_attached_buffers(tmp_path: Path) -> None:
    path = tmp_path / "one.mcap"
    recording = McapRecording(path, TypeBook())
    channel = recording.add_channel("camera", "hyphos.msgs.Image", "attached", 7, {})
    data = attached.join(Image(width=2).SerializeToString(), [b"px", b"q"])
    recording.write(channel, 5, 4, 2**40 + 3, data)
    recording.close({})
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        [(schema, _, record, message)] = list(reader.iter_decoded_messages())
    assert schema is not None
    assert (schema.name, schema.encoding) == ("hyphos.msgs.Image", "protobuf")
    assert (record.log_time, record.publish_time, record.sequence) == (5, 4, 3)
    assert (message.width, list(message.attached_buffers)) == (2, [b"px", b"q"])


def test_schemas_are_complete(tmp_path: Path) -> None:
    path = tmp_path / "one.mcap"
    recording = McapRecording(path, TypeBook())
    recording.add_channel("odom", "hyphos.msgs.Odometry", "protobuf", 1, {})
    recording.add_channel("mine", "mine.Unknown", "protobuf", 2, {})
    recording.close({})
    assert recording.unknown_types == {"mine.Unknown"}
    with path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    schemas = {schema.name: schema for schema in summary.schemas.values()}
    files = FileDescriptorSet.FromString(schemas["hyphos.msgs.Odometry"].data)
    names = [file.name for file in files.file]
    assert names.index("hyphos/msgs/std.proto") < names.index("hyphos/msgs/nav.proto")
    assert schemas["mine.Unknown"].encoding == ""


def test_a_recording_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "one.mcap"
    path.write_text("precious")
    with pytest.raises(hyphos.Error, match="exists"):
        McapRecording(path, TypeBook())
    assert path.read_text() == "precious"


@pytest.mark.parametrize("compression", ["zstd", "lz4", "none"])
def test_a_truncated_recording_is_read_up_to_its_last_chunk(
    tmp_path: Path, compression: str
) -> None:
    whole = tmp_path / "whole.mcap"
    recording = McapRecording(whole, TypeBook(), compression=compression)
    channel = recording.add_channel("scan", "hyphos.msgs.LaserScan", "protobuf", 7, {})
    sizes = []
    for chunk in range(5):
        for number in range(10):
            data = LaserScan(range_max=chunk * 10 + number).SerializeToString()
            recording.write(channel, chunk * 10 + number, 0, number, data)
        recording.flush()
        sizes.append(recording.size)
    recording.close({})
    data = whole.read_bytes()
    for complete, (size, following) in enumerate(pairwise(sizes), 1):
        for cut in (size, (size + following) // 2 - 8):
            part = tmp_path / f"{cut}.mcap"
            part.write_bytes(data[:cut])
            items = everything(part)["scan"]
            assert [item.time_ns for item in items] == list(range(complete * 10))
            assert "was cut off" in open_source(part).warnings[0]


def test_noise_is_not_accepted_as_a_recording(tmp_path: Path) -> None:
    for name, data in (
        ("a.mcap", b"noise"),
        ("b.bag", b""),
        ("c.mcap", b"\x89MCAP0\r\n" + b"x" * 99),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(hyphos.Error):
            open_source(path)
