"""Domains of the laboratory in shared memory, and the removal of those of dead programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import hyphos
import pytest
from helpers import Start
from hyphos.lab.domain import domains, sweep_domains

HOLD = """
import sys, hyphos
with hyphos.Node.open("holder", domain=sys.argv[1]) as node:
    kept = node.publisher("kept", bytes)
    print("up", flush=True)
    sys.stdin.read()
"""
SWEEP = "from hyphos.lab.domain import sweep_domains; sweep_domains()"
ELSEWHERE = ("unshare", "--pid", "--fork", "--mount-proc")


def own_folder(number: int) -> Path:
    """The folder of a domain that no run of this process has."""
    return next(domains()).folder.with_name(f"lab{os.getpid() % 20_000 * 100_000 + number}")


def test_a_sweep_removes_the_domain_of_a_killed_program(start: Start) -> None:
    folder = own_folder(90_001)
    program = start(sys.executable, "-c", HOLD, folder.name, keys=True)
    assert program.line() == "up"
    sweep_domains()
    assert list(folder.iterdir())
    program.signal(signal.SIGKILL)
    program.end()
    assert list(folder.iterdir())
    sweep_domains()
    assert not folder.exists()


def test_a_sweep_leaves_a_domain_of_which_it_sees_no_process() -> None:
    """A sweep in another container with the same /dev/shm."""
    if subprocess.run([*ELSEWHERE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("PID namespaces need root")
    folder = own_folder(90_002)
    with hyphos.Node.open("holder", domain=folder.name) as node:
        raw = node.publisher("raw", bytes)
        before = sorted(folder.iterdir())
        subprocess.run([*ELSEWHERE, sys.executable, "-c", SWEEP], check=True)
        assert sorted(folder.iterdir()) == before
        raw.publish(b"still here")


def test_a_sweep_leaves_other_domains(domain: str) -> None:
    with hyphos.Node.open("holder", domain=domain):
        other = own_folder(90_003).with_name(f"labour{os.getpid()}")
        other.mkdir(mode=0o700)
        try:
            sweep_domains()
            assert other.exists()
        finally:
            other.rmdir()
