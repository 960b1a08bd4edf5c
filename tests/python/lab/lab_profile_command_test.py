"""hyphos lab profile of a running graph, and its overhead."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli, Start
from hyphos.lab.profile import overhead
from hyphos.lab.profile.overhead import TURNS, Block, Quad, ratio_of
from profiles import start_pipeline


def test_the_command_prints_and_writes_everything(
    start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    start_pipeline(start, domain, 0.01)
    files = {kind: tmp_path / f"out.{kind}" for kind in ("html", "svg", "mcap", "json")}
    code, out, err = hyphos_cli(
        "lab", "profile", "-d", domain, "--for", "5", "--path", "image->edges",
        "--html", str(files["html"]), "--svg", str(files["svg"]), "--mcap", str(files["mcap"]),
        "--perfetto", str(files["json"]),
    )  # fmt: skip
    assert code == 0, err
    assert "critical: camera ─image→ filter ─edges→ sink" in out
    assert re.search(r"slowest messages spend \d+% \(.*\) in \w+ ", out)
    assert "p95:" in out
    cost = re.search(
        r"the profiler itself: [\d.]+ s of CPU, [\d.]+% of a core while it read ([\d,]+) "
        r"messages/s, 0 of ([\d,]+) events missed",
        out,
    )
    assert cost is not None
    heard = re.search(r"([\d,]+) publishes and ([\d,]+) callbacks in ([\d.]+) s", out)
    assert heard is not None
    assert int(cost[2]) == int(heard[1]) + int(heard[2])
    assert int(cost[1]) == pytest.approx(int(heard[1]) / float(heard[3]), abs=1)
    page = files["html"].read_text()
    assert page.count("<svg") == 3
    assert not re.search(r"""\b(src|href)=["']http""", page)  # the page needs no network
    assert "camera ─image→ filter ─edges→ sink: its slowest messages spend" in page
    assert "The profiler itself: " in page
    assert files["svg"].read_text().startswith("<svg")
    assert (tmp_path / "out-flow.svg").exists()
    assert json.loads(files["json"].read_text())["traceEvents"]


def test_json_figures_include_the_sum_of_the_layers(
    start: Start, hyphos_cli: Cli, domain: str
) -> None:
    start_pipeline(start, domain, 0.0)
    code, out, err = hyphos_cli("lab", "profile", "-d", domain, "--for", "5", "--json")
    assert code == 0, err
    told = json.loads(out)
    cost = told["cost"]
    assert 0 < cost["cpu_s"] < told["seconds"]
    assert cost["cores"] == pytest.approx(cost["cpu_s"] / told["seconds"], rel=0.05)
    assert cost["events"] == told["publishes"] + told["receptions"]
    assert cost["missed"] == 0
    [path] = told["paths"]
    summed = sum(sum(hop["mean_ns"].values()) for hop in path["hops"])
    assert summed == pytest.approx(path["end_to_end"]["mean_ns"], rel=0.01)
    for channel in told["channels"]:
        layers = {n: s["mean_ns"] for n, s in channel["layers"].items() if n != "callback"}
        assert sum(layers.values()) == pytest.approx(channel["latency"]["mean_ns"], rel=0.01)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--experiment", "latency", "-p", "zmq/ipc"), "has no flight recorder"),
        (("--experiment", "paper_001_throughput"), "a flood has no rate"),
        (("--experiment", "mixed_graph"), "start it with `hyphos run`"),
        (("--experiment", "latency", "--overhead"), "either --experiment or --overhead"),
        (("--experiment", "latency", "--hidden"), "--hidden is for a running graph only"),
        (("--experiment", "latency", "--all", "--rate", "10"), "either --rate or --all"),
        (("--experiment", "latency", "--rate", "7"), "no case of the experiment has 7 Hz"),
        (("--experiment", "latency", "--set", "colour=red"), "has no 'colour'"),
        (("--overhead", "--mcap", "x.mcap"), "--mcap is for a running graph and for --experiment"),
        (("--overhead", "--svg", "x.svg"), "--svg is for a running graph and for --experiment"),
        (("--repeats", "3"), "--repeats is for --experiment and --overhead only"),
        (("--out", "x"), "--out is for --experiment"),
        (("--full",), "--full is for --experiment"),
        (("--rate", "10"), "--rate is for --experiment"),
        (("--retries", "2"), "--retries is for --experiment"),
    ],
)
def test_contradicting_options_are_refused(
    hyphos_cli: Cli, words: tuple[str, ...], problem: str
) -> None:
    code, _, err = hyphos_cli("lab", "profile", *words)
    assert code != 0
    assert problem in " ".join(err.split())


def quad(alone_us: float, profiled_us: float) -> Quad:
    costs = {False: alone_us, True: profiled_us}
    return Quad(tuple(Block(on, round(1e6 * costs[on]), 1000, 0.0, 0.1) for on in TURNS[0]))


def test_blocks_beside_a_stall_are_measured_again() -> None:
    messages = iter([5, 0, 5, 5, *[5] * 8])

    class Graph:
        """The sender stands still in the second block."""

        def block(self, seconds: float, profiled: bool) -> Block:
            return Block(profiled, 1000, next(messages), 0.0, seconds)

    graph: Any = Graph()
    found = overhead.quads_of(graph, 2, 0.1, quiet=True)
    assert [[block.messages for block in one.blocks] for one in found] == [[5] * 4] * 2
    assert next(messages, None) is None


def test_the_overhead_is_a_ratio_of_adjacent_blocks(
    hyphos_cli: Cli,
) -> None:
    # Four blocks, two of each kind: a drift affects both equally, and cancels.
    drift = Quad(tuple(Block(on, 1000 + 100 * i, 10, 0.0, 0.1) for i, on in enumerate(TURNS[0])))
    assert drift.ratio == 1.0
    ratio = ratio_of([quad(10.0, 10.1), quad(10.0, 10.3)])
    assert ratio.value == pytest.approx(1.02)
    assert ratio.low == pytest.approx(1.01)
    assert ratio.high == pytest.approx(1.03)

    code, out, err = hyphos_cli(
        "lab", "profile", "--overhead", "--repeats", "2", "--for", "0.3", "--json", "-q"
    )
    assert code in (0, 1), err  # 1: certainly over the limit, as two turns on a busy machine may be
    told: dict[str, Any] = json.loads(out)
    assert told["quads"] == 2
    assert told["alone_us_per_msg"] > 0
    assert told["profiled_us_per_msg"] > 0
    assert told["profiler_cores"] > 0
    # Two turns of two profiled blocks: each message is an event at both of its endpoints.
    sent = 2 * 2 * 0.3 * told["rate_hz"]
    assert told["events"] + told["missed"] > sent / 2


def test_a_domain_without_processes_is_an_error_with_advice(hyphos_cli: Cli, domain: str) -> None:
    code, _, err = hyphos_cli("lab", "profile", "-d", domain, "--for", "0.2")
    assert code != 0
    assert f"no Hyphos process runs in domain '{domain}'" in err
