"""Services and actions from Python, between processes and with asyncio."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Cli, Inbox, Start, look_until, wait_until
from hyphos import Attached, _hyphos
from hyphos.msgs import Image, String, Twist
from hyphos.observe import look
from hyphos.tools.services import calls

FOR_EVER_MS = 3_600_000.0

SERVER = """
import sys, time, hyphos
from hyphos.msgs import String, Twist
node = hyphos.Node.open("server", domain=sys.argv[1])
kept = []
node.service("upper", String, String, lambda s: String(data=s.data.upper()))
node.service("never", String, String, lambda s, responder: kept.append(responder))

def refuse(s):
    raise hyphos.Error("unsupported", "not on Sundays", "refuse")

node.service("refuse", String, String, refuse)
node.service("broken", String, String, lambda s: s.no_such_field)
node.service("wrong", String, String, lambda s: 7)

def count(goal):
    for i in range(int(goal.value.data)):
        goal.feedback(String(data=f"step {i}"))
        if goal.value.data == "1000000" and goal.wait_for(3_600_000):
            return goal.canceled(String(data="stopped"))
    return String(data="done")

def accept(s):
    if not s.data.isdigit():
        raise hyphos.Error("invalid_config", f"'{s.data}' is no number", "count")

node.action("count", String, String, String, count, accept=accept)
print("ready", flush=True)
node.spin()
"""

CLIENT = """
import sys, hyphos
from hyphos.msgs import String
node = hyphos.Node.open("caller", domain=sys.argv[1])
client = node.client("never", String, String)
print("ready", flush=True)
try:
    client.call(String(data="x"), timeout_ms=3_600_000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

# Another thread gets the signal, so it does not end the wait of the main thread.
INTERRUPTED_ELSEWHERE = """
import linecache, signal, sys, threading, time, hyphos
from hyphos.msgs import String
node = hyphos.Node.open("caller", domain=sys.argv[1])
kept, received = [], threading.Event()

def take(s, responder):
    kept.append(responder)
    received.set()

def main_waits():
    frame = sys._current_frames()[threading.main_thread().ident]
    return "acquire" in linecache.getline(frame.f_code.co_filename, frame.f_lineno)

def interrupt():
    received.wait()
    while not main_waits():
        time.sleep(0.001)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

node.service("never", String, String, take)
threading.Thread(target=interrupt).start()
try:
    node.client("never", String, String).call(String(), timeout_ms=3_600_000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.fixture
def server(python: Start, domain: str) -> Any:
    program = python(SERVER, domain)
    assert program.line() == "ready"
    return program


@pytest.mark.usefixtures("server")
def test_a_call_gets_a_reply_and_errors_keep_their_text(node: hyphos.Node) -> None:
    upper = node.client("upper", String, String)
    assert upper.call(String(data="abc"), timeout_ms=FOR_EVER_MS).data == "ABC"
    upper.wait_for_server(timeout_ms=FOR_EVER_MS)
    assert upper.ready
    for name, code, words in (
        ("refuse", "unsupported", "not on Sundays"),
        ("broken", "io", "no_such_field"),
        ("wrong", "io", "TypeError"),
    ):
        with pytest.raises(hyphos.Error) as caught:
            node.client(name, String, String).call(String(), timeout_ms=FOR_EVER_MS)
        assert caught.value.code == code
        assert words in caught.value.message
    with pytest.raises(hyphos.Error) as caught:
        node.client("upper", String, Twist).call(String(), timeout_ms=FOR_EVER_MS)
    assert caught.value.code == "type_mismatch"
    assert "hyphos.msgs.Twist" in caught.value.message
    with pytest.raises(hyphos.Error) as caught:
        node.client("nobody", String, String).call(String(), timeout_ms=1)
    assert caught.value.code == "not_found"
    never = node.client("never", String, String)
    never.wait_for_server(timeout_ms=FOR_EVER_MS)
    with pytest.raises(hyphos.Error) as caught:
        never.call(String(), timeout_ms=50)
    assert caught.value.code == "timeout"
    with pytest.raises(TypeError):
        upper.call(Twist())


def test_a_dead_server_is_noticed_at_once(node: hyphos.Node, server: Any, domain: str) -> None:
    never = node.client("never", String, String)
    inbox = Inbox()
    for _ in range(5):
        never.call_then(
            String(), lambda reply, error: inbox((reply, error)), timeout_ms=FOR_EVER_MS
        )
    # An unsent call would wait for another server, so all calls must have reached this one.
    channel = "hyphos/service/never/request"
    wait_until(
        lambda: any(
            end.channel == channel and not end.is_publisher and end.counter("received") == 5
            for process in _hyphos.inspect(domain)
            for end in process.endpoints
        ),
        "the requests",
    )
    server.signal(signal.SIGKILL)
    for reply, error in inbox.wait(5):
        assert reply is None
        assert error.code in ("disconnected", "not_found")


@pytest.mark.usefixtures("server")
def test_ctrl_c_ends_a_call(python: Start, domain: str) -> None:
    caller = python(CLIENT, domain)
    assert caller.line() == "ready"
    wait_until(lambda: calls(look(domain), "service")["never"].clients != [])
    caller.signal(signal.SIGINT)
    code, out, _ = caller.end()
    assert out in ("interrupted\n", "")  # "": the signal came before the call
    assert code in (0, 1, -signal.SIGINT)


def test_ctrl_c_ends_a_call_that_no_signal_wakes(python: Start, domain: str) -> None:
    assert python(INTERRUPTED_ELSEWHERE, domain).line() == "interrupted"


@pytest.mark.usefixtures("server")
def test_calls_can_be_awaited(node: hyphos.Node) -> None:
    upper = node.client("upper", String, String)
    never = node.client("never", String, String)
    never.wait_for_server(timeout_ms=FOR_EVER_MS)

    async def ask() -> list[str]:
        replies = await asyncio.gather(
            *(upper.call_async(String(data=f"n{i}"), timeout_ms=FOR_EVER_MS) for i in range(20))
        )
        with pytest.raises(hyphos.Error) as caught:
            await never.call_async(String(), timeout_ms=20)
        assert caught.value.code == "timeout"
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(never.call_async(String(), timeout_ms=FOR_EVER_MS), 0.02)
        return [reply.data for reply in replies]

    assert asyncio.run(ask()) == [f"N{i}" for i in range(20)]


def test_servers_and_actions_may_be_async(domain: str) -> None:
    async def everything() -> tuple[str, str, list[str], str]:
        with (
            hyphos.Node.open("server", domain=domain) as server,
            hyphos.Node.open("client", domain=domain) as client,
        ):

            async def slow_upper(text: String) -> String:
                await asyncio.sleep(0)
                return String(data=text.data.upper())

            async def refuse(_text: String) -> String:
                raise hyphos.Error("unsupported", "never", "refuse")

            async def count(goal: Any) -> String:
                for i in range(3):
                    goal.feedback(String(data=str(i)))
                    await asyncio.sleep(0)
                return String(data="counted")

            server.service("upper", String, String, slow_upper)
            server.service("refuse", String, String, refuse)
            server.action("count", String, String, String, count)
            reply = await client.client("upper", String, String).call_async(
                String(data="x"), timeout_ms=FOR_EVER_MS
            )
            with pytest.raises(hyphos.Error) as caught:
                await client.client("refuse", String, String).call_async(
                    String(), timeout_ms=FOR_EVER_MS
                )
            heard: list[str] = []
            result = await client.action_client("count", String, String, String).run(
                String(), lambda f: heard.append(f.data), accept_timeout_ms=FOR_EVER_MS
            )
            return reply.data, caught.value.code, heard, result.value.data

    assert asyncio.run(everything()) == ("X", "unsupported", ["0", "1", "2"], "counted")
    with (
        hyphos.Node.open("server", domain=domain) as server,
        pytest.raises(TypeError, match="event loop"),
    ):

        async def orphan(text: String) -> String:
            return text

        server.service("orphan", String, String, orphan)


def test_a_reply_with_an_image_does_not_copy_its_pixels(domain: str) -> None:
    pose = hyphos.Struct("demo.Pose", [("x", "f8"), ("y", "f8")])
    with (
        hyphos.Node.open("server", domain=domain) as server,
        hyphos.Node.open("client", domain=domain) as client,
    ):
        pixels = np.arange(1_000_000, dtype=np.uint8)
        server.service(
            "render", pose, Attached[Image], lambda p: Attached(Image(width=int(p.x)), [pixels])
        )
        render = client.client("render", pose, Attached[Image])
        picture = render.call(pose(x=7), timeout_ms=FOR_EVER_MS)
        assert picture.head.width == 7
        assert np.array_equal(picture.buffers[0], pixels)
        assert not picture.buffers[0].flags.writeable


def test_a_callback_may_call_a_service(domain: str) -> None:
    with hyphos.Node.open("one", domain=domain, threads=1) as node:
        inner = node.client("inner", String, String)
        node.service("inner", String, String, lambda s: String(data=s.data + "!"))
        node.service("outer", String, String, lambda s: inner.call(s, timeout_ms=FOR_EVER_MS))
        outer = node.client("outer", String, String)
        assert outer.call(String(data="hi"), timeout_ms=FOR_EVER_MS).data == "hi!"


def test_a_reply_may_come_later_or_never(domain: str) -> None:
    with hyphos.Node.open("one", domain=domain) as node:
        kept: list[Any] = []
        came = threading.Event()

        def later(_text: String, responder: hyphos.Responder[String]) -> None:
            kept.append(responder)
            came.set()

        service = node.service("later", String, String, later)
        client = node.client("later", String, String)
        inbox = Inbox()
        for _ in range(2):
            came.clear()
            client.call_then(
                String(), lambda reply, error: inbox((reply, error)), timeout_ms=FOR_EVER_MS
            )
            came.wait()
        assert service.pending == 2
        kept[0].reply(String(data="now"))
        assert inbox.wait(1)[0][0].data == "now"
        with pytest.raises(hyphos.Error, match="already"):
            kept[0].reply(String(data="again"))
        kept.clear()
        assert "without a reply" in inbox.wait(2)[1][1].message
        with pytest.raises(hyphos.Error) as caught:
            node.service("later", String, String, later)
        assert caught.value.code == "already_exists"


def test_an_action_reports_progress_and_is_canceled(node: hyphos.Node, server: Any) -> None:
    count = node.action_client("count", String, String, String)
    inbox = Inbox()
    goal = count.send(String(data="3"), lambda f: inbox(f.data), accept_timeout_ms=FOR_EVER_MS)
    goal.accepted(timeout_ms=FOR_EVER_MS)
    result = goal.result()
    assert (result.state, result.value.data, result.succeeded) == ("succeeded", "done", True)
    assert inbox.wait(3) == ["step 0", "step 1", "step 2"]
    rejected = count.send(String(data="x"), accept_timeout_ms=FOR_EVER_MS)
    with pytest.raises(hyphos.Error, match="'x' is no number"):
        rejected.accepted(timeout_ms=FOR_EVER_MS)
    begun = Inbox()
    endless = count.send(String(data="1000000"), begun, accept_timeout_ms=FOR_EVER_MS)
    begun.wait(1)
    with pytest.raises(hyphos.Error) as caught:
        endless.result(timeout_ms=1)
    assert caught.value.code == "timeout"
    endless.cancel()
    result = endless.result()
    assert (result.state, result.value.data) == ("canceled", "stopped")
    other = count.send(String(data="1000000"), accept_timeout_ms=FOR_EVER_MS)
    other.accepted(timeout_ms=FOR_EVER_MS)
    server.signal(signal.SIGKILL)
    with pytest.raises(hyphos.Error) as caught:
        other.result()
    assert caught.value.code == "disconnected"


@pytest.mark.usefixtures("server")
def test_the_command_line_lists_and_calls(hyphos_cli: Cli, domain: str) -> None:
    at = ("--domain", domain)
    code, out, _ = hyphos_cli("service", "list", *at)
    assert code == 0
    assert "upper" in out
    assert "hyphos.msgs.String → hyphos.msgs.String" in out
    code, out, _ = hyphos_cli("service", "list", "--json", *at)
    rows = {row["name"]: row for row in json.loads(out)}
    assert set(rows) == {"upper", "never", "refuse", "broken", "wrong"}
    assert rows["upper"]["server"]["node"] == "server"
    assert rows["upper"]["reply"] == {"type": "hyphos.msgs.String", "encoding": "protobuf"}
    code, out, err = hyphos_cli("service", "call", "upper", "{data: abc}", *at)
    assert (code, out) == (0, "data: ABC\n"), err
    code, out, _ = hyphos_cli("service", "call", "upper", '{"data": "x"}', "--json", *at)
    assert (code, json.loads(out)) == (0, {"data": "X"})
    code, out, err = hyphos_cli("service", "call", "refuse", *at)
    assert (code, out) == (1, "")
    assert "not on Sundays" in err
    code, _, err = hyphos_cli("service", "call", "uper", *at)
    assert code == 1
    assert "did you mean 'upper'?" in err
    code, _, err = hyphos_cli("service", "call", "upper", "{dat: x}", *at)
    assert code == 1
    assert "fields: data" in err
    words = ("service", "call", "never", "--timeout", "1", *at)
    code, _, err = look_until(  # the command has found the server
        lambda told: "no server of" not in told[2], lambda: hyphos_cli(*words), "the server"
    )
    assert code == 1
    assert "did not reply" in err
    code, out, _ = hyphos_cli("service", "info", "upper", *at)
    assert code == 0
    assert "replies" in out
    assert "requests take" in out
    # The list of channels hides services, and users cannot open their channels.
    assert json.loads(hyphos_cli("channel", "list", "--json", *at)[1]) == []


@pytest.mark.usefixtures("server")
def test_the_command_line_sends_goals(hyphos_cli: Cli, hyphos_start: Start, domain: str) -> None:
    at = ("--domain", domain)
    assert "count" in hyphos_cli("action", "list", *at)[1]
    info = json.loads(hyphos_cli("action", "info", "count", "--json", *at)[1])
    assert info["feedback"]["type"] == "hyphos.msgs.String"
    code, out, err = hyphos_cli("action", "send", "count", "{data: '2'}", *at)
    assert (code, out.split("\n")) == (0, ["data: step 0", "data: step 1", "data: done", ""])
    assert err == "succeeded\n"
    code, out, err = hyphos_cli("action", "send", "count", "{data: x}", *at)
    assert (code, out) == (1, "")
    assert "no number" in err
    endless = hyphos_start("action", "send", "count", "{data: '1000000'}", *at)
    assert endless.line() == "data: step 0"
    endless.signal(signal.SIGINT)
    code, out, err = endless.end()
    assert (code, out) == (1, "data: stopped\n")
    assert "canceled" in err
