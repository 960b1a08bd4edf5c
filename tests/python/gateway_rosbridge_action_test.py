"""hyphos gateway rosbridge: the robot's own actions for clients, and theirs for the robot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass
from helpers import PATIENCE_S, Inbox, Start
from hyphos.ros.known import descriptors
from rosbridge_probe import RawClient, connected, needs_gateway

pytestmark = needs_gateway

TYPE = "count_msgs/Count"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("share") / "count_msgs"
    (folder / "action").mkdir(parents=True)
    (folder / "package.xml").write_text(
        "<package><name>count_msgs</name><buildtool_depend>catkin</buildtool_depend></package>"
    )
    (folder / "action/Count.action").write_text("int32 to\n---\nint32 sum\n---\nint32 at\n")
    return folder


@pytest.fixture(scope="module")
def count(package: Path) -> tuple[Any, Any, Any]:
    """Goal, feedback and result, as the graph carries them."""
    pool = descriptor_pool.DescriptorPool()
    names: dict[str, str] = {}
    for file in FileDescriptorSet.FromString(descriptors([package])).file:
        pool.Add(file)
        names |= {message.name: f"{file.package}.{message.name}" for message in file.message_type}
    parts = [names[f"Count{part}"] for part in ("Goal", "Feedback", "Result")]
    goal, feedback, result = (GetMessageClass(pool.FindMessageTypeByName(one)) for one in parts)
    return goal, feedback, result


@pytest.fixture
def client(hyphos_start: Start, domain: str, package: Path) -> Iterator[RawClient]:
    words = ("--port", "0", "-d", domain, "--ros", str(package))
    with connected(hyphos_start("gateway", "rosbridge", *words).line()) as opened:
        yield opened


def test_a_client_sends_goals_to_the_robot(
    node: hyphos.Node, client: RawClient, count: tuple[Any, Any, Any]
) -> None:
    _, feedback, result = count

    def carry_out(goal: Any) -> None:
        if goal.value.to > 100:
            goal.feedback(feedback(at=0))
            if goal.wait_for(PATIENCE_S * 1000):
                goal.canceled(result(sum=-1))
        elif goal.value.to < 0:
            goal.fail("only upwards")
        else:
            for at in range(1, goal.value.to + 1):
                goal.feedback(feedback(at=at))
            goal.succeed(result(sum=sum(range(goal.value.to + 1))))

    node.action("count", *count, carry_out)

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


def test_the_robot_sends_goals_to_a_client(
    node: hyphos.Node, client: RawClient, count: tuple[Any, Any, Any]
) -> None:
    client.say(op="advertise_action", action="/count", type=TYPE)
    ask = node.action_client("count", *count)
    heard = Inbox()
    goal = ask.send(count[0](to=3), heard)
    told = client.hear()
    assert (told["op"], told["action"], told["args"]) == ("send_action_goal", "/count", {"to": 3})
    answer = {"action": "/count", "id": told["id"]}
    client.say(op="action_feedback", values={"at": 2}, **answer)
    assert heard.wait(1)[0].at == 2
    client.say(op="action_result", values={"sum": 6}, status=4, result=True, **answer)
    result = goal.result(timeout_ms=PATIENCE_S * 1000)
    assert (result.state, result.value.sum) == ("succeeded", 6)

    canceled = ask.send(count[0](to=4))
    told = client.hear()
    canceled.cancel()
    assert client.hear() == {"op": "cancel_action_goal", "id": told["id"], "action": "/count"}
    client.say(op="action_result", values={"sum": 1}, status=5, action="/count", id=told["id"])
    assert canceled.result(timeout_ms=PATIENCE_S * 1000).state == "canceled"


def test_the_goals_of_a_client_that_goes_are_canceled(
    node: hyphos.Node, hyphos_start: Start, domain: str, package: Path, count: tuple[Any, Any, Any]
) -> None:
    ended = Inbox()

    def carry_out(goal: Any) -> None:
        ended("begun")
        ended(goal.wait_for(PATIENCE_S * 1000))
        goal.canceled(count[2]())

    node.action("count", *count, carry_out)
    words = ("--port", "0", "-d", domain, "--ros", str(package))
    address = hyphos_start("gateway", "rosbridge", *words).line()
    with connected(address) as leaving:
        leaving.say(op="send_action_goal", action="/count", action_type=TYPE, args={"to": 1})
        ended.wait(1)
    assert ended.wait(2) == ["begun", True]
