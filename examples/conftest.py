"""Fixtures that the tests of the numbered examples share."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent
BUILT = EXAMPLES.parent / "build/release/examples"

Listen = Callable[..., list[str]]


def _command(program: str, domain: str) -> list[str]:
    arguments = ["--hyphos-domain", domain]
    if program.endswith(".py"):
        return [sys.executable, str(EXAMPLES / program), *arguments]
    return [str(BUILT / program), *arguments]


@pytest.fixture
def listen() -> Listen:
    """Starts example programs and returns the first lines of the first one."""

    def run(listener: str, *others: str, lines: int = 1) -> list[str]:
        domain = f"example-{os.getpid()}"
        with ExitStack() as stack:
            first, *rest = [
                stack.enter_context(
                    subprocess.Popen(
                        _command(program, domain),
                        stdout=subprocess.PIPE if program is listener else None,
                        text=True,
                    )
                )
                for program in (listener, *others)
            ]
            try:
                assert first.stdout is not None
                heard = [first.stdout.readline().rstrip("\n") for _ in range(lines)]
            finally:
                for child in (first, *rest):
                    child.terminate()
        # 0, or -SIGTERM if the signal came before the program installed its handler.
        assert {child.returncode for child in (first, *rest)} <= {0, -signal.SIGTERM}
        return heard

    return run
