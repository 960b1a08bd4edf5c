"""The commands read everything that the specifications of MCAP and of bags allow."""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from bags_made import STRING_MD5, BagLayout, Topic, make_bag, string1, string2
from chatter import CHATTER, COUNT, START, STRING, WHOLE, chatter, texts
from helpers import Cli
from hyphos.recording.bag import WriteOptions, check
from hyphos.recording.bag_convert import convert
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.opening import open_source
from hyphos.recording.source import LEFT_OUT
from mcap_made import (
    CHUNK,
    MAGIC,
    Attachment,
    Layout,
    Message,
    Metadata,
    Record,
    Schema,
    make,
    record,
    text,
)


def insert(data: bytes, more: bytes) -> bytes:
    """Inserts after the header."""
    at = len(MAGIC) + 9 + struct.unpack_from("<Q", data, len(MAGIC) + 1)[0]
    return data[:at] + more + data[at:]


EMPTY_CHUNK = struct.pack("<QQQI", 0, 0, 0, 0) + text("") + struct.pack("<Q", 0)
ADDITIONS: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: data,
    "a private record": lambda data: insert(data, record(0x80, b"mine")),
    "a future record": lambda data: insert(data, record(0x10, b"later") + record(0x7F, b"")),
    "an empty chunk": lambda data: insert(data, record(CHUNK, EMPTY_CHUNK)),
    "the same schema again": lambda data: insert(data, record(*STRING.content())),
    "an attachment": lambda data: insert(data, record(*Attachment().content())),
    "metadata": lambda data: insert(data, record(*Metadata().content())),
    "a schema of number 0": lambda data: insert(data, record(*Schema(0).content())),
}


@pytest.mark.parametrize("compression", ["", "zstd", "lz4"])
@pytest.mark.parametrize("chunks", [False, True])
@pytest.mark.parametrize("name", ADDITIONS)
def test_everything_that_the_format_allows_is_read(
    name: str, chunks: bool, compression: str, tmp_path: Path
) -> None:
    order = np.random.default_rng(1).permutation(COUNT * 4)
    messages = [chatter(COUNT * 4)[number] for number in order]
    path = tmp_path / "run.mcap"
    for pad, checksums, per_chunk in product([False, True], [False, True], [1, 7]):
        layout = Layout(
            chunks=chunks,
            compression=compression,
            pad=pad,
            pad_inside=pad,
            checksums=checksums and name == "nothing",  # they cover the inserted bytes
            per_chunk=per_chunk,
            profile="ros2",
        )
        # Schemas and channels are repeated before some messages.
        middle: list[Record] = [STRING, CHATTER]
        records: list[Record] = [*middle, *messages[:9], *middle, *messages[9:]]
        path.write_bytes(ADDITIONS[name](make(records, layout)))
        assert texts(path) == [f"n{number}" for number in range(COUNT * 4)]
        source = open_source(path)
        assert not source.damaged
        source.close()
        assert check(path, None) == (1 if "number 0" in name else 0)


def test_a_channel_record_may_come_late_or_never(hyphos_cli: Cli, tmp_path: Path) -> None:
    lost = Message(START, 0, 5, START, string2("x"))
    path = tmp_path / "run.mcap"
    path.write_bytes(make([*chatter(), CHATTER, STRING, lost], Layout(profile="ros2")))
    assert texts(path) == WHOLE
    code, out, _ = hyphos_cli("bag", "info", str(path))
    assert code == LEFT_OUT
    assert "1 messages belong to channels that are not in the file" in out
    out_path = tmp_path / "o.mcap"
    code, out, _ = hyphos_cli("bag", "check", str(path), "--repair", str(out_path))
    assert (code, texts(out_path)) == (LEFT_OUT, WHOLE)


def test_damage_between_unchunked_messages_costs_one(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    whole = make([STRING, CHATTER, *chatter(20)], Layout(profile="ros2"))
    at = whole.index(string2("n7"))
    path.write_bytes(whole[: at - 25] + b"\xee" * 20 + whole[at - 5 :])
    assert texts(path) == [f"n{n}" for n in range(20) if n not in (7,)]
    assert Scan(path).read().damaged


def test_a_bag_with_lz4_bz2_and_odd_records_is_converted(tmp_path: Path) -> None:
    messages = [(0, START + number, string1(f"n{number}")) for number in range(COUNT)]
    for compression, loose in product(("none", "bz2", "lz4"), (False, True)):
        layout = BagLayout(compression=compression, loose=loose, extra_ops=True)
        path = make_bag(tmp_path / "a.bag", [Topic(md5=STRING_MD5)], messages, layout)
        out = tmp_path / "o.mcap"
        assert convert(path, None, WriteOptions(out, overwrite=True)) == 0
        assert texts(out) == WHOLE
