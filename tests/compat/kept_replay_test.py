"""Every kept recording is replayed message by message."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hyphos
import pytest
from goldens import FOLDER, read, versions
from helpers import Inbox
from hyphos import Raw, TypeId, _hyphos
from hyphos.cli.main import make_app
from kept_recordings import line
from typer.testing import CliRunner

FILES = [path for version in versions() for path in sorted(FOLDER.glob(f"{version}/**/*.mcap"))]
ROOMY = hyphos.Policy(depth=2000)


@pytest.fixture
def domain() -> Iterator[str]:
    name = f"compat-replay-{os.getpid()}"
    yield name
    _hyphos.shm_clean(name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_kept_recording_is_replayed(path: Path, domain: str) -> None:
    kept = read(path.parents[1] / "recordings.json")
    channels = {
        name.removeprefix(f"{path.name} "): track
        for name, track in kept.items()
        if name.startswith(f"{path.name} ")
    }
    assert {track["encoding"] for track in channels.values()} == {
        "protobuf", "attached", "struct", "bytes", "custom",
    }  # fmt: skip
    with hyphos.Node.open("reader", domain=domain) as node:
        inboxes = {}
        for name, track in channels.items():
            known = TypeId.known(track["type"], track["encoding"], int(track["type_hash"], 16))
            inboxes[name] = Inbox()
            node.subscribe(name, Raw(known), inboxes[name], policy=ROOMY)
        words = ["replay", str(path), "--wait", "30", "--rate", "0", "-d", domain, "--quiet"]
        done = CliRunner().invoke(make_app("replay"), words)
        assert done.exit_code == (3 if path.stem == "unfinished" else 0), done.output
        for name, track in channels.items():
            stored = [message.partition(" ")[2] for message in track["messages"]]
            assert len(stored) > 1
            received = inboxes[name].wait(len(stored))
            parts = [line([payload, *buffers], 0) for payload, buffers in received]
            assert [part.partition(" ")[2] for part in parts] == stored, name
