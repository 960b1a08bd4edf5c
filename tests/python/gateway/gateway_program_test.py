"""The programs of all gateways share their shutdown and their rules."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import Start, wait_until
from rosbridge_probe import RawClient, connected, needs_gateway
from websockets.exceptions import InvalidStatus

pytestmark = needs_gateway


@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_right_after_the_address_ends_it_cleanly(
    hyphos_start: Start, domain: str, signals: int
) -> None:
    for _ in range(5):
        gateway = hyphos_start("gateway", "rosbridge", "--port", "0", "-d", domain)
        gateway.line()
        for _ in range(signals - 1):  # a terminal and `hyphos run` send one signal each
            gateway.popen.send_signal(2)
        code, _, errors = gateway.stop()
        assert (code, errors) == (0, "")


def test_excluded_services_can_be_neither_called_nor_served(
    hyphos_start: Start, domain: str
) -> None:
    words = ("--no-call", "secret/*", "--no-serve", "robot/*", "-d", domain)
    gateway = hyphos_start("gateway", "rosbridge", "--port", "0", *words)
    with connected(gateway.line()) as client:

        def told(**operation: object) -> str:
            client.say(**operation)
            return json.dumps(client.hear())

        kind = {"type": "std_srvs/SetBool"}
        refused = "the rules of the gateway do not allow"
        assert refused in told(op="call_service", service="/secret/plan", **kind)
        assert refused in told(op="advertise_service", service="/robot/stop", **kind)
        unknown = {"type": "no_such_srvs/Door"}  # refused at once, because of its type
        assert refused not in told(op="call_service", service="/open/door", **unknown)


def test_the_token_of_a_client_selects_its_rules(
    node: hyphos.Node, hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    (tmp_path / "drivers").write_text("drive\n")
    (tmp_path / "viewers").write_text("look\nsee\n")
    rules = tmp_path / "rules"
    rules.write_text("* tokens=drivers\n* tokens=viewers publish= call= serve= subscribe=map\n")
    speed = node.params().declare("speed", 0.5)
    gateway = hyphos_start(
        "gateway", "rosbridge", "--port", "0", "--rules", str(rules), "-d", domain
    )
    address = gateway.line().strip()
    text = {"type": "std_msgs/String"}

    def told(client: RawClient, **operation: object) -> str:
        client.say(**operation)
        return json.dumps(client.hear())

    def asked(client: RawClient, service: str, **args: object) -> Any:
        client.say(op="call_service", service=f"/rosapi/{service}", args=args)
        return client.hear()["values"]

    with connected(f"{address}/?token=see") as viewer, connected(address) as driver:
        assert "send a token first" in told(driver, op="advertise", topic="/cmd_vel", **text)
        driver.say(op="auth", token="drive")
        driver.say(op="advertise", topic="/cmd_vel", **text)
        wait_until(lambda: "/cmd_vel" in asked(driver, "topics")["topics"], "the topic")
        assert asked(viewer, "topics")["topics"] == []
        refused = "the rules of the gateway do not allow"
        assert refused in told(viewer, op="advertise", topic="/cmd_vel", **text)
        assert refused in told(viewer, op="subscribe", topic="/cmd_vel", **text)
        assert refused in told(viewer, op="advertise_action", action="/dock", type="a_msgs/Dock")
        names = ["/tester/speed"]
        wait_until(lambda: asked(driver, "get_param_names")["names"] == names, "the parameter")
        assert asked(viewer, "get_param_names")["names"] == []
        asked(viewer, "set_param", name="/tester/speed", value="1")
        assert asked(driver, "set_param", name="/tester/speed", value="2") == {}
        assert speed.value == 2
    with pytest.raises(InvalidStatus, match="401"), connected(f"{address}/?token=guess"):
        pass


def test_rules_without_their_tokens_are_an_error_with_a_line(
    hyphos_start: Start, domain: str, tmp_path: Path
) -> None:
    rules = tmp_path / "rules"
    rules.write_text("# who may drive\n* tokens=drivers\n")
    words = ("gateway", "rosbridge", "--port", "0", "--rules", str(rules), "-d", domain)
    code, _, errors = hyphos_start(*words).end()
    assert code != 0
    assert f"{rules}:2" in errors
    assert "tokens=drivers: cannot read the token file" in errors
    (tmp_path / "drivers").write_text("drive\n")
    code, _, errors = hyphos_start("gateway", "ros_tcp", *words[2:]).end()
    assert code != 0
    assert "supports no tokens" in errors


def test_the_command_forwards_all_options_of_the_program(hyphos_start: Start, domain: str) -> None:
    source = Path(__file__).parents[3] / "gateway" / "arguments.cpp"
    native = set(re.findall(r'\{"(--[a-z-]+)"', source.read_text()))
    code, told, _ = hyphos_start("gateway", "--help").end()
    assert code == 0
    assert native - {"--types"} - set(re.findall(r"--[a-z-]+", told)) == set()

    bounds = ("--queue", "3", "--queue-bytes", "100000", "--max-message", "1000")
    gateway = hyphos_start("gateway", "rosbridge", "--port", "0", *bounds, "-d", domain)
    assert gateway.line().startswith("ws:")
    assert gateway.stop()[0] == 0
