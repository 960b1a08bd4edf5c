"""A program that is started by hand takes parameters, renames and policies as options."""

from __future__ import annotations

import pytest
from helpers import Program, Start, look_until
from hyphos._hyphos import ProcessInfo
from hyphos.observe import look

PROGRAM = """
import sys, hyphos
with hyphos.Runtime.open(sys.argv) as runtime:
    cruise, other = runtime.node("cruise"), runtime.node("other")
    speed = cruise.params().declare("speed", 0.5, range=(0, 2))
    cruise.subscribe("scan", bytes, print)
    other.subscribe("scan", bytes, print)
    print(speed.value, cruise.params()["speed"], flush=True)
    runtime.spin()
"""


def start(python: Start, domain: str, *settings: str) -> Program:
    words = [word for one in settings for word in ("--hyphos-set", one)]
    return python(PROGRAM, "--hyphos-domain", domain, *words)


def ready(domain: str) -> ProcessInfo:
    found = look_until(
        lambda one: bool(one) and one[0].state == "ready", lambda: look(domain).processes
    )
    return found[0]


def test_a_parameter_is_set_without_a_plan(python: Start, domain: str) -> None:
    program = start(python, domain, "nodes.cruise.params.speed=0.75")
    assert program.line() == "0.75 0.75"
    ready(domain)
    assert program.stop()[2] == ""


def test_a_channel_of_one_node_is_renamed_without_a_plan(python: Start, domain: str) -> None:
    program = start(
        python, domain, "nodes.cruise.remap.scan=front/scan", "channels.front/scan.depth=3"
    )
    assert program.line() == "0.5 0.5"
    ends = {end.node: end for end in ready(domain).endpoints if end.channel.endswith("scan")}
    assert ends["cruise"].channel == "front/scan"
    assert (ends["cruise"].policy.depth, ends["other"].channel) == (3, "scan")
    assert program.stop()[2] == ""


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("nodes.cruise.params.speed=7", ["speed", "7", "is not in 0.0 to 2.0"]),
        ("nodes.cruise.parms.speed=1", ["parms", "params"]),
        ("nothing", ["nothing"]),
    ],
)
def test_a_wrong_setting_ends_the_start(
    setting: str, words: list[str], python: Start, domain: str
) -> None:
    code, out, err = start(python, domain, setting).end()
    assert (code, out) == (1, "")
    for word in words:
        assert word in err.splitlines()[-1] or word in err, err


def test_names_that_do_not_exist_are_warnings(python: Start, domain: str) -> None:
    program = start(python, domain, "nodes.cruse.params.speed=1", "nodes.cruise.params.sped=1")
    assert program.line() == "0.5 0.5"
    ready(domain)
    _, _, err = program.stop()
    assert "names node 'cruse', which this process does not have. Its nodes: cruise, other" in err
    assert "nodes.cruise.params.sped" in err
    assert "did you mean 'speed'?" in err
