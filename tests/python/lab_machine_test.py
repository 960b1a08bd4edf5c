"""What else the machine does beside a measurement."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from hyphos.lab.machine import LoadWatch, wait_until_quiet

SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def spinning(seconds: float, *, below: bool = False) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-S", "-c", SPIN.format(seconds)]
    return subprocess.Popen(["sh", "-c", '"$@"; true', "sh", *words] if below else words)


@pytest.mark.parametrize("below", [False, True])
def test_our_own_processes_that_still_run_are_not_foreign(below: bool) -> None:
    watch = LoadWatch()
    with spinning(60, below=below) as process:
        try:
            time.sleep(1.0)
            alive = watch.finish().foreign
        finally:
            subprocess.run(["pkill", "-P", str(process.pid)], check=False)
            process.kill()
    # What other programs do meanwhile is theirs: as much as was seen before, and not a core more.
    calm = LoadWatch()
    time.sleep(1.0)
    core = 1.0 / (os.cpu_count() or 1)
    assert alive < calm.finish().foreign + 0.6 * core


def test_processes_that_ended_meanwhile_are_not_foreign() -> None:
    watch = LoadWatch()
    with spinning(0.5) as process:
        process.wait()
    own = watch.finish().foreign
    calm = LoadWatch()
    time.sleep(0.5)
    assert own < calm.finish().foreign + 0.6 / (os.cpu_count() or 1)


def test_one_does_not_wait_for_ever_for_quiet() -> None:
    began = time.monotonic()
    wait_until_quiet(0.2)
    assert time.monotonic() - began < 5.0
