"""`hyphos.Recording`: recording from a user's program."""

from __future__ import annotations

from pathlib import Path

import hyphos
import pytest
from helpers import wait_until
from hyphos.msgs import Int64, String
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory


def values(path: Path, channel: str) -> list[int]:
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        return [value.data for *_, value in reader.iter_decoded_messages(topics=[channel])]


def test_a_program_records_its_own_messages(domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    with hyphos.Node.open("counter", domain=domain) as node:
        policy = hyphos.Policy(depth=100)
        count = node.publisher("count", Int64, policy=policy)
        node.publisher("note", String)
        with hyphos.Recording(path, ["count", "late"], domain=domain) as recording:
            wait_until(lambda: count.listeners == 1, "the recorder")
            for number in range(50):
                count.publish(Int64(data=number))
            late = node.publisher("late", Int64, policy=policy)  # joins the recording
            wait_until(lambda: late.listeners == 1, "the recorder")
            late.publish(Int64(data=7))
            assert recording.channels == {"count", "late"}

            def received(name: str) -> int:
                return recording.status().channels[name]["received"]

            # The messages of two channels may arrive in any order.
            wait_until(lambda: (received("count"), received("late")) == (50, 1), "all messages")
        recording.close()  # a second close does nothing
    assert values(path, "count") == list(range(50))
    assert values(path, "late") == [7]
    assert recording.status().files == [str(path)]


def test_no_file_is_replaced_and_nothing_is_left_running(domain: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    path.write_bytes(b"precious")
    with pytest.raises(hyphos.Error) as refused:
        hyphos.Recording(path, domain=domain)
    assert refused.value.code == "already_exists"
    assert path.read_bytes() == b"precious"
    hyphos.Recording(path, domain=domain, overwrite=True).close()
    assert path.read_bytes() != b"precious"
