"""`hyphos view --serve` without a browser: the requests of its port, the token, and recordings."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import foxglove.messages as fox
import hyphos
import pytest
from foxglove_client import Client, joined, parse
from helpers import Cli, OnTerminalStart, Start, wait_until
from hyphos.foxglove.assets import MODEL, SCENE, Assets, beside, names_in
from hyphos.foxglove.gate import (
    OpenGate,
    Page,
    PageGate,
    Request,
    parse_request,
    translated_reply,
)
from hyphos.msgs import Float64, OccupancyGrid, String
from served_view import PAGE, ROOT, Server, needs_page, served
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

Serve = Callable[..., Server]
SDK, OLD = Subprotocol("foxglove.sdk.v1"), Subprotocol("foxglove.websocket.v1")
POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""


@pytest.fixture
def serve(hyphos_start: Start) -> Serve:
    return lambda address, *words: served(hyphos_start("view", "--serve", address, *words))


def request(
    path: str = "/", host: str = "localhost:8080", method: str = "GET", **headers: str
) -> Request:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return parse_request("\r\n".join([*lines, "", ""]).encode())


@pytest.fixture
def page(tmp_path: Path) -> Page:
    file = tmp_path / "page.html"
    file.write_text(f"<html>{POLICY}</html>")
    return Page(file)


def status(gate: PageGate, asked: Request) -> int:
    """The status of the reply. 101 for a client that is admitted."""
    answer = gate.admit(asked)
    return 101 if answer is None else int(answer.data.split(b" ", 2)[1])


# --- the gate, without a network ------------------------------------------------------------------


def test_the_page_needs_no_token_and_a_client_does(page: Page) -> None:
    gate = PageGate(page, "open-sesame")
    far = {"host": "robot.local:8080"}
    assert status(gate, request(**far)) == 200
    assert status(gate, request("/access", **far)) == 401
    assert status(gate, request("/access?token=wrong", **far)) == 401
    assert status(gate, request("/access?token=open-sesame", **far)) == 204
    assert status(gate, request("/access", **far, authorization="Bearer open-sesame")) == 204
    assert status(gate, request(**far, upgrade="websocket")) == 401
    assert status(gate, request("/?token=open-sesame", **far, upgrade="websocket")) == 101
    answer = gate.admit(request("/access?token=wrong", **far))
    assert answer is not None
    assert (answer.refused, json.loads(answer.data.split(b"\r\n\r\n")[1])) == (
        "a wrong token",
        {"error": "a wrong token"},
    )


@pytest.mark.parametrize(
    ("origin", "host", "expected"),
    [
        ("", "localhost:8080", 101),  # a program
        ("http://localhost:8080", "localhost:8080", 101),
        ("http://127.0.0.1:3000", "127.0.0.1:8080", 101),  # another server of this machine
        ("http://[::1]:8080", "[::1]:8080", 101),
        ("https://app.foxglove.dev", "localhost:8080", 101),
        ("file://", "localhost:8080", 101),  # a desktop application
        ("https://evil.example", "localhost:8080", 403),
        ("https://localhost.evil.example", "localhost:8080", 403),
        ("https://app.foxglove.dev.evil.example", "localhost:8080", 403),
        ("null", "localhost:8080", 403),  # a frame without an origin
        ("http://evil.example:8080", "evil.example:8080", 403),  # a name for 127.0.0.1
        ("", "", 403),
        ("", "[::1", 403),
    ],
)
def test_without_a_token_only_this_machine_may_connect(
    page: Page, origin: str, host: str, expected: int
) -> None:
    headers = {"origin": origin} if origin else {}
    asked = request(host=host, upgrade="websocket", **headers)
    assert status(PageGate(page), asked) == expected
    # With a token, a page of any server may connect, since it has to know the token.
    withtoken = request("/?token=open-sesame", host=host, upgrade="websocket", **headers)
    assert status(PageGate(page, "open-sesame"), withtoken) == 101


def test_other_requests_are_refused(page: Page) -> None:
    gate = PageGate(page)
    assert status(gate, request("/etc/passwd")) == 404
    assert status(gate, request("/../page.html")) == 404
    assert status(gate, request(method="POST")) == 405
    head = gate.admit(request(method="HEAD"))
    assert head is not None
    assert head.data.endswith(b"\r\n\r\n")
    for wrong in (
        b"\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / SPDY/1\r\n\r\n",
        b"GET / HTTP/1.1\r\nx\r\n\r\n",
    ):
        with pytest.raises(ValueError, match="the request"):
            parse_request(wrong)


def test_no_request_breaks_the_gate(page: Page) -> None:
    """Pieces of requests in any order: each gets a reply, enters, or is no HTTP."""
    random = Random(7)
    pieces = [
        b"GET ", b"POST ", b"/", b"/access", b"?token=", b"&client=a", b"%00%ff", b"//[", b"[::1",
        b"]", b" HTTP/1.1", b"\r\n", b"Host: ", b"localhost", b":99999999", b"\xff", b"\0", b" ",
        b"Origin: http://", b"Authorization: Bearer ", b"Sec-WebSocket-Protocol: ", b",",
        b"Upgrade: websocket", b"foxglove.websocket.v1", b"open-sesame",
    ]  # fmt: skip
    starts = [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n"]
    starts += [starts[1] + b"Upgrade: websocket\r\n", starts[1] + b"Origin: http://["]
    gates = [PageGate(page), PageGate(page, "open-sesame")]
    entered = 0
    for _ in range(20_000):
        middle = b"".join(random.choices(pieces, k=random.randrange(12)))
        try:
            asked = parse_request(random.choice(starts) + middle + b"\r\n\r\n")
        except ValueError:
            continue
        for gate in gates:
            answer = gate.admit(asked)
            entered += answer is None
            assert answer is None or answer.data.startswith(b"HTTP/1.1 ")
        assert len(asked.translated) <= len(asked.head)
    assert entered > 100


def test_the_reply_has_the_policy_and_forbids_frames(page: Page) -> None:
    gate = PageGate(page)
    answer = gate.admit(request(accept_encoding="gzip, br"))
    assert answer is not None
    head, _, body = answer.data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'" in lines
    assert "X-Frame-Options: DENY" in lines
    assert "Referrer-Policy: no-referrer" in lines
    assert "Content-Encoding: gzip" in lines
    assert gzip.decompress(body) == f"<html>{POLICY}</html>".encode()
    assert f"Content-Length: {len(body)}" in lines


def test_the_older_name_of_the_protocol_is_translated() -> None:
    old = request(upgrade="websocket", sec_websocket_protocol="foxglove.websocket.v1")
    assert OpenGate().admit(old) is None
    assert old.needs_translation
    assert b"sec-websocket-protocol: foxglove.sdk.v1\r\n" in old.translated
    reply = b"HTTP/1.1 101 Switching Protocols\r\nsec-websocket-protocol: foxglove.sdk.v1\r\n\r\n"
    assert b"foxglove.websocket.v1\r\n" in translated_reply(reply)
    for offered in ("foxglove.sdk.v1", "foxglove.websocket.v1, foxglove.sdk.v1", ""):
        new = request(upgrade="websocket", sec_websocket_protocol=offered)
        assert not new.needs_translation
        assert new.translated == new.head


def test_only_meshes_that_a_model_names_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    (folder / "rover/meshes").mkdir(parents=True)
    (folder / "rover/meshes/arm.stl").write_bytes(b"arm")
    (folder / "rover/meshes/other.stl").write_bytes(b"other")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "outside.stl").write_bytes(b"outside")
    (folder / "rover/meshes/link.stl").symlink_to(tmp_path / "secret")
    names = {
        "package://rover/meshes/arm.stl": b"arm",
        f"file://{folder}/rover/meshes/arm.stl": b"arm",
        f"{folder}/rover/meshes/arm.stl": b"arm",
        "package://rover/../../outside.stl": None,  # outside of the folder
        "package://rover/meshes/link.stl": None,  # a link to a file that is no mesh
        f"file://{tmp_path}/secret": None,
        "package://rover/meshes/none.stl": None,
        "https://example.com/arm.stl": None,
    }
    assets = Assets([folder])
    meshes = "".join(f"<mesh scale='1 1 1' filename=\"{name}\"/>" for name in names)
    text = String(data=f"<robot>{meshes}</robot>").SerializeToString()
    assets.note("note", MODEL, text)
    assert assets("package://rover/meshes/arm.stl") is None  # no model has named it
    assets.note("left/robot_description", MODEL, text)
    assert {name: assets(name) for name in names} == names
    assert assets("package://rover/meshes/other.stl") is None
    assets.note("robot_description", MODEL, b"\xff")  # no valid message


def test_meshes_of_markers_and_the_files_that_they_name_are_served(tmp_path: Path) -> None:
    folder = tmp_path / "rover"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes/box.obj").write_text("mtllib box.mtl\nmtllib ../../secret.mtl\n")
    (folder / "meshes/box.mtl").write_text("map_Kd ../skin.png\nmap_Kd key.pem\n")
    for name in ("skin.png", "other.png", "meshes/key.pem"):
        (folder / name).write_bytes(name.encode())
    (tmp_path / "secret.mtl").write_text("secret")
    assets = Assets([folder.parent])
    mesh = "package://rover/meshes/box.obj"
    model = fox.ModelPrimitive(url=mesh)
    update = fox.SceneUpdate(entities=[fox.SceneEntity(models=[model])])
    assets.note("signs", SCENE, b"\xff.obj")  # no valid message
    assets.note("signs", SCENE, fox.SceneUpdate().encode())
    assert assets(mesh) is None
    assets.note("signs", SCENE, update.encode())
    assert assets("package://rover/meshes/box.mtl") is None  # the page reads the mesh first
    assert assets(mesh) is not None
    assert assets("package://rover/skin.png") is None
    assert assets("package://rover/meshes/box.mtl") is not None
    assert assets("package://rover/skin.png") == b"skin.png"
    for name in ("other.png", "meshes/key.pem", "../secret.mtl", "meshes/../../secret.mtl"):
        assert assets(f"package://rover/{name}") is None, name


def test_names_in_mesh_files_are_found_as_by_the_page() -> None:
    cases = json.loads((ROOT / "web/test/beside.json").read_text())
    for uri, name, address in cases["addresses"]:
        assert beside(uri, name) == address, (uri, name)
    for suffix, text, names in cases["names"]:
        assert names_in(f".{suffix}", text.encode()) == names, text
    head = b'{"images":[{"uri":"skin.png"}]}'
    glb = b"glTF" + bytes(8) + len(head).to_bytes(4, "little") + bytes(4) + head
    assert names_in(".glb", glb) == ["skin.png"]
    assert names_in(".glb", b"noise") == []


# --- the command ----------------------------------------------------------------------------------


@needs_page
def test_one_port_serves_the_page_and_both_names_of_the_protocol(
    serve: Serve, domain: str, node: hyphos.Node
) -> None:
    out = node.publisher("value", Float64)
    server = serve(":0", "-d", domain)
    assert server.page == f"http://127.0.0.1:{server.port}/"
    asked = http.client.HTTPConnection("127.0.0.1", server.port)
    asked.request("GET", "/")
    answer = asked.getresponse()
    assert (answer.status, answer.read()) == (200, PAGE.read_bytes())
    assert "script-src 'sha256-" in str(answer.getheader("Content-Security-Policy"))
    for name in (SDK, OLD):
        with connect(f"ws://127.0.0.1:{server.port}", subprotocols=[name]) as socket_:
            assert socket_.subprotocol == name
            client = Client(socket_)
            client.subscribe("value")
            wait_until(lambda: out.listeners > 0)
            out.publish(Float64(data=4.5))
            wait_until(lambda client=client: bool(client.of("value")))  # type: ignore[misc]
            assert parse(client.channel("value"), client.of("value")[-1].data).data == 4.5
        wait_until(lambda: out.listeners == 0)
    out.close()


@needs_page
def test_the_counters_have_drops_by_place(serve: Serve, domain: str, node: hyphos.Node) -> None:
    out = node.publisher("value", Float64)
    server = serve(":0", "-d", domain)
    with joined(server.port) as client:
        client.subscribe("hyphos/viewer", "value")
        assert client.channel("hyphos/viewer")["encoding"] == "json"
        wait_until(lambda: out.listeners > 0)
        for i in range(5):
            out.publish(Float64(data=i))

        def counters() -> dict[str, Any]:
            values = client.of("hyphos/viewer")
            return json.loads(values[-1].data) if values else {}

        def row() -> dict[str, Any]:
            found: dict[str, Any] = counters().get("channels", {}).get("value", {})
            return found

        wait_until(lambda: row().get("sent") == 5 and row().get("received") == 5)
        assert row()["type"] == "hyphos.msgs.Float64"
        assert row()["publishers"] == ["tester"]
        assert (row()["drops"], row()["lost"], row()["unshown"]) == ({}, 0, 0)
        assert row()["age_s"] >= 0
        assert counters()["source"] == "robot"
        [own] = counters()["clients"]
        assert (own["dropped"], own["dropped_of"]) == (0, {})
    out.close()


@needs_page
def test_other_addresses_get_a_token(serve: Serve, domain: str) -> None:
    server = serve("0.0.0.0:0", "-d", domain)
    match = re.search(r"\?token=([\w-]{20,})$", server.socket)
    assert match, server.socket
    token = match[1]
    assert server.page == f"http://{socket.gethostname()}:{server.port}/#token={token}"
    address = f"ws://127.0.0.1:{server.port}/"
    for wrong in ("", f"?token={token}x"):
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(f"{address}{wrong}", subprotocols=[SDK]),
        ):
            pass
        assert refused.value.response.status_code == 401
    with connect(f"{address}?token={token}", subprotocols=[SDK]) as admitted:
        assert json.loads(admitted.recv())["op"] == "serverInfo"
    code, out, _ = server.program.stop()
    assert code == 0
    assert "no token" in out
    assert "a wrong token" in out


@needs_page
def test_strange_requests_end_and_others_are_served(serve: Serve, domain: str) -> None:
    server = serve(":0", "-d", domain)
    for sent in (
        b"\x16\x03\x01\x02\x00" + bytes(100) + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a" * 70_000,
    ):
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(sent)
            raw.settimeout(60)
            answer = raw.recv(100)
            assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 431")), answer
    with joined(server.port) as client:
        assert client.info["op"] == "serverInfo"


def control(client: Client, *, play: bool, speed: float = 1, seek_ns: int | None = None) -> None:
    """Sends a request of the protocol for playback."""
    name = b"test"
    head = struct.pack("<BBfBQI", 3, not play, speed, seek_ns is not None, seek_ns or 0, len(name))
    client.socket.send(head + name)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Ten numbers at 0 to 0.9 s, and a latched map from before them."""
    from hyphos.recording.mcap_file import McapRecording  # noqa: PLC0415
    from hyphos.ros.typebook import TypeBook  # noqa: PLC0415

    file = tmp_path / "run.mcap"
    begin_ns = 1_700_000_000 * 10**9
    writer = McapRecording(file, TypeBook())
    kind = hyphos.TypeId("hyphos.msgs.Float64", "protobuf").hash
    numbers = writer.add_channel("number", "hyphos.msgs.Float64", "protobuf", kind, {})
    kind = hyphos.TypeId("hyphos.msgs.OccupancyGrid", "protobuf").hash
    maps = writer.add_channel(
        "map", "hyphos.msgs.OccupancyGrid", "protobuf", kind, {"latched": True}
    )
    grid = OccupancyGrid(data=b"\0")
    grid.info.width = grid.info.height = grid.info.resolution = 1
    writer.write(maps, begin_ns, begin_ns, 1, grid.SerializeToString())
    for i in range(10):
        at_ns = begin_ns + i * 100_000_000
        writer.write(numbers, at_ns, at_ns, i + 1, Float64(data=i).SerializeToString())
    counters = {"received": 12, "bytes": 90, "missing": 3, "drop_queue": 2, "drop_disk": 0}
    writer.close({"number": json.dumps(counters), "map": "not valid"})
    return file


