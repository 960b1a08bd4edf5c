"""The effect on figures of processors with a slower clock, and of a gateway on its own host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hyphos.lab import slow
from hyphos.lab.case import Case
from hyphos.lab.peers import find_peers
from hyphos.lab.stage import hosts_of
from lab_runs import rows_of, slowing

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="real-time threads need root")
# A loop runs for this much CPU time, and prints the wall-clock time that passed.
LOOP = """
import json, time
wall, own = time.perf_counter(), time.process_time()
while time.process_time() - own < 0.3: pass
print(json.dumps((time.perf_counter() - wall) / (time.process_time() - own)))
"""


@pytest.fixture
def slower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A test that slows the processors."""
    with slowing(tmp_path_factory.getbasetemp()):
        if why := slow.why_not():
            pytest.skip(why)
        yield


def stretched(share: float) -> float:
    """The ratio of wall-clock to CPU time of a loop at a share of the clock."""
    words = [*slow.words(share), sys.executable, "-c", LOOP]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


@root_only
@pytest.mark.usefixtures("slower")
@pytest.mark.parametrize("share", [0.25, 0.5])
def test_work_takes_longer_at_a_slower_clock(share: float) -> None:
    assert stretched(share) > 0.8 / share


@root_only
@pytest.mark.usefixtures("slower")
def test_a_slowed_program_keeps_its_exit_code() -> None:
    for words, code in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], -9)):
        assert subprocess.run([*slow.words(0.5), *words], check=False).returncode == code


@pytest.mark.parametrize("share", ["0", "0.05", "1", "x"])
def test_an_invalid_share_of_the_clock_is_refused(share: str) -> None:
    program = slow.words(0.5)[0]
    done = subprocess.run(
        [program, share, "--", "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "SHARE" in done.stderr


@root_only
@pytest.mark.usefixtures("slower")
def test_every_message_is_slower_at_a_slower_clock(tmp_path: Path) -> None:
    """All messages are slower, not only messages that a quota would stop."""
    text = (
        "lab: 1\nworkload: echo\npeers: [hyphos/tcp]\nsize: 64\nrate_hz: 200\nseconds: 1\n"
        "warmup: 3\ngrid: {clock: [1, 0.25]}\n"
    )
    rows = rows_of(text, ["hyphos/tcp"], tmp_path)
    whole, slowed = sorted(rows, key=lambda row: -row.case.clock)
    assert not whole.failure + slowed.failure
    # The median, because a single stall of the machine raises the mean.
    assert slowed.estimate("p50_us").value > 1.1 * whole.estimate("p50_us").value


def test_a_separate_gateway_has_a_third_host() -> None:
    assert hosts_of(Case("pair", link="cable")) == ("near", "far")
    assert hosts_of(Case("pair", link="cable", relay="own")) == ("near", "far", "relay")
    both = Case("fanout", link="cable", relay="own", hosts=2, subscribers=2)
    assert hosts_of(both) == ("near", "far1", "far2", "relay")


@root_only
@pytest.mark.parametrize("peer", ["gateway/ros_tcp", "gateway/ros_tcp_out", "gateway/rosbridge"])
def test_a_gateway_on_its_own_host_costs_a_hop(peer: str, tmp_path: Path) -> None:
    """Over a slow link the second crossing is visible, as the message is sent twice."""
    text = (
        f"lab: 1\nworkload: pair\npeers: [{peer}]\nsize: 20 KB\nrate_hz: 20\nseconds: 1\n"
        "warmup: 3\nlinks: {slow: {kind: tun, rate_mbit: 20, delay_ms: 50}}\nlink: slow\n"
        "grid: {relay: [beside, own]}\n"
    )
    beside, own = rows_of(text, [peer], tmp_path)
    assert not beside.failure + own.failure
    assert own.total("received") > 0
    # At 20 Mbit/s each crossing of 20 KB takes 8 ms, plus 50 ms of delay.
    fastest = [
        min(r.histogram("histogram_ns").values[0] for r in row.used) for row in (beside, own)
    ]
    assert fastest[0] >= 58e6
    assert fastest[1] - fastest[0] > 45e6
    assert find_peers().choose([peer])[0].relay
