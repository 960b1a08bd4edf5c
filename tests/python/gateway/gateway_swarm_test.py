"""A gateway with its default limits carries a swarm, and refusals name the limit on both sides."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import PATIENCE_S, Program, Start
from rosbridge_probe import PROBE, connected, needs_gateway

SWARM = PROBE.parents[1] / "swarm_client"
pytestmark = [
    needs_gateway,
    pytest.mark.skipif(not SWARM.exists(), reason="the gateways are not built"),
]
CLIENTS = 200


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "swarm_msgs"
    for folder, name, text in (
        ("srv", "Echo.srv", "int64 a\n---\nint64 b\n"),
        ("action", "Count.action", "int64 to\n---\nint64 sum\n---\nint64 at\n"),
    ):
        (root / folder).mkdir(parents=True)
        (root / folder / name).write_text(text)
    return root


def serve(start: Start, domain: str, package: Path, *words: str) -> tuple[Program, int]:
    options = ("--port", "0", "-d", domain, "--ros", str(package), *words)
    program = start("gateway", "rosbridge", *options)
    return program, int(program.line().strip().rpartition(":")[2])


def swarm(port: int, clients: int, seconds: float) -> dict[str, Any]:
    words = [str(SWARM), str(port), str(clients), str(seconds), "10"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_defaults_carry_a_swarm(hyphos_start: Start, domain: str, package: Path) -> None:
    """200 clients at 10 Hz: each with 10 topics, 5 services and an action."""
    _, port = serve(hyphos_start, domain, package)
    found = swarm(port, CLIENTS, 1.0)
    assert found["first_errors"] == []
    assert found["subscriptions"] == 5 * CLIENTS
    assert found["served"] == found["subscriptions"], found
    assert found["replies"] == found["calls"] == 10 * CLIENTS
    assert found["results"] == found["goals"] == CLIENTS


@pytest.mark.parametrize(
    ("option", "number", "what"),
    [
        ("--max-topics", "60", "of 60 topics"),
        ("--max-topics-per-client", "7", "already has 7 topics"),
    ],
)
def test_a_refusal_names_the_limit_on_both_sides(
    hyphos_start: Start, domain: str, package: Path, option: str, number: str, what: str
) -> None:
    program, port = serve(hyphos_start, domain, package, option, number)
    found = swarm(port, 5, 0.5)
    assert found["errors"] > 0
    text = json.dumps(found["first_errors"])
    assert what in text, text
    assert f"larger {option}" in text, text
    _, _, log = program.stop()
    assert f"larger {option}" in log


def test_services_that_are_called_at_once_have_a_limit(
    hyphos_start: Start, domain: str, package: Path
) -> None:
    program, port = serve(hyphos_start, domain, package, "--max-services", "8")
    address = f"ws://127.0.0.1:{port}"
    with connected(address) as server, connected(address) as client:
        for number in range(9):
            server.say(op="advertise_service", service=f"/slow{number}", type="swarm_msgs/Echo")
        server.say(op="call_service", id="served", service="/rosapi/get_time")
        assert server.hear()["id"] == "served"
        for number in range(9):
            client.say(op="call_service", id=str(number), service=f"/slow{number}", args={"a": 1})
        heard = client.hear()  # the server replies to none
        assert (heard["id"], heard["result"]) == ("8", False)
        assert "8 services and actions are already called" in heard["values"]
        assert "larger --max-services" in heard["values"]
    _, _, log = program.stop()
    assert "larger --max-services" in log


def test_a_client_beyond_the_limit_is_refused_by_name(
    hyphos_start: Start, domain: str, package: Path
) -> None:
    program, port = serve(hyphos_start, domain, package, "--max-clients", "2")
    address = f"ws://127.0.0.1:{port}"
    with connected(address), connected(address):
        done = subprocess.run(
            [str(SWARM), str(port), "1", "0.1", "10"],
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 1
    assert "already has 2 clients, the maximum" in done.stderr
    assert "larger --max-clients" in done.stderr
    _, _, log = program.stop()
    assert "larger --max-clients" in log