def values(client: Client) -> list[float]:
    channel = client.channel("number")
    return [parse(channel, message.data).data for message in client.of("number")]


@needs_page
def test_a_recording_is_played_paused_and_sought(serve: Serve, recording: Path) -> None:
    server = serve(":0", str(recording))
    begin_ns = 1_700_000_000 * 10**9
    with joined(server.port) as client:
        assert "playbackControl" in client.info["capabilities"]
        assert client.info["dataStartTime"] == {"sec": 1_700_000_000, "nsec": 0}
        client.subscribe("number", "map")
        wait_until(lambda: bool(client.of("map") and values(client)) and values(client)[-1] == 9)
        # Its first value comes with the subscription, and again with the start.
        assert [one for one in values(client) if one] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
        times = [message.time_ns - begin_ns for message in client.of("number")]
        assert times[-1] == 900_000_000
        # Back to 0.55 s: the newest value there is 5, and the latched map is older.
        before, maps = len(values(client)), len(client.of("map"))
        control(client, play=False, seek_ns=begin_ns + 550_000_000)
        wait_until(lambda: len(values(client)) > before and len(client.of("map")) > maps)
        assert values(client)[before:] == [5]
        control(client, play=True, speed=50)
        wait_until(lambda: values(client)[-1] == 9)
        assert values(client)[before:] == [5, 6, 7, 8, 9]
        assert client.statuses == []
    code, out, err = server.program.stop()
    assert (code, err) == (0, "")
    assert "dropped" not in out


