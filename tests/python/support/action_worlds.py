"""Servers and clients of one action in every world: programs of Hyphos, ROS 1, ROS 2, and clients
of rosbridge. The type is actionlib/Test, which no gateway needs to be given.

A goal above 100 gets feedback and waits to be canceled. A goal below 0 fails. Any other goal
succeeds with its double. A client sends 101, then 21 beside it, cancels the first, and sends -1.
"""

# Cyclone DDS reads these types at run time, so postponed annotations are not allowed here. Without
# the package, mypy does not know its base class.
# mypy: disable-error-code="call-arg,misc,valid-type"

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import hyphos
from bson_client import BsonClient
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, int8, int32, int64, sequence, uint8, uint32, uint64
from helpers import PATIENCE_S, Inbox, repeating
from hyphos.ros.typebook import TypeBook
from ros2_program import RosProgram, take
from rosbridge_probe import RawClient

TYPE = "actionlib/Test"
# The lines that every client prints, in any order of the first two.
EXPECTED = {"a 101 canceled -1", "b succeeded 42", "c aborted"}


class Messages(NamedTuple):
    """The messages of the action, as the graph carries them."""

    goal: Any
    feedback: Any
    result: Any


def messages(prefix: str = "ros1.actionlib.msg.Test") -> Messages:
    book = TypeBook()
    parts = ("Goal", "Feedback", "Result")
    return Messages(*(book.get(prefix + part) for part in parts))


# --- Hyphos in Python ---------------------------------------------------------------------------


def serve_python(node: hyphos.Node, action: str, types: Messages) -> None:
    def execute(goal: Any) -> None:
        to = goal.value.goal
        if to < 0:
            goal.fail("only upwards")
        elif to <= 100:
            goal.succeed(types.result(result=2 * to))
        else:
            goal.feedback(types.feedback(feedback=to))
            if goal.wait_for(PATIENCE_S * 1000):
                goal.canceled(types.result(result=-1))

    node.action(action, *types, execute, policy="parallel")


def send_python(node: hyphos.Node, action: str, types: Messages) -> set[str]:
    client = node.action_client(action, *types)
    client.wait_for_server(timeout_ms=PATIENCE_S * 1000)
    heard = Inbox()
    first = client.send(types.goal(goal=101), heard)
    feedback = heard.wait(1)[0].feedback
    second = client.send(types.goal(goal=21)).result(timeout_ms=PATIENCE_S * 1000)
    first.cancel()
    canceled = first.result(timeout_ms=PATIENCE_S * 1000)
    lines = {
        f"b {second.state} {second.value.result}",
        f"a {feedback} {canceled.state} {canceled.value.result}",
    }
    try:
        third = client.send(types.goal(goal=-1)).result(timeout_ms=PATIENCE_S * 1000)
        lines.add(f"c {third.state}")
    except hyphos.Error:
        lines.add("c aborted")
    return lines


# --- ROS 1: actionlib ---------------------------------------------------------------------------

ACTIONLIB_SERVER = """
import sys
import actionlib
import rospy
from actionlib.msg import TestAction, TestFeedback, TestResult

def on_goal(goal):
    to = goal.get_goal().goal
    goal.set_accepted()
    if to < 0:
        goal.set_aborted(TestResult(), "only upwards")
    elif to <= 100:
        goal.set_succeeded(TestResult(2 * to))
    else:
        goal.publish_feedback(TestFeedback(to))

def on_cancel(goal):
    goal.set_canceled(TestResult(-1))

rospy.init_node("action_server", anonymous=True)
server = actionlib.ActionServer("{action}", TestAction, on_goal, on_cancel, auto_start=False)
server.start()
print("ready", flush=True)
rospy.spin()
"""

ACTIONLIB_CLIENT = """
import threading
import actionlib
import rospy
from actionlib.msg import TestAction, TestGoal
from actionlib_msgs.msg import GoalStatus

NAMES = {{GoalStatus.SUCCEEDED: "succeeded", GoalStatus.PREEMPTED: "canceled",
         GoalStatus.ABORTED: "aborted", GoalStatus.RECALLED: "canceled"}}
rospy.init_node("action_client", anonymous=True)
client = actionlib.ActionClient("{action}", TestAction)
client.wait_for_server()
heard = threading.Event()
feedback = []

def on_feedback(handle, message):
    feedback.append(message.feedback)
    heard.set()

def send(to, on_feedback=None):
    done = threading.Event()
    def changed(handle):
        if handle.get_comm_state() == actionlib.CommState.DONE:
            done.set()
    handle = client.send_goal(TestGoal(to), changed, on_feedback)
    return handle, done

def end(sent):
    handle, done = sent
    if not done.wait({patience}):
        raise SystemExit("a goal has not ended")
    return NAMES[handle.get_goal_status()], handle.get_result().result

first = send(101, on_feedback)
if not heard.wait({patience}):
    raise SystemExit("no feedback")
print("b %s %d" % end(send(21)), flush=True)
first[0].cancel()
print("a %d %s %d" % ((feedback[0],) + end(first)), flush=True)
print("c %s" % end(send(-1))[0], flush=True)
"""


