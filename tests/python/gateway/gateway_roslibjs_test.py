"""The rosbridge gateway with roslibjs, in a browser and in Node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Page, browser, chromium
from helpers import Start
from npm import installed, needs_npm
from rosbridge_probe import Gateway, Serve, make_serve, needs_probe
from roslibjs import CLASSIC, MODERN

pytestmark = [needs_probe, needs_npm]

PAGE = """<!doctype html><meta charset="utf-8"><title>roslibjs</title>
<script src="%s"></script>
<script>
const ros = new ROSLIB.Ros({url: "%s"});
const statuses = [];
ros.on("status", (status) => statuses.push(status));
const connected = new Promise((resolve) => ros.on("connection", () => resolve(true)));
const topic = (options) =>
  new ROSLIB.Topic({ros, name: "/chatter", messageType: "std_msgs/String", ...options});
const next = (of) => new Promise((resolve) => of.subscribe((message) => {
  of.unsubscribe();
  resolve(message);
}));
const service = () =>
  new ROSLIB.Service({ros, name: "/add", serviceType: "rospy_tutorials/AddTwoInts"});
const told = (call) => new Promise((resolve, reject) => call(resolve, reject));
</script>
"""


PROGRAM = """
import {Ros, Service, Topic} from "roslib";
const ros = new Ros({url: process.argv[2]});
const told = (call) => new Promise((resolve, reject) => call(resolve, reject));
await told((ok) => ros.on("connection", ok));
const found = {};
const topic = (options) =>
  new Topic({ros, name: "/chatter", messageType: "std_msgs/String", ...options});
const hear = async (options) => {
  const one = topic(options);
  const message = await told((ok) => one.subscribe(ok));
  one.unsubscribe();
  return message;
};
const talker = topic({latch: true});
talker.advertise();
talker.publish({data: "grün 🤖 ".repeat(500)});
found.none = (await hear({})).data;
found.png = (await hear({compression: "png"})).data;
const raw = await hear({compression: "cbor-raw"});
found.raw = JSON.parse(new TextDecoder().decode(raw.bytes)).data;
const whole = told((ok) => ros.on("/chatter", ok));
ros.callOnConnection({op: "subscribe", topic: "/chatter", fragment_size: 100});
found.fragments = (await whole).msg.data;

const service = () => new Service({ros, name: "/add", serviceType: "rospy_tutorials/AddTwoInts"});
const server = service();
server.advertise((request, response) => {
  response.sum = request.a + request.b;
  return request.a >= 0;
});
while (!(await told((ok, fail) => ros.getServices(ok, fail))).includes("/add"));
const call = (request) => told((ok) => service().callService(request, ok, ok));
found.sum = (await call({a: 40, b: 2})).sum;
found.failure = await call({a: -1, b: 2});
console.log(JSON.stringify(found));
ros.close();
"""


@pytest.fixture(scope="module")
def roslib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if chromium() is None:
        pytest.skip("no Chromium")
    return installed(tmp_path_factory.mktemp("npm"), CLASSIC) / "roslib" / "build" / "roslib.min.js"


@pytest.fixture
def serve(start: Start) -> Serve:
    return make_serve(start)


@pytest.fixture
def gateway(serve: Serve) -> Gateway:
    return serve()


@pytest.fixture
def page(roslib: Path, gateway: Gateway, tmp_path: Path) -> Iterator[Page]:
    file = tmp_path / "page.html"
    file.write_text(PAGE % (roslib.as_uri(), gateway.address))
    with browser(tmp_path / "profile") as opened:
        opened.open(file)
        assert opened.ask("connected") is True
        yield opened


def test_messages_arrive_in_every_compression(page: Page, gateway: Gateway) -> None:
    text = "grün 🤖 " * 500
    page.ask("window.talker = topic({latch: true}); talker.advertise()")
    page.ask(f"talker.publish({{data: {json.dumps(text)}}})")
    gateway.until_open(1)
    for options in ("{}", '{compression: "png"}', "{queue_length: 1, throttle_rate: 10}"):
        assert page.ask(f"next(topic({options}))") == {"data": text}, options
    raw: Any = page.ask(
        """next(topic({compression: "cbor-raw"})).then((message) =>
             ({secs: message.secs, text: new TextDecoder().decode(message.bytes)}))"""
    )
    assert json.loads(raw["text"]) == {"data": text}
    assert raw["secs"] > 1_700_000_000
    gateway.until_open(1)


def test_services_work_in_both_directions(page: Page, gateway: Gateway) -> None:
    page.ask(
        """window.server = service();
        server.advertise((request, response) => {
          response.sum = request.a + request.b;
          return request.a >= 0;
        })"""
    )
    gateway.until_open(1)
    call = """(() => {
      return told((ok, fail) => service().callService(new ROSLIB.ServiceRequest(%s),
        (answer) => ok(answer.sum), (error) => ok(error)));
    })()"""
    assert page.ask(call % "{a: 40, b: 2}") == 42
    assert "the service failed" in page.ask(call % "{a: -1, b: 2}")
    page.ask("server.unadvertise()")
    gateway.until_open(0)
    assert "has no server" in page.ask(call % "{a: 1, b: 2}")


def test_tools_list_topics_services_and_types(page: Page, gateway: Gateway) -> None:
    page.ask("topic({}).advertise()")
    gateway.until_open(1)
    topics = page.ask("told((ok, fail) => ros.getTopics(ok, fail))")
    assert topics == {"topics": ["/chatter"], "types": ["std_msgs/String"]}
    assert (
        page.ask('told((ok, fail) => ros.getTopicType("/chatter", ok, fail))') == "std_msgs/String"
    )
    assert len(page.ask("told((ok, fail) => ros.getNodes(ok, fail))")) == 1
    details = page.ask(
        """told((ok, fail) => ros.getMessageDetails("test_msgs/Cloud", (found) =>
             ok(ros.decodeTypeDefs(found)), fail))"""
    )
    assert details["header"] == {
        "seq": "uint32",
        "stamp": "time",
        "frame_id": "string",
    }
    assert details["ranges"] == ["float32"]
    assert page.ask("told((ok, fail) => ros.getParams(ok, fail))") == []


def test_statuses_report_errors(page: Page) -> None:
    status = page.ask(
        """told((ok) => {
             ros.on("status:d", ok);
             ros.callOnConnection({op: "dance", id: "d"});
           })"""
    )
    assert status["level"] == "error"
    assert "unknown operation" in status["msg"]


def test_the_current_roslibjs_works_in_node(gateway: Gateway, start: Start, tmp_path: Path) -> None:
    installed(tmp_path, MODERN)
    file = tmp_path / "program.mjs"
    file.write_text(PROGRAM)
    found = json.loads(start("node", str(file), gateway.address).line())
    text = "grün 🤖 " * 500
    assert found["none"] == found["png"] == found["raw"] == found["fragments"] == text
    assert found["sum"] == 42
    assert "the service failed" in found["failure"]
    gateway.until_open(0)
