"""Two types on one channel: the log of both processes names the nodes, the types and a remedy."""

from __future__ import annotations

import os

import hyphos
import pytest
from helpers import Start, wait_until
from hyphos.msgs import Int64, String
from hyphos.observe import look

OTHER = """
import os, sys, hyphos
from hyphos.msgs import Int64, String
node = hyphos.Node.open("viewer", domain=sys.argv[1], process="panel")
node.subscribe("scan", String, lambda _: None)
print(os.getpid(), flush=True)
node.spin()
"""


def test_a_mismatch_names_the_nodes_of_both_processes(
    python: Start, domain: str, capfd: pytest.CaptureFixture[str]
) -> None:
    program = python(OTHER, domain)
    pid = int(program.line())
    with hyphos.Node.open("laser", domain=domain, process="base") as node:
        publisher = node.publisher("scan", Int64)
        shown = ""

        def reported() -> bool:
            nonlocal shown
            shown += capfd.readouterr().err
            return "[type_mismatch]" in shown

        wait_until(reported, "the line of the publisher")
        here = f"node 'laser' of process 'base' (pid {os.getpid()})"
        there = f"node 'viewer' of process 'panel' (pid {pid})"
        int64, string = "'hyphos.msgs.Int64' (protobuf)", "'hyphos.msgs.String' (protobuf)"
        rest = "No message passes. Use one type in both, or two channels"
        assert (
            f"channel 'scan': {here} publishes {int64}, {there} expects {string}. {rest}" in shown
        )
        assert publisher.listeners == 0
        wait_until(lambda: "[type_mismatch]" in program.errors(), "the line of the other process")
        states = {"base": "starting", "panel": "ready"}  # only `panel` spins
        wait_until(lambda: {one.name: one.state for one in look(domain).processes} == states)
        code, _, err = program.stop()
    assert code == 0
    assert f"channel 'scan': {there} expects {string}, {here} publishes {int64}. {rest}" in err


def test_two_definitions_of_one_name_are_explained(
    domain: str, capfd: pytest.CaptureFixture[str]
) -> None:
    small = hyphos.Struct("robot.Wheel", [("speed", "f4")])
    large = hyphos.Struct("robot.Wheel", [("speed", "f8")])
    with (
        hyphos.Node.open("one", domain=domain, process="a") as one,
        hyphos.Node.open("two", domain=domain, process="b") as two,
    ):
        publisher = one.publisher("wheel", small)
        two.subscribe("wheel", large, lambda _: None)
        shown = ""

        def reported() -> bool:
            nonlocal shown
            shown += capfd.readouterr().err
            return shown.count("[type_mismatch]") == 2  # both processes

        wait_until(reported, "the lines")
        assert publisher.listeners == 0
    assert "The two definitions of the type differ: build both programs with one" in shown


def test_a_mismatch_in_one_process_names_the_node(domain: str) -> None:
    with hyphos.Runtime.open(domain=domain) as runtime:
        one, two = runtime.node("one"), runtime.node("two")
        held = one.publisher("scan", Int64)
        with pytest.raises(hyphos.Error, match="in this process, but node 'two' uses") as caught:
            two.subscribe("scan", String, lambda _: None)
        held.close()
    assert caught.value.code == "type_mismatch"