# --- ROS 2: Cyclone DDS -------------------------------------------------------------------------

Id = array[uint8, 16]
_SENT, _RESULT, _CANCEL = ("send_goal", "get_result", "cancel_goal")


@dataclass
class SendRequest(IdlStruct, typename="actionlib::action::dds_::Test_SendGoal_Request_"):
    client: uint64
    call: int64
    goal_id: Id
    goal: int32


@dataclass
class SendResponse(IdlStruct, typename="actionlib::action::dds_::Test_SendGoal_Response_"):
    client: uint64
    call: int64
    accepted: bool
    sec: int32
    nanosec: uint32


@dataclass
class ResultRequest(IdlStruct, typename="actionlib::action::dds_::Test_GetResult_Request_"):
    client: uint64
    call: int64
    goal_id: Id


@dataclass
class ResultResponse(IdlStruct, typename="actionlib::action::dds_::Test_GetResult_Response_"):
    client: uint64
    call: int64
    status: int8
    result: int32


@dataclass
class GoalInfo(IdlStruct, typename="action_msgs::msg::dds_::GoalInfo_"):
    goal_id: Id
    sec: int32
    nanosec: uint32


@dataclass
class CancelRequest(IdlStruct, typename="action_msgs::srv::dds_::CancelGoal_Request_"):
    client: uint64
    call: int64
    goal_id: Id
    sec: int32
    nanosec: uint32


@dataclass
class CancelResponse(IdlStruct, typename="action_msgs::srv::dds_::CancelGoal_Response_"):
    client: uint64
    call: int64
    return_code: int8
    goals_canceling: sequence[GoalInfo]


@dataclass
class FeedbackMessage(IdlStruct, typename="actionlib::action::dds_::Test_FeedbackMessage_"):
    goal_id: Id
    feedback: int32


_SERVICES: dict[str, tuple[Any, Any]] = {
    _SENT: (SendRequest, SendResponse),
    _RESULT: (ResultRequest, ResultResponse),
    _CANCEL: (CancelRequest, CancelResponse),
}
_NAMES = {4: "succeeded", 5: "canceled", 6: "aborted"}


@contextmanager
def serving_dds(program: RosProgram, action: str) -> Iterator[None]:
    ends = {
        name: (
            program.reader(f"rq/{action}/_action/{name}Request", request),
            program.writer(f"rr/{action}/_action/{name}Reply", response),
        )
        for name, (request, response) in _SERVICES.items()
    }
    feedback = program.writer(f"rt/{action}/_action/feedback", FeedbackMessage)
    goals: dict[bytes, int] = {}
    results: dict[bytes, tuple[int, int]] = {}
    asking: dict[bytes, ResultRequest] = {}

    def serve() -> None:
        requests, replies = ends[_SENT]
        for ask in requests.take(N=10):
            key = bytes(ask.goal_id)
            goals[key] = ask.goal
            replies.write(SendResponse(ask.client, ask.call, True, 1, 2))
            if ask.goal > 100:
                feedback.write(FeedbackMessage(ask.goal_id, ask.goal))
            else:
                results[key] = (4, 2 * ask.goal) if ask.goal >= 0 else (6, 0)
        requests, replies = ends[_CANCEL]
        for ask in requests.take(N=10):
            results[bytes(ask.goal_id)] = (5, -1)
            info = GoalInfo(ask.goal_id, 1, 2)
            replies.write(CancelResponse(ask.client, ask.call, 0, [info]))
        requests, replies = ends[_RESULT]
        for ask in requests.take(N=10):
            asking[bytes(ask.goal_id)] = ask
        for key in [one for one in asking if one in results]:
            ask = asking.pop(key)
            replies.write(ResultResponse(ask.client, ask.call, *results[key]))

    with repeating(serve):
        yield


