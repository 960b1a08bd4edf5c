"""`hyphos gateway rosbridge` with roslibjs in a browser: messages and actions of a robot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from browser import Page
from count_action import Count, counting, types_of, write_package
from helpers import PATIENCE_S, Inbox, Start
from hyphos import Attached
from hyphos.msgs import Image, LaserScan
from npm import installed, needs_npm
from rosbridge_probe import needs_gateway
from roslibjs import CLASSIC, MODERN, served, write_page

pytestmark = [needs_gateway, needs_npm]

SCRIPT = """
const told = (call) => new Promise((resolve, reject) => call(resolve, reject));
const opened = () => told((ok) => {
  const ros = new ROSLIB.Ros({url: location.search.slice(1)});
  ros.on("connection", () => ok(ros));
});
const hear = (options) => told((ok) => {
  const topic = new ROSLIB.Topic({ros, ...options});
  topic.subscribe((message) => {
    topic.unsubscribe();
    ok(message);
  });
});
const count = () => new ROSLIB.Action({ros, name: "/count", actionType: "count_msgs/Count"});
const send = (goal) => told((ok) => {
  const feedback = [];
  count().sendGoal(goal, (result) => ok({feedback, result}), (one) => feedback.push(one),
                   (failure) => ok({feedback, failure}));
});
const cancel = () => told((ok) => {
  const action = count();
  const id = action.sendGoal({to: 101}, ok, () => action.cancelGoal(id), ok);
});
const serve = () => {
  const action = count();
  action.advertise((goal, id) => {
    action.sendFeedback(id, {at: goal.to});
    if (goal.to <= 100) action.setSucceeded(id, {sum: 2 * goal.to});
  }, (id) => action.setCanceled(id, {sum: 1}));
};
const dock = async () => {
  const name = {serverName: "/dock", actionName: "count_msgs/CountAction"};
  const server = new ROSLIB.SimpleActionServer({ros: await opened(), ...name});
  server.on("goal", (goal) => {
    server.sendFeedback({at: 1});
    server.setSucceeded({sum: goal.to});
  });
  const actionClient = new ROSLIB.ActionClient({ros, ...name});
  await told((ok) => actionClient.statusListener.subscribe(ok));
  const goal = new ROSLIB.Goal({actionClient, goalMessage: {to: 5}});
  const ends = ["feedback", "result"].map((what) => told((ok) => goal.on(what, ok)));
  goal.send();
  return Promise.all(ends);
};
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("share"))


@pytest.fixture(scope="module")
def count(package: Path) -> Count:
    return types_of(package)


@pytest.fixture(scope="module", params=[CLASSIC, MODERN])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    installed(folder, request.param)
    write_page(folder, request.param, SCRIPT)
    with served(folder) as address:
        yield address


@pytest.fixture
def page(site: str, tab: Page, hyphos_start: Start, domain: str, package: Path) -> Page:
    """A page whose `ros` is connected to the gateway of this domain."""
    words = ("--port", "0", "-d", domain, "--ros", str(package))
    gateway = hyphos_start("gateway", "rosbridge", *words).line().strip()
    tab.open(f"{site}?{gateway}")
    assert tab.ask("opened().then((ros) => (window.ros = ros, true))") is True
    return tab


modern = pytest.mark.parametrize("site", [MODERN], indirect=True)


def test_cbor_has_typed_arrays(node: hyphos.Node, page: Page) -> None:
    scan = node.publisher("scan", LaserScan)
    camera = node.publisher("camera", Attached[Image])

    def step() -> None:
        told = LaserScan(angle_min=-1, ranges=[1.5, math.nan, 2.5])
        told.header.frame_id, told.header.stamp_ns = "laser", 5_000_000_007
        scan.publish(told)
        camera.publish(Image(width=300, height=1), np.arange(300, dtype=np.uint8))

    node.every(step, rate_hz=50)
    found: Any = page.ask(
        """hear({name: "/scan", messageType: "sensor_msgs/LaserScan", compression: "cbor"})
           .then(({header, angle_min, ranges}) => ({header, angle_min,
             kind: ranges.constructor.name, ranges: Array.from(ranges, String)}))"""
    )
    assert found == {
        "header": {"seq": 0, "stamp": {"secs": 5, "nsecs": 7}, "frame_id": "laser"},
        "angle_min": -1,
        "kind": "Float32Array",
        "ranges": ["1.5", "NaN", "2.5"],
    }
    found = page.ask(
        """hear({name: "/camera", messageType: "sensor_msgs/Image", compression: "cbor"})
           .then(({width, data}) => ({width, kind: data.constructor.name, data: [...data]}))"""
    )
    assert (found["width"], found["kind"]) == (300, "Uint8Array")
    assert found["data"] == [number % 256 for number in range(300)]


@modern
def test_a_page_sends_goals_to_the_robot(node: hyphos.Node, page: Page, count: Count) -> None:
    node.action("count", *count, counting(count))
    assert page.ask("send({to: 3})") == {
        "feedback": [{"at": 1}, {"at": 2}, {"at": 3}],
        "result": {"sum": 6},
    }
    assert "only upwards" in page.ask("send({to: -1})")["failure"]
    assert '{"sum":-1}' in page.ask("cancel()")
    assert page.ask("told((ok, fail) => ros.getActionServers(ok, fail))") == ["/count"]


@modern
def test_the_robot_sends_goals_to_a_page(node: hyphos.Node, page: Page, count: Count) -> None:
    page.ask("serve()")
    ask = node.action_client("count", *count)
    feedback = Inbox()
    result = ask.send(count.goal(to=4), feedback).result(timeout_ms=PATIENCE_S * 1000)
    assert (result.state, result.value.sum) == ("succeeded", 8)
    assert feedback.wait(1)[0].at == 4
    goal = ask.send(count.goal(to=101), feedback)
    feedback.wait(2)
    goal.cancel()
    result = goal.result(timeout_ms=PATIENCE_S * 1000)
    assert (result.state, result.value.sum) == ("canceled", 1)


def test_pages_use_ros_1_actions_of_each_other(page: Page) -> None:
    assert page.ask("dock()") == [{"at": 1}, {"sum": 5}]
    assert page.ask("told((ok, fail) => ros.getActionServers(ok, fail))") == ["/dock"]
