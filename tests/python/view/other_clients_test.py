"""The client library that Lichtblick and older Foxglove apps use, from npm, at the same port."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import hyphos
import pytest
from helpers import PATIENCE_S, Start, repeating
from hyphos.msgs import Float64
from npm import installed, needs_npm
from served_view import needs_page, served

pytestmark = [needs_npm, needs_page]
PACKAGES = ("@foxglove/ws-protocol@0.8.0", "ws@8.23.0")
CLIENT = """
const { FoxgloveClient } = require("@foxglove/ws-protocol");
const { WebSocket } = require("ws");
const offered = FoxgloveClient.SUPPORTED_SUBPROTOCOL;
const client = new FoxgloveClient({ ws: new WebSocket(process.argv[2], [offered]) });
const told = { offered };
client.on("error", (error) => { console.error(error); process.exit(1); });
client.on("serverInfo", (info) => { told.name = info.name; });
client.on("advertise", (channels) => {
  for (const one of channels) if (one.topic === "value") client.subscribe(one.id);
});
client.on("message", (event) => {
  console.log(JSON.stringify({ ...told, bytes: event.data.byteLength }));
  process.exit(0);
});
"""


@pytest.fixture
def client(tmp_path: Path) -> Path:
    installed(tmp_path, *PACKAGES)
    script = tmp_path / "client.cjs"
    script.write_text(CLIENT)
    return script


def test_the_client_library_of_lichtblick_gets_messages(
    client: Path, hyphos_start: Start, domain: str, node: hyphos.Node
) -> None:
    out = node.publisher("value", Float64)
    server = served(hyphos_start("view", "--serve", ":0", "-d", domain))
    with repeating(lambda: out.publish(Float64(data=1))):
        done = subprocess.run(
            ["node", str(client), server.socket],
            capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told == {
        "offered": "foxglove.websocket.v1",
        "name": f"hyphos {domain}",
        "bytes": len(Float64(data=1).SerializeToString()),
    }
    out.close()