def send_dds(program: RosProgram, action: str) -> set[str]:
    own = uuid.uuid4().int >> 65
    heard = program.reader(f"rt/{action}/_action/feedback", FeedbackMessage)
    # With this mark, as of rmw_cyclonedds_cpp, a reply waits until its reader is discovered.
    marks = {name: f"clientid={own}.{name};".encode() for name in _SERVICES}
    ends = {
        name: (
            program.writer(f"rq/{action}/_action/{name}Request", request, user_data=marks[name]),
            program.reader(f"rr/{action}/_action/{name}Reply", response, user_data=marks[name]),
        )
        for name, (request, response) in _SERVICES.items()
    }
    calls = iter(range(1, 1_000_000))

    def call(name: str, *values: Any, until: Callable[[Any], bool] = lambda _: True) -> Any:
        """Repeats the call until there is a reply, because the server may not know this client."""
        requests, replies = ends[name]
        request = _SERVICES[name][0]
        sent: dict[int, float] = {}  # the time of each call by its number

        def ask() -> None:
            now = time.monotonic()
            if not sent or now > max(sent.values()) + 1:
                number = next(calls)
                sent[number] = now
                requests.write(request(own, number, *values))

        ended = time.monotonic() + PATIENCE_S
        while time.monotonic() < ended:
            reply = take(replies, ask)
            if reply.client == own and reply.call in sent and until(reply):
                return reply
        raise AssertionError(f"all replies of {name} are refusals")

    def send(to: int) -> Id:
        """A goal that is sent again gets a refusal, so the first reply counts only if it agrees."""
        goal = list(uuid.uuid4().bytes)
        call(_SENT, goal, to, until=lambda reply: reply.accepted)
        return goal

    def result(goal: Id) -> str:
        reply = call(_RESULT, goal)
        return f"{_NAMES[reply.status]} {reply.result}"

    # Readers are discovered in the order of their creation. So after this reply, no feedback is
    # lost.
    call(_CANCEL, list(uuid.uuid4().bytes), 0, 0)
    first = send(101)
    feedback = take(heard)
    assert bytes(feedback.goal_id) == bytes(first)
    lines = {f"b {result(send(21))}"}
    reply = call(_CANCEL, first, 0, 0)
    assert reply.return_code in (0, 3), "none, or the goal has already ended"
    lines.add(f"a {feedback.feedback} {result(first)}")
    lines.add(f"c {result(send(-1)).split()[0]}")
    return lines


# --- rosbridge ----------------------------------------------------------------------------------


@contextmanager
def serving_rosbridge(client: RawClient, action: str) -> Iterator[None]:
    client.say(op="advertise_action", action=f"/{action}", type=TYPE)

    def serve() -> None:
        while True:
            try:
                told = client.hear()
            except TimeoutError:
                continue  # no goal for a while
            except Exception:  # noqa: BLE001 - the connection has ended
                return
            answer = {"action": told.get("action"), "id": told.get("id")}
            if told["op"] == "cancel_action_goal":
                client.say(
                    op="action_result", values={"result": -1}, status=5, result=True, **answer
                )
            elif told["op"] == "send_action_goal":
                to = told["args"]["goal"]
                if to > 100:
                    client.say(op="action_feedback", values={"feedback": to}, **answer)
                elif to < 0:
                    client.say(
                        op="action_result", values="only upwards", result=False, status=6, **answer
                    )
                else:
                    values = {"result": 2 * to}
                    client.say(op="action_result", values=values, status=4, result=True, **answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        client.socket.close()
        thread.join()


def send_rosbridge(client: RawClient | BsonClient, action: str) -> set[str]:
    def send(number: str, to: int) -> None:
        client.say(
            op="send_action_goal", id=number, action=f"/{action}", action_type=TYPE,
            args={"goal": to}, feedback=True,
        )  # fmt: skip

    def end(number: str) -> tuple[str, Any]:
        while True:
            told = client.hear()
            if told["op"] == "action_result" and told["id"] == number:
                return _NAMES[told["status"]], told["values"]

    send("a", 101)
    told = client.hear()
    assert told["op"] == "action_feedback", told
    feedback = told["values"]["feedback"]
    send("b", 21)
    state, values = end("b")
    lines = {f"b {state} {values['result']}"}
    client.say(op="cancel_action_goal", id="a", action=f"/{action}")
    state, values = end("a")
    lines.add(f"a {feedback} {state} {values['result']}")
    send("c", -1)
    lines.add(f"c {end('c')[0]}")
    return lines
