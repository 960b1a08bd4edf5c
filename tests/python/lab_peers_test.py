"""The other middlewares: each that is here carries every workload that it says it can."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyphos.lab.case import Case
from hyphos.lab.peers import find_peers
from hyphos.lab.results import Results
from hyphos.lab.runner import Runner, Wish

OTHERS = ("lcm", "gz", "zenoh")


@pytest.mark.parametrize("workload", ["pair", "echo", "pipeline", "fanout", "fanin", "flood"])
@pytest.mark.parametrize("middleware", OTHERS)
def test_a_middleware_that_is_here_carries_what_it_says_it_can(
    middleware: str, workload: str, tmp_path: Path
) -> None:
    peers = find_peers()
    if middleware in peers.absent:
        pytest.skip(f"{middleware} is absent: {peers.absent[middleware]}")
    case = Case(
        workload, 4096, pairs=2, publishers=2, subscribers=2, seconds=0.2, messages=100, warmup=10
    )
    able = [peer for peer in peers.choose([middleware]) if not peer.cannot(case)]
    if not able:
        pytest.skip(f"no variant of {middleware} does {workload}")
    results = Results(tmp_path)
    Runner(results).measure([Wish(case, peer, 0) for peer in able])
    assert [run.peer for run in results.runs] == [peer.name for peer in able]
    sources = {"echo": 2, "fanin": 2}.get(workload, 1)
    flows = {"fanout": 2}.get(workload, sources)
    for run in results.runs:
        assert run.result is not None, run.failure
        told = run.result
        assert told["sent"] == sources * case.count
        assert told["received"] + told["lost"] == flows * case.count
        assert told["duplicates"] == told["corrupt"] == 0
        # Small messages at a low rate: whoever may lose some has no reason to.
        assert told["lost"] == 0
