"""`hyphos foxglove`: the view of a client that speaks the protocol with another library."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import Any

import hyphos
import numpy as np
import pytest
from foxglove_client import Client, joined, message_class, parse
from helpers import PATIENCE_S, Cli, OnTerminalStart, Program, Start, wait_until
from hyphos.msgs import Float64, Image, OccupancyGrid, String
from hyphos.observe import look

ROBOT = """
import sys, hyphos
import numpy as np
from hyphos import Attached, Struct, Transform
from hyphos.msgs import Image, LaserScan, Path, String
node = hyphos.Node.open("robot", domain=sys.argv[1], process="robot")
scan = node.publisher("scan", LaserScan)
camera = node.publisher("camera/front", Attached[Image])
note = node.publisher("note", String)
pose = node.publisher("pose", Struct("demo.Pose", [("x", "f8")]))
frames = node.transforms()
frames.set_static(Transform("base", "laser", (0, -0.5, 0.25)))
pixels = np.arange(12, dtype=np.uint8)
count = 0
def step():
    global count
    count += 1
    one = LaserScan(angle_min=-1, angle_max=1, angle_increment=1, ranges=[1.5, 2.5, 3.5])
    one.header.stamp_ns, one.header.frame_id = 5_000_000_007, "laser"
    scan.publish(one)
    head = Image(height=2, width=2, encoding="rgb8", step=6)
    head.header.frame_id = "camera"
    camera.publish(head, pixels)
    note.publish(String(data=f"note {count}"))
    frames.set(Transform("map", "base", (1, 2, 3), stamp_ns=node.clock.now_ns()))
