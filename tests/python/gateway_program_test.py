"""What the programs of all gateways have in common: their end, and their rules."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers import Start
from rosbridge_probe import connected, needs_gateway

pytestmark = needs_gateway


@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_as_soon_as_it_has_said_where_it_is_ends_it_well(
    hyphos_start: Start, domain: str, signals: int
) -> None:
    for _ in range(5):
        gateway = hyphos_start("gateway", "rosbridge", "--port", "0", "-d", domain)
        gateway.line()
        for _ in range(signals - 1):  # a terminal and `hyphos run` send one each
            gateway.popen.send_signal(2)
        code, _, errors = gateway.stop()
        assert (code, errors) == (0, "")


def test_services_that_are_taken_out_may_be_neither_called_nor_served(
    hyphos_start: Start, domain: str
) -> None:
    words = ("--no-call", "secret/*", "--no-serve", "robot/*", "-d", domain)
    gateway = hyphos_start("gateway", "rosbridge", "--port", "0", *words)
    with connected(gateway.line()) as client:

        def told(**operation: object) -> str:
            client.say(**operation)
            return json.dumps(client.hear())

        kind = {"type": "std_srvs/SetBool"}
        refused = "the rules do not let"
        assert refused in told(op="call_service", service="/secret/plan", **kind)
        assert refused in told(op="advertise_service", service="/robot/stop", **kind)
        assert refused not in told(op="call_service", service="/open/door", **kind)


def test_what_the_native_program_takes_the_command_takes_and_hands_on(
    hyphos_start: Start, domain: str
) -> None:
    source = Path(__file__).parents[2] / "gateway" / "core" / "arguments.cpp"
    native = set(re.findall(r'\{"(--[a-z-]+)"', source.read_text()))
    code, told, _ = hyphos_start("gateway", "--help").end()
    assert code == 0
    assert native - {"--types"} - set(re.findall(r"--[a-z-]+", told)) == set()

    bounds = ("--queue", "3", "--queue-bytes", "100000", "--max-message", "1000")
    gateway = hyphos_start("gateway", "rosbridge", "--port", "0", *bounds, "-d", domain)
    assert gateway.line().startswith("ws:")
    assert gateway.stop()[0] == 0
