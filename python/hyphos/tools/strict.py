"""hyphos run --strict: compares a run with its plan, by the counters and endpoints of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyphos._hyphos import EndpointInfo, Plan
from hyphos.tools.totals import Totals
from hyphos.tools.validate import (
    End,
    Finding,
    Graph,
    check_connected,
    check_declared,
    check_types,
)

LOG = "log"  # every node publishes its log lines there


def findings_of(loaded: Plan, plan: dict[str, Any], totals: Totals) -> list[Finding]:
    """The exceptions of callbacks, and each use of a channel that differs from the plan.

    Processes that the plan does not name are tools or tests. Their publishers count as publishers,
    but no finding is about them, and their subscriptions do not count.
    """
    named = {process["name"] for process in plan["processes"]}
    graph = Graph(loaded, plan, when="in this run")
    seen: set[str] = set()
    apart = {LOG, plan["clock"]["channel"]} - {one["name"] for one in plan["channels"]}
    for process, end in totals.lives():
        if process in named:
            seen.add(process)
            graph.findings += _of_counters(end)
        if end.channel in apart:
            continue
        if process in named:
            graph.ends.append(_end(process, end))
        elif end.is_publisher:
            graph.fed.add(end.channel)
    graph.unknown = {node["name"] for node in plan["nodes"] if node["process"] not in seen}
    for check in (check_types, check_declared, check_connected):
        check(graph)
    return list(dict.fromkeys(graph.findings))


def is_fault(finding: Finding) -> bool:
    """True if `--strict` fails because of it."""
    return finding.level in ("error", "warning")


def _end(process: str, end: EndpointInfo) -> End:
    return End(
        end.channel,
        end.node,
        process,
        end.is_publisher,
        end.type_name,
        end.encoding,
        f"{end.type_hash:016x}",
    )


def _of_counters(end: EndpointInfo) -> Iterator[Finding]:
    thrown = end.counter("callback_error")
    if thrown:
        times = "an exception" if thrown == 1 else f"{thrown:,} exceptions"
        text = f"node '{end.node}': {times} left callbacks of channel '{end.channel}', see its log"
        yield Finding("error", "exception", text)
    for name, count in end.counters:
        if name.startswith("drop.") and name.endswith(".type") and count:
            text = f"'{end.channel}' → {end.node}: {count:,} messages of another type were refused"
            yield Finding("error", "type", text)