node.every(step, rate_hz=50)
print("up", flush=True)
node.spin()
"""


Serve = Callable[..., tuple[Program, int]]


@pytest.fixture
def serve(hyphos_start: Start, domain: str) -> Serve:
    """`serve(...)` runs `hyphos foxglove` and returns the program and its port."""

    def run(*words: str) -> tuple[Program, int]:
        program = hyphos_start("foxglove", "--port", "0", "-d", domain, *words)
        match = re.search(r"at ws://127\.0\.0\.1:(\d+),", program.line())
        assert match
        assert program.line().startswith("open https://app.foxglove.dev/")
        return program, int(match[1])

    return run


@pytest.fixture
def robot(python: Start, domain: str) -> Program:
    program = python(ROBOT, domain)
    assert program.line() == "up"
    return program


def listeners(domain: str, channel: str) -> list[str]:
    """The nodes that subscribe to a channel."""
    return [end.node for _, end in look(domain).ends(channel) if not end.is_publisher]


@pytest.mark.usefixtures("robot")
def test_every_channel_is_advertised_with_a_valid_schema(serve: Serve) -> None:
    server, port = serve()
    with joined(port) as client:
        assert client.info["name"].startswith("hyphos py")
        wait_until(lambda: len(client.topics) == 5)
        schemas = {c["topic"]: c["schemaName"] for c in client.channels.values()}
        assert schemas == {
            "scan": "foxglove.LaserScan",
            "camera/front": "foxglove.RawImage",
            "note": "hyphos.msgs.String",
            "tf": "foxglove.FrameTransforms",
            "tf_static": "foxglove.FrameTransforms",
        }  # no struct, because Foxglove cannot read structs
        for channel in client.channels.values():
            assert message_class(channel).DESCRIPTOR.full_name == channel["schemaName"]
    code, out, err = server.stop()
    assert (code, err) == (0, "")
    assert "connected: 127.0.0.1:" in out


@pytest.mark.usefixtures("robot")
def test_messages_arrive_as_foxglove_types(serve: Serve) -> None:
    _, port = serve()
    before_ns = time.time_ns()
    with joined(port) as client:
        client.subscribe("scan", "camera/front", "note", "tf", "tf_static")
        scan = client.next("scan")
        assert list(scan.ranges) == [1.5, 2.5, 3.5]
        assert (scan.start_angle, scan.end_angle, scan.frame_id) == (-1, 1, "laser")
        assert (scan.timestamp.seconds, scan.timestamp.nanos) == (5, 7)
        assert scan.pose.orientation.w == 1
        client.next("camera/front")
        shown = client.of("camera/front")[-1]
        image = parse(client.channel("camera/front"), shown.data)
        assert (image.width, image.height, image.step, image.encoding) == (2, 2, 6, "rgb8")
        assert image.data == bytes(range(12))
        stamp_ns = image.timestamp.seconds * 10**9 + image.timestamp.nanos
        assert stamp_ns == shown.time_ns  # the sender set no stamp
        assert re.fullmatch(r"note \d+", client.next("note").data)
        [moved] = client.next("tf").transforms
        assert (moved.parent_frame_id, moved.child_frame_id) == ("map", "base")
        assert (moved.translation.x, moved.translation.y, moved.translation.z) == (1, 2, 3)
        assert moved.rotation.w == 1
        wait_until(lambda: bool(client.of("tf_static")))  # a latched value from before
        [fixed] = parse(client.channel("tf_static"), client.of("tf_static")[0].data).transforms
        assert (fixed.child_frame_id, fixed.translation.y) == ("laser", -0.5)
        for message in client.of("note"):
            assert before_ns - 10**9 < message.time_ns < time.time_ns()


def test_a_channel_is_subscribed_only_while_a_client_is(
    serve: Serve, robot: Program, domain: str
) -> None:
    assert robot.popen.poll() is None
    server, port = serve()
    with joined(port) as client, joined(port) as other:
        client.channel("scan")
        assert listeners(domain, "scan") == []
        client.subscribe("scan")
        client.next("scan")
        [name] = listeners(domain, "scan")
        assert name.startswith(f"foxglove-{server.popen.pid}-")
        assert listeners(domain, "note") == []
        other.subscribe("scan")
        other.next("scan")
        client.unsubscribe("scan")
        other.next("scan")
        assert listeners(domain, "scan") == [name]
        other.unsubscribe("scan")
        wait_until(lambda: listeners(domain, "scan") == [])
        client.subscribe("note")
        client.next("note")
    # a client that disconnects is no longer subscribed
    wait_until(lambda: listeners(domain, "note") == [])


def test_channels_appear_and_disappear(serve: Serve, python: Start, domain: str) -> None:
    _, port = serve("scan", "n*", "-x", "nothing")  # before the robot starts
    with joined(port) as client:
        assert client.topics == set()
        robot = python(ROBOT, domain)
        wait_until(lambda: client.topics == {"scan", "note"})
        client.subscribe("note")
        client.next("note")
        robot.popen.kill()
        wait_until(lambda: client.topics == set())
        robot = python(ROBOT, domain)
        client.subscribe("note")
        client.next("note")
        robot.stop()


def test_a_channel_with_another_type_is_advertised_again(serve: Serve, domain: str) -> None:
    _, port = serve()
    with joined(port) as client:
        with hyphos.Node.open("a", domain=domain) as node:
            old = node.publisher("value", Float64)
            assert client.channel("value")["schemaName"] == "hyphos.msgs.Float64"
            old.close()
        with hyphos.Node.open("b", domain=domain) as node:
            new = node.publisher("value", String)
            wait_until(lambda: client.channel("value")["schemaName"] == "hyphos.msgs.String")
            new.close()


@pytest.mark.usefixtures("robot")
def test_raw_shows_types_unchanged(serve: Serve) -> None:
    _, port = serve("--raw")
    with joined(port) as client:
        client.subscribe("camera/front", "scan")
        image = client.next("camera/front")
        assert client.channel("camera/front")["schemaName"] == "hyphos.msgs.Image"
        assert list(image.attached_buffers) == [bytes(range(12))]
        assert (image.header.frame_id, image.encoding) == ("camera", "rgb8")
        assert client.next("scan").header.stamp_ns == 5_000_000_007


def test_late_clients_get_latched_values(serve: Serve, domain: str) -> None:
    with hyphos.Node.open("mapper", domain=domain) as node:
        out = node.publisher("map", OccupancyGrid, policy=hyphos.Policy(latched=True))
        grid = OccupancyGrid(data=bytes([0, 100, 255, 50]))
        grid.info.width, grid.info.height, grid.info.resolution = 2, 2, 0.5
        out.publish(grid)
        _, port = serve()
        with joined(port) as first, joined(port) as second:
            for client in (first, second):
                client.subscribe("map")
                wait_until(lambda client=client: bool(client.of("map")))  # type: ignore[misc]
                drawn = parse(client.channel("map"), client.of("map")[0].data)
                cells = np.frombuffer(drawn.data, np.uint8).reshape(4, 5)
                assert cells[:, 0].tolist() == [255, 0, 112, 128]
                assert cells[:, 4].tolist() == [0, 100, 255, 50]
                assert (drawn.column_count, drawn.row_stride, drawn.cell_stride) == (2, 10, 5)


def test_unconvertible_messages_are_reported_and_counted(serve: Serve, domain: str) -> None:
    with hyphos.Node.open("camera", domain=domain) as node:
        out = node.publisher("image", hyphos.Attached[Image])
        server, port = serve()
        with joined(port) as client:
            client.subscribe("image")
            wait_until(lambda: out.listeners > 0)
            for _ in range(3):
                out.publish(Image(width=100, height=10, step=100, encoding="mono8"), bytes(5))
            out.publish(Image(width=5, height=1, step=5, encoding="mono8"), b"fives")
            wait_until(lambda: bool(client.of("image")) and bool(client.statuses))
            [status] = client.statuses
            assert status["message"] == (
                "image cannot be shown: the buffer has 5 bytes, but the head declares 1,000"
            )
            out.close()
            wait_until(lambda: client.topics == set())  # the counters remain
        code, text, _ = server.stop()
    assert code == 0
    assert "image: 3 of 4 could not be shown" in text


def test_parameters_are_shown_and_set(serve: Serve, domain: str) -> None:
    with hyphos.Node.open("mapper", domain=domain) as node:
        node.params().declare("speed", 0.5, range=(0, 2))
        node.params().declare("grid.size", 8)
        node.params().declare("mode", "slow")
        server, port = serve("--write")
        with joined(port) as client:

            def values(*names: str) -> dict[str, Any]:
                before = len(client.others)
                client.say(op="getParameters", parameterNames=names, id=f"get {before}")
                wait_until(lambda: len(client.others) > before)
                answer = client.others[-1]
                assert (answer["op"], answer["id"]) == ("parameterValues", f"get {before}")
                return {one["name"]: one.get("value") for one in answer["parameters"]}

            all_of_them = {"mapper.speed": 0.5, "mapper.grid.size": 8, "mapper.mode": "slow"}
            wait_until(lambda: values() == all_of_them)
            assert values("mapper.mode", "mapper.absent") == {"mapper.mode": "slow"}
            client.say(op="subscribeParameterUpdates", parameterNames=["mapper.grid.size"])
            wish = {"name": "mapper.speed", "value": 1}  # a browser writes 1.0 as 1
            client.say(op="setParameters", parameters=[wish], id="a")
            wait_until(lambda: any(answer.get("id") == "a" for answer in client.others))
            assert node.params()["speed"] == 1.0
            assert client.others[-1]["parameters"][0]["value"] == 1
            wishes = [{"name": "mapper.speed", "value": 9}, {"name": "mapper.mode", "value": "x"}]
            client.say(op="setParameters", parameters=wishes, id="b")
            wait_until(lambda: bool(client.statuses))
            assert "not set: mapper: " in client.statuses[0]["message"]
            assert (node.params()["speed"], node.params()["mode"]) == (1.0, "slow")
            client.say(op="setParameters", parameters=[{"name": "no.such", "value": 1}], id="c")
            wait_until(lambda: len(client.statuses) == 2)
            assert client.statuses[1]["message"] == "not set: no node has a parameter 'no.such'"
            node.params().set({"grid.size": 16})
            wait_until(
                lambda: any(
                    one == {"name": "mapper.grid.size", "value": 16}
                    for answer in client.others
                    for one in answer["parameters"]
                )
            )
        assert server.stop()[0] == 0


def test_only_permitted_clients_set_parameters(serve: Serve, domain: str) -> None:
    with hyphos.Node.open("mapper", domain=domain) as node:
        node.params().declare("speed", 0.5)
        _, port = serve()
        with joined(port) as client:
            wish = {"name": "mapper.speed", "value": 0.1}
            client.say(op="setParameters", parameters=[wish], id="a")
            wait_until(lambda: bool(client.statuses))
            assert "hyphos foxglove --write lets clients set them" in client.statuses[0]["message"]
            assert node.params()["speed"] == 0.5


def test_the_terminal_shows_channels_and_clients(
    hyphos_terminal: OnTerminalStart, robot: Program, domain: str
) -> None:
    assert robot.popen.poll() is None
    shown = hyphos_terminal("foxglove", "--port", "0", "-d", domain)
    shown.read_until(", Ctrl-C ends it")
    match = re.search(r"at ws://127\.0\.0\.1:(\d+),", shown.shown)
    assert match
    shown.read_until("camera/front")
    shown.read_until("Foxglove cannot read struct")
    with joined(int(match[1])) as client:
        client.subscribe("scan")
        client.next("scan")
        shown.read_until("1 watched, 1 clients")
        shown.read_until(client.socket.local_address[1].__str__())
    shown.type("\x03")
    assert shown.end() == 0


def test_clients_follow_simulated_time(serve: Serve, domain: str) -> None:
    with (
        hyphos.Node.open("sim", domain=domain, clock="sim") as node,
        hyphos.SimTime(node, manual=True, start_ns=40 * 10**9) as sim,
    ):
        out = node.publisher("value", Float64)
        _, port = serve()
        with joined(port) as client:
            assert client.info["capabilities"][-1] == "time"
            client.subscribe("value")
            wait_until(lambda: out.listeners > 0)
            sim.advance(duration_ms=2000)

            def told() -> bool:
                out.publish(Float64(data=1))
                return any(m.time_ns == 42 * 10**9 for m in client.of("value"))

            wait_until(told)
            sim.advance(duration_ms=500)
            wait_until(lambda: 42_500_000_000 in client.times.items)


def test_a_robot_may_switch_to_simulated_time(serve: Serve, domain: str) -> None:
    server, port = serve()
    with joined(port) as client:
        assert client.info["capabilities"] == ["parameters", "parametersSubscribe"]
        with (
            hyphos.Node.open("sim", domain=domain, clock="sim") as node,
            hyphos.SimTime(node, manual=True, start_ns=10**9) as sim,
        ):
            value = node.publisher("value", Float64)
            sim.advance(duration_ms=1)
            assert server.line() == f"no publisher in domain '{domain}' yet"
            assert server.line().startswith("connected: ")
            assert server.line() == "the robot has simulated time: clients reconnect"
            wait_until(lambda: client.socket.state.name == "CLOSED")
            with joined(port) as again:
                assert again.info["capabilities"][-1] == "time"
                again.channel("value")
            value.close()


def test_a_slow_client_gets_the_newest_and_losses_are_counted(serve: Serve, domain: str) -> None:
    with hyphos.Node.open("camera", domain=domain) as node:
        out = node.publisher("image", hyphos.Attached[Image])
        server, port = serve()
        with joined(port) as slow, joined(port) as quick:
            for client in (slow, quick):
                client.subscribe("image")
            wait_until(lambda: out.listeners > 0)
            last = 0
            while not (quick.of("image") and slow.of("image")):  # both are subscribed
                last += 1
                publish(out, last)
                wait_until(lambda: last in (newest(quick), newest(slow)))  # noqa: B023
            wait_until(lambda: newest(quick) == newest(slow) == last)
            slow.reading.clear()
            for stamp in range(last + 1, last + 91):
                publish(out, stamp)
                wait_until(lambda: newest(quick) == stamp)  # noqa: B023
            slow.reading.set()
            wait_until(lambda: newest(slow) == last + 90)
            stamps = [number(slow, i) for i in range(len(slow.of("image")))]
            assert stamps == sorted(stamps)
            missing = last + 90 - stamps[0] + 1 - len(stamps)
            assert missing > 0
        code, text, _ = server.stop()
    assert code == 0
    assert f"{missing} messages dropped for clients that were too slow" in text
    assert f"{missing} messages dropped\n" in text  # on the line of the client


def publish(out: Any, stamp_s: int) -> None:
    head = Image(width=1000, height=1000, step=1000, encoding="mono8")
    head.header.stamp_ns = stamp_s * 10**9
    out.publish(head, np.zeros(10**6, np.uint8))


def number(client: Client, at: int) -> int:
    data = client.of("image")[at].data
    return int(parse(client.channel("image"), data).timestamp.seconds)


def newest(client: Client) -> int:
    return number(client, -1) if client.of("image") else 0


def test_a_stopped_client_blocks_nothing_else(serve: Serve, domain: str) -> None:
    """One client reads nothing. The robot keeps publishing, and another client receives."""
    with hyphos.Node.open("talker", domain=domain) as node:
        policy = hyphos.Policy(reliability="reliable", overflow="block", depth=2)
        out = node.publisher("text", String, policy=policy)
        _, port = serve()
        with joined(port) as stopped, joined(port) as quick:
            stopped.subscribe("text")
            quick.subscribe("text")
            wait_until(lambda: out.listeners > 0)

            def both() -> bool:
                out.publish(String(data="x" * 100_000))
                return bool(stopped.of("text") and quick.of("text"))

            wait_until(both, "both clients to be subscribed")
            stopped.reading.clear()
            for _ in range(300):
                assert out.publish(String(data="x" * 100_000))
            out.publish(String(data="last"))
            wait_until(lambda: bool(quick.of("text")) and len(quick.of("text")[-1].data) < 100)
            stopped.reading.set()


def test_errors_contain_the_remedy(
    serve: Serve, hyphos_cli: Cli, start: Start, domain: str
) -> None:
    _, port = serve()
    code, _, err = hyphos_cli("foxglove", "--port", str(port), "-d", domain)
    assert code == 1
    assert f"error: cannot listen on 127.0.0.1 port {port}: Address already in use" in err
    assert "--port" in err
    code, _, err = hyphos_cli("foxglove", "--host", "no.such.host.invalid", "-d", domain)
    assert code == 1
    assert "'no.such.host.invalid' is not an address of this machine" in err
    without = "import sys; sys.modules['foxglove'] = None; import hyphos.cli.main as m; m.main()"
    code, _, err = start(sys.executable, "-c", without, "foxglove").end()
    assert code == 1
    assert err == ("error: foxglove-sdk is not installed\n  → pip install 'hyphos[foxglove]'\n")


def test_it_ends_by_itself_and_leaves_nothing(serve: Serve, domain: str) -> None:
    server, port = serve("--for", "8")  # long enough for a client that stalls for a while
    with joined(port) as client:
        assert server.end()[0] == 0
        wait_until(lambda: client.socket.state.name == "CLOSED")
    assert look(domain).processes == []


def test_connections_that_are_no_client_are_closed(serve: Serve) -> None:
    import socket  # noqa: PLC0415

    server, port = serve()
    for words in (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", b"\x00" * 70_000, b""):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain:
            try:
                plain.sendall(words)
                while words and plain.recv(4096):  # until the server closes the connection
                    pass
            except (ConnectionResetError, BrokenPipeError):
                pass
    with joined(port) as client:
        assert client.info["op"] == "serverInfo"
    code, out, err = server.stop()
    assert (code, err) == (0, "")
    assert out.count("connected: ") == 2  # the real client connected and disconnected