@needs_page
def test_the_table_has_the_losses_of_the_recorder(serve: Serve, recording: Path) -> None:
    with joined(serve(":0", str(recording)).port) as client:
        client.subscribe("hyphos/viewer")
        wait_until(lambda: bool(client.of("hyphos/viewer")))
        counters = json.loads(client.of("hyphos/viewer")[-1].data)
    assert counters["source"] == "recording"
    row = counters["channels"]["number"]
    assert row["drops"] == {"missing": 3, "drop_queue": 2}
    assert (row["sent"], row["rate_hz"], row["bytes_s"]) == (10, 11.111, 100)
    assert counters["channels"]["map"]["drops"] == {}


@needs_page
def test_a_bag_of_ros_is_played_directly(
    serve: Serve, hyphos_cli: Cli, recording: Path, tmp_path: Path
) -> None:
    bag = tmp_path / "run.bag"
    assert hyphos_cli("bag", "convert", str(recording), "-o", str(bag))[0] == 0
    with joined(serve(":0", str(bag)).port) as client:
        assert client.channel("map")["schemaName"] == "foxglove.Grid"
        client.subscribe("number")
        wait_until(lambda: bool(values(client)) and values(client)[-1] == 9)
        assert [one for one in values(client) if one] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


@needs_page
def test_a_recording_begins_at_the_given_instant(serve: Serve, recording: Path) -> None:
    server = serve(":0", str(recording), "--at", "0.35")
    with joined(server.port) as client:
        client.subscribe("number")
        wait_until(lambda: bool(values(client)))
        assert values(client) == [3]
        control(client, play=True, speed=10)
        wait_until(lambda: values(client)[-1] == 9)
        assert values(client) == [3, 4, 5, 6, 7, 8, 9]


