"""The search for the highest rate that a case carries."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from helpers import PATIENCE_S, Cli, Start
from hyphos.lab import knee, saturation
from hyphos.lab.case import Case
from hyphos.lab.machine import Load
from hyphos.lab.results import Results, Run
from lab_queues import served


@pytest.mark.parametrize("capacity", [0.5, 37.0, 1234.0, 250_000.0])
def test_a_saturation_point_is_found_anywhere(capacity: float) -> None:
    asked: list[float] = []

    def measure(case: Case, _attempt: int) -> Run:
        """A queue that is served at a fixed rate."""
        asked.append(case.rate_hz)
        return Run(case, "fake", 0, served(case, capacity))

    found = saturation.find(Case("pair", 4096), measure)
    assert found is not None
    assert found.high_hz <= found.low_hz * knee.RESOLUTION
    assert capacity / 1.06 <= found.rate_hz <= capacity * 1.1
    assert found.volume == pytest.approx(found.rate_hz * 4096)
    assert len(asked) <= 20


def test_a_disturbance_at_low_load_does_not_end_the_search() -> None:
    failed: list[float] = []

    def measure(case: Case, attempt: int) -> Run:
        held = case.rate_hz < 5000 and (attempt or failed or case.rate_hz < 300)
        if not held:
            failed.append(case.rate_hz)
        told = served(case, 1e6, lost=0 if held else case.count // 2)
        hiccup = not held and case.rate_hz < 5000
        return Run(case, "fake", attempt, told, "", Load(0.0, 0.2 if hiccup else 0.0))

    found = saturation.find(Case("pair"), measure)
    assert failed[0] == 400.0
    assert found is not None
    assert 4600 < found.rate_hz < 5400


def test_a_case_that_always_fails_has_no_saturation_point() -> None:
    found = saturation.find(Case("pair"), lambda case, _n: Run(case, "fake", 0, None, "broken"))
    assert found is not None
    assert found.low_hz == 0.0
    assert found.at_knee is None
    assert saturation.find(Case("pair"), lambda _case, _n: None) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
def test_a_slow_link_saturates_at_its_rate(
    hyphos_start: Start, hyphos_cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "x.yaml").write_text(
        "lab: 1\nworkload: pair\npeers: [zmq/tcp]\nsize: 4 KB\nlink: slow\nwarmup: 3\n"
        "links: {slow: {kind: tun, rate_mbit: 8}}\n"
    )
    words = ("lab", "saturate", str(tmp_path / "x.yaml"), "-q", "-o")

    def search() -> tuple[Path, float, float]:
        out = tmp_path / f"out{len(list(tmp_path.glob('out*')))}"
        program = hyphos_start(*words, str(out))
        _, shown, err = program.end(5 * PATIENCE_S)
        if "cannot" in err or "may not" in err:
            pytest.skip(err)
        assert program.popen.returncode == 0, err
        [line] = [line for line in shown.splitlines() if "zmq/tcp" in line]
        low, high = (float(word) for word in line.split()[2:4])
        return out, low, high

    # 4096 bytes are three TCP segments, with 40 to 52 bytes of headers each.
    capacity = 8e6 / 8 / (4096 + 3 * 52)

    def held(found: tuple[Path, float, float]) -> bool:
        """A stalled machine carries less than the link. The runs may show the stall."""
        out, low, high = found
        enough = math.sqrt(low * high) >= capacity * 0.8
        return enough or any(run.load.disturbed for run in Results(out).runs)

    found = search()
    assert held(found)
    out, low, high = found
    assert 0 < math.sqrt(low * high) <= capacity * 1.11
    [one] = json.loads((out / "saturation.json").read_text())
    assert (one["peer"], one["case"]["size"]) == ("zmq/tcp", 4096)
    assert (one["low_hz"], one["high_hz"]) == pytest.approx((low, high), rel=0.01)
    before = (out / "runs.jsonl").read_text()
    assert hyphos_cli(*words, str(out), "--resume")[0] == 0
    assert (out / "runs.jsonl").read_text() == before
