"""`hyphos gateway rosbridge`: actions of the robot for clients, and actions of clients for the
robot.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import pytest
from count_action import TYPE, Count, counting, types_of, write_package
from helpers import PATIENCE_S, Inbox, Start, wait_until
from rosbridge_probe import RawClient, connected, needs_gateway

pytestmark = needs_gateway


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("share"))


@pytest.fixture(scope="module")
def count(package: Path) -> Count:
    return types_of(package)


@pytest.fixture
def address(hyphos_start: Start, domain: str, package: Path) -> str:
    words = ("--port", "0", "-d", domain, "--ros", str(package))
    return hyphos_start("gateway", "rosbridge", *words).line()


@pytest.fixture
def client(address: str) -> Iterator[RawClient]:
    with connected(address) as opened:
        yield opened


def asked(client: RawClient, service: str, **args: Any) -> Any:
    client.say(op="call_service", service=f"/rosapi/{service}", args=args)
    answer = client.hear()
    assert answer["result"] is True, answer
    return answer["values"]


def test_a_client_sends_goals_to_the_robot(
    node: hyphos.Node, client: RawClient, count: Count
) -> None:
    node.action("count", *count, counting(count))

    def send(to: int, number: str) -> None:
        goal = {"action": "/count", "action_type": TYPE, "feedback": True}
        client.say(op="send_action_goal", id=number, args={"to": to}, **goal)

    send(3, "a")
    for at in (1, 2, 3):
        told = client.hear()
        assert (told["op"], told["values"]) == ("action_feedback", {"at": at})
    told = client.hear()
    assert told == {
        "op": "action_result", "action": "/count", "id": "a", "status": 4, "result": True,
        "values": {"sum": 6},
    }  # fmt: skip
    send(-1, "b")
    told = client.hear()
    assert (told["id"], told["status"], told["result"]) == ("b", 6, False)
    assert "only upwards" in told["values"]
    send(101, "c")
    assert client.hear()["op"] == "action_feedback"
    client.say(op="cancel_action_goal", id="c", action="/count")
    told = client.hear()
    assert (told["id"], told["status"], told["values"]) == ("c", 5, {"sum": -1})


def test_roslibpy_finds_the_action_and_sends_goals(
    node: hyphos.Node, address: str, count: Count
) -> None:
    roslibpy = pytest.importorskip("roslibpy")
    node.action("count", *count, counting(count))
    ros = roslibpy.Ros("127.0.0.1", int(address.strip().rpartition(":")[2]))
    ros.run(timeout=PATIENCE_S)
    try:
        servers = Inbox()
        ros.get_action_servers(servers, errback=servers)
        assert servers.wait(1)[0]["action_servers"] == ["/count"]
        action = roslibpy.ActionClient(ros, "/count", TYPE)
        results, feedback, errors = Inbox(), Inbox(), Inbox()
        goal = action.send_goal(roslibpy.Goal({"to": 3}), results, feedback, errors)
        action.wait_goal(goal, timeout=PATIENCE_S)
        assert results.wait(1)[0]["values"] == {"sum": 6}
        assert feedback.items == [{"at": 1}, {"at": 2}, {"at": 3}]
        assert errors.items == []
    finally:
        ros.close()


def test_tools_find_actions_and_their_types(
    node: hyphos.Node, client: RawClient, count: Count
) -> None:
    node.action("count", *count, counting(count))
    client.say(op="advertise_action", action="/own", type=TYPE)

    def servers() -> list[str]:
        return sorted(asked(client, "action_servers")["action_servers"])

    wait_until(lambda: servers() == ["/count", "/own"], "both actions to be seen")
    for action in ("/count", "own"):
        assert asked(client, "action_type", action=action) == {"type": TYPE}
    assert asked(client, "action_type", action="/none") == {"type": ""}
    for part, field in (("goal", "to"), ("result", "sum"), ("feedback", "at")):
        (told,) = asked(client, f"action_{part}_details", type=TYPE)["typedefs"]
        assert told["type"] == f"{TYPE}{part.title()}"
        assert (told["fieldnames"], told["fieldtypes"]) == ([field], ["int32"])
    names = asked(client, "interfaces")["interfaces"]
    assert {TYPE, f"{TYPE}Goal", "std_msgs/String", "std_msgs/msg/String"} <= set(names)
    assert len(names) == len(set(names))
    assert asked(client, "get_ros_version") == {"version": 1, "distro": "hyphos"}
    services = asked(client, "services")["services"]
    assert "/rosapi/action_feedback_details" in services
    assert not any("count" in name for name in services), "an action is no service"
    client.say(op="unadvertise_action", action="/own")
    wait_until(lambda: servers() == ["/count"], "the client's to be gone")


def test_excluded_actions_are_neither_listed_nor_run(
    node: hyphos.Node, hyphos_start: Start, domain: str, package: Path, count: Count
) -> None:
    for name in ("count", "secret/count"):
        node.action(name, *count, counting(count))
    words = ("--port", "0", "-d", domain, "--ros", str(package), "--no-call", "secret/*")
    with connected(hyphos_start("gateway", "rosbridge", *words).line()) as client:
        assert asked(client, "action_servers") == {"action_servers": ["/count"]}
        assert asked(client, "action_type", action="/secret/count") == {"type": ""}
        client.say(op="send_action_goal", action="/secret/count", action_type=TYPE, args={"to": 1})
        told = client.hear()
        assert told["result"] is False
        assert "the rules of the gateway do not allow" in told["values"]


def test_the_robot_sends_goals_to_a_client(
    node: hyphos.Node, client: RawClient, count: Count
) -> None:
    client.say(op="advertise_action", action="/count", type=TYPE)
    ask = node.action_client("count", *count)
    heard = Inbox()
    goal = ask.send(count.goal(to=3), heard)
    told = client.hear()
    assert (told["op"], told["action"], told["args"]) == ("send_action_goal", "/count", {"to": 3})
    answer = {"action": "/count", "id": told["id"]}
    client.say(op="action_feedback", values={"at": 2}, **answer)
    assert heard.wait(1)[0].at == 2
    client.say(op="action_result", values={"sum": 6}, status=4, result=True, **answer)
    result = goal.result(timeout_ms=PATIENCE_S * 1000)
    assert (result.state, result.value.sum) == ("succeeded", 6)

    canceled = ask.send(count.goal(to=4))
    told = client.hear()
    canceled.cancel()
    assert client.hear() == {"op": "cancel_action_goal", "id": told["id"], "action": "/count"}
    client.say(op="action_result", values={"sum": 1}, status=5, action="/count", id=told["id"])
    assert canceled.result(timeout_ms=PATIENCE_S * 1000).state == "canceled"


def test_goals_of_a_client_that_disconnects_are_canceled(
    node: hyphos.Node, address: str, count: Count
) -> None:
    ended = Inbox()

    def carry_out(goal: Any) -> None:
        ended("begun")
        ended(goal.wait_for(PATIENCE_S * 1000))
        goal.canceled(count.result())

    node.action("count", *count, carry_out)
    with connected(address) as leaving:
        leaving.say(op="send_action_goal", action="/count", action_type=TYPE, args={"to": 1})
        ended.wait(1)
    assert ended.wait(2) == ["begun", True]
