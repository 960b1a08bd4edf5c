"""The page of a profile: one file that needs no network, like the laboratory's reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyphos.lab import page
from hyphos.lab.machine import describe_machine
from hyphos.lab.page import Cell
from hyphos.lab.profile.draw import stored_plots, stored_summary
from hyphos.lab.profile.layers import LAYERS
from hyphos.lab.profile.show_cases import interval, runs_of
from hyphos.observe import duration

METHOD = (
    "Every Hyphos process keeps its last 4096 publishes and callbacks in shared memory all the "
    "time. They were read twenty times a second, without switching anything on. A callback "
    "belongs to the publish() with its sender and sequence, and a publish() to the callback in "
    "which it was made. Layers are the times between the stamps of one message, without a gap. "
    "Their means add up to the mean, their percentiles do not. Events that were overwritten before "
    "they were read count as missed. Messages with a missing event are omitted."
)
CASES = (
    " Every case runs several times, with new processes, all cases in turn. The layers of each run "
    "are means of the messages within 1 % of a percentile, so that they add up to it. Shown are "
    "medians of the runs, which need not add up, with intervals of 95 % by a bootstrap over whole "
    "runs. A run is disturbed if other programs took more than 5 % of the machine, or the "
    "hypervisor more than 2 %, or if a processor reached less than 80 % of its best earlier speed, "
    "or if a hand-over between processors took more than twice the best time. Disturbed runs are "
    "left out if at least half of a case's runs were quiet."
)
WORDS = {
    "encode, hand": "The publisher's part: encoding of the message, and everything else until the "
    "transport accepts it.",
    "transport": "Between the processes, including the wake-up of the receiver.",
    "deliver, queue, decode": "The subscriber's part: finding the subscriptions, waiting for a "
    "free node, and decoding the message.",
    "callback": "User code. Along a path, its part up to the next publish().",
    "hold": "From the end of a callback until a timer of the node publishes the next message. This "
    "link is inferred.",
}


def write_report(path: Path, told: Mapping[str, Any]) -> Path:
    """Writes the page of a profile in the format of `--json`, of a graph or of an experiment."""
    of_cases = "cases" in told
    parts = [
        page.paragraph(stored_summary(told), dim=True),
        page.paragraph(_missed(told)),
        page.section("Critical path", *map(page.paragraph, _critical(told))),
        *map(page.figure, stored_plots(told)),
        findings_part(told),
        page.section("Layers", _case_table(told) if of_cases else _channel_table(told)),
        "" if of_cases else page.section("Paths", _path_table(told)),
        page.section("Definitions", page.words(WORDS)),
        page.section("Method", page.paragraph(METHOD + CASES * of_cases)),
        page.section("Machine", page.machine_table(told.get("machine") or describe_machine())),
        page.section("Data", page.attached({"profile.json": json.dumps(told, indent=1).encode()})),
    ]
    title = told["experiment"] if of_cases else "Profile"
    return page.write(path, page.page(title, parts))


def _missed(told: Mapping[str, Any]) -> str:
    if "cases" in told:
        count = sum(one["missed"] for one in told["cases"])
    else:
        count = sum(told["missed"].values())
    return f"{count:,} events were missed." if count else ""


def _critical(told: Mapping[str, Any]) -> list[str]:
    """A sentence for each certain critical path. For an experiment, a sentence for each case."""
    if "cases" in told:
        return [
            f"{one['case']}: {_costliest(one['path'], one['costliest'])}" for one in told["cases"]
        ]
    sure = [path for path in told["paths"] if path["critical"] and not path["inferred"]]
    return [_costliest(path["path"], path["costliest"]) for path in sure]


def _costliest(name: str, cost: Mapping[str, Any]) -> str:
    return (
        f"{name}: its slowest messages spend {cost['share']:.0%} in {cost['layer']} of "
        f"{cost['channel']} to {cost['node']}."
    )


def _channel_table(told: Mapping[str, Any]) -> str:
    lines: list[list[str | Cell]] = [
        [
            f"{', '.join(one['publishers']) or '?'} ─{one['channel']}→ {one['subscriber']}",
            f"{one['latency']['count']:,}",
            *(duration(one["latency"][f"p{percent}_ns"]) for percent in (50, 95, 99)),
            *(duration(one["layers"][layer]["mean_ns"]) for layer in LAYERS[:7]),
        ]
        for one in told["channels"]
    ]
    heads = ["channel", "messages", "p50", "p95", "p99", *LAYERS[:7]]
    return page.table(heads, lines, name="channels") if lines else ""


def _path_table(told: Mapping[str, Any]) -> str:
    lines: list[list[str | Cell]] = [
        [
            Cell(
                path["path"],
                "".join([" inferred"] * path["inferred"] + [" critical"] * path["critical"]),
                words=True,
            ),
            f"{path['end_to_end']['count']:,}",
            *(duration(path["end_to_end"][f"p{percent}_ns"]) for percent in (50, 95, 99)),
            *(duration(sum(hop["mean_ns"][layer] for hop in path["hops"])) for layer in LAYERS),
        ]
        for path in told["paths"]
    ]
    heads = ["path", "messages", "p50", "p95", "p99", *LAYERS]
    return page.table(heads, lines, name="paths") if lines else ""


def findings_part(told: Mapping[str, Any]) -> str:
    """The published findings about layers of an experiment. Empty if there are none."""
    table = page.findings_table(told.get("findings", []), "layer-findings")
    return page.section("Published findings about layers", table)


def _case_table(told: Mapping[str, Any]) -> str:
    lines: list[list[str | Cell]] = [
        [
            one["case"],
            percentile,
            runs_of(len(one["runs"]), one["disturbed"]),
            _figure(one["whole_ns"][percentile]),
            *(
                _figure(
                    [layers[layer], *one["layers_interval_ns"][percentile][layer]],
                    one["shares"][percentile][layer][0],
                )
                for layer in LAYERS[:7]
            ),
        ]
        for one in told["cases"]
        for percentile, layers in one["layers_ns"].items()
    ]
    heads = ["case", "", "runs", "publish → callback", *LAYERS[:7]]
    return page.table(heads, lines, left=2, name="layers")


def _figure(ns: Sequence[float | None], share: float | None = None) -> Cell:
    """A duration in ns with its interval, and its share in the whole."""
    value, low, high = ns
    if value is None:
        return Cell("–")
    small = interval(low, high) if low is not None and high is not None else ""
    return Cell(duration(value) + ("" if share is None else f" {share:.0%}"), small)