@needs_page
def test_the_terminal_shows_channels_and_clients(
    hyphos_terminal: OnTerminalStart, recording: Path
) -> None:
    shown = hyphos_terminal("view", "--serve", ":0", str(recording))
    shown.read_until("Foxglove and Lichtblick: ws://")
    shown.read_until("2 channels, 0 watched, 0 clients")
    match = re.search(r"ws://127\.0\.0\.1:(\d+)/", shown.shown)
    assert match
    with joined(int(match[1])) as client:
        client.subscribe("number")
        shown.read_until("1 watched, 1 clients")
    shown.type("\x03")
    assert shown.end() == 0


@needs_page
def test_a_plan_names_the_domain(
    serve: Serve, domain: str, node: hyphos.Node, tmp_path: Path
) -> None:
    plan = tmp_path / "robot.yaml"
    plan.write_text(f"hyphos: 1\ndomain: {domain}\n")
    out = node.publisher("note", String)
    with joined(serve(":0", str(plan)).port) as client:
        assert client.channel("note")["schemaName"] == "hyphos.msgs.String"
    out.close()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--serve", ":80800"], "[ADDRESS]:PORT"),
        (["--serve", "here"], "[ADDRESS]:PORT"),
        (["--serve", ":0", "--token", "none"], "does not exist"),
        (["--token", __file__], "needs --serve"),
        (["--packages", "."], "needs --serve"),
        (["--serve", ":0", "--png", "x.png"], "has no effect with --serve"),
        (["--serve", ":0", "--budget", "99"], "has no effect with --serve"),
        (["--serve", ":0", "--at", "3"], "needs a recording"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_options_are_refused(hyphos_cli: Cli, words: list[str], reason: str) -> None:
    code, _, err = hyphos_cli("view", *words)
    assert code == 2
    assert reason in " ".join(err.split())


def test_a_file_of_a_token_is_checked(hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "token"
    for text, mode, reason in (
        ("open-sesame\n", 0o644, "chmod 600"),
        ("short", 0o600, "8 to 128 letters"),
        ("two words here", 0o600, "8 to 128 letters"),
        ("x" * 5000, 0o600, "8 to 128 letters"),
    ):
        file.write_text(text)
        file.chmod(mode)
        code, _, err = hyphos_cli("view", "--serve", ":0", "--token", str(file))
        assert (code, reason in err) == (1, True), err


@needs_page
def test_files_that_are_no_recording_are_refused(hyphos_cli: Cli, tmp_path: Path) -> None:
    code, _, err = hyphos_cli("view", "--serve", ":0", str(tmp_path / "none.mcap"))
    assert (code, "no such file" in err) == (1, True)
    (tmp_path / "bad.mcap").write_bytes(b"nonsense")
    code, _, err = hyphos_cli("view", "--serve", ":0", str(tmp_path / "bad.mcap"))
    assert (code, "neither MCAP" in err) == (1, True)


def test_the_page_is_left_out_without_npm(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    bash, script = shutil.which("bash"), ROOT / "scripts/web"
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("dirname", "realpath", "find"):
        (tools / name).symlink_to(str(shutil.which(name)))
    environment = {"PATH": str(tools)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(bash), str(script), *words, str(page)],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = run("--if-possible")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("page for browsers: not built (no npm")
    done = run()
    assert (done.returncode, done.stdout) == (1, "")
    assert "needs npm" in done.stderr
    assert not page.exists()


def test_a_missing_page_names_the_remedy(
    hyphos_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos.foxglove import view  # noqa: PLC0415
    from hyphos.tools import native  # noqa: PLC0415

    monkeypatch.setattr(native, "folders", lambda _room: (tmp_path,))
    monkeypatch.setattr(view, "__file__", str(tmp_path / "view.py"))
    with pytest.raises(Error) as caught:
        view.page_file()
    assert "make web" in caught.value.advice
    assert hyphos_cli("view", "--help")[0] == 0
