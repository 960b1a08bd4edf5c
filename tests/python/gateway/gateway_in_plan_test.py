"""`gateway:` in a plan: a gateway as a node, in the process of the nodes that it serves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from helpers import Cli, Program, Start, wait_until
from rosbridge_probe import connected, needs_gateway

pytestmark = needs_gateway

TALKER = """
from hyphos.msgs import String

class Talker:
    def __init__(self, node):
        out = node.publisher("told", String)
        node.subscribe("asked", String, lambda text: out.publish(String(data=text.data + "!")))
"""

PLAN = """hyphos: 1
domain: {domain}
nodes:
  talker: {{python: talker.py:Talker, process: {talker}}}
  browser: {{gateway: rosbridge, args: [--port, "0", --no-publish, secret], process: main}}
processes:
  main: {{}}
{more}"""


def plan(folder: Path, domain: str, talker: str = "main") -> Path:
    (folder / "talker.py").write_text(TALKER)
    file = folder / "robot.yaml"
    more = "" if talker == "main" else f"  {talker}: {{}}\n"
    file.write_text(PLAN.format(domain=domain, talker=talker, more=more))
    return file


def address_in(program: Program) -> str:
    while True:
        line = program.line()
        if "listening on " in line:
            return line.split("listening on ")[1].strip()


@pytest.mark.parametrize("talker", ["main", "other"])
def test_clients_reach_nodes_in_any_process(
    start: Start, domain: str, tmp_path: Path, talker: str
) -> None:
    """In one process with the gateway, where the host is Python's, and in a separate process."""
    file = plan(tmp_path, domain, talker)
    words = [sys.executable, "-m", "hyphos", "run", str(file), "--logs", str(tmp_path / "logs")]
    run = start(*words)
    with connected(address_in(run)) as client:
        kind = {"type": "std_msgs/String"}
        client.say(op="subscribe", topic="/told", **kind)
        heard: list[str] = []

        def answered() -> bool:
            """True once the node has replied. A new publisher may not have found its subscribers
            yet.
            """
            client.say(op="publish", topic="/asked", msg={"data": "so"}, **kind)
            try:
                heard.append(json.loads(client.socket.recv(timeout=0.2))["msg"]["data"])
            except TimeoutError:
                return False
            return True

        wait_until(answered, "an answer of the node")
        assert heard == ["so!"]
        while True:  # skip further replies to the repeated message
            client.say(op="publish", topic="/secret", msg={"data": "x"}, id="s", **kind)
            told = client.hear()
            if told["op"] == "status":
                break
        assert "the rules of the gateway do not allow" in json.dumps(told)
    code, _, _ = run.stop()
    assert code == 0


def test_validation_does_not_start_the_gateway(
    hyphos_cli: Cli, tmp_path: Path, domain: str
) -> None:
    """The gateway does not listen during the validation, so its endpoints are unknown."""
    file = plan(tmp_path, domain)
    code, out, err = hyphos_cli("validate", str(file))
    assert code == 0, out + err
    code, out, _ = hyphos_cli("plan", str(file), "--json")
    assert code == 0
    [browser] = [node for node in json.loads(out)["nodes"] if node["name"] == "browser"]
    assert (browser["kind"], browser["program"]) == ("gateway", "rosbridge")
    assert browser["args"] == ["--port", "0", "--no-publish", "secret"]


def test_invalid_gateway_settings_end_the_start(start: Start, domain: str, tmp_path: Path) -> None:
    file = plan(tmp_path, domain)
    words = [sys.executable, "-m", "hyphos", "run", str(file), "--logs", str(tmp_path / "logs")]
    for setting, reason in (
        ("nodes.browser.gateway=ros3", "'ros3' is no gateway protocol. Choose one of: ros1"),
        ("nodes.browser.args=[--blue]", "'--blue' is an unknown option"),
    ):
        code, out, err = start(*words, "--set", setting).end()
        assert code != 0
        assert reason in out + err
