"""hyphos channel list | info, hyphos node list | info"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, Policy, ProcessInfo
from hyphos.observe import (
    ChannelState,
    Look,
    duration,
    is_hidden,
    look,
    nobody,
    require_channel,
    states,
)
from hyphos.tools.console import console, print_json, table
from hyphos.tools.elsewhere import peers_text


def channel_table(found: dict[str, ChannelState], *, rates: bool) -> Table:
    """One row per channel. With `rates`: the values between two snapshots."""
    if not rates:
        made = table(
            "",
            ["channel", "type", "pub", "sub", "transport", "sent", "received", "drops"],
            ["pub", "sub", "sent", "received", "drops"],
        )
        for s in found.values():
            kind = s.type_name + (" + buffers" if s.encoding == "attached" else "")
            made.add_row(
                s.name,
                kind,
                str(s.publishers),
                str(s.subscribers),
                s.transports,
                f"{s.sent:,}",
                f"{s.received:,}",
                _drops(s.dropped),
            )
        return made
    made = table(
        "",
        ["channel", "transport", "rate", "MB/s", "p50", "p99", "drops"],
        ["rate", "MB/s", "p50", "p99", "drops"],
    )
    for s in found.values():
        made.add_row(
            s.name,
            s.transports,
            f"{s.rate_hz:.1f} Hz",
            s.megabytes_text,
            s.delays.text(0.5),
            s.delays.text(0.99),
            _drops(s.dropped),
        )
    return made


def _drops(count: int) -> str:
    return f"[red]{count:,}[/red]" if count else "0"


def _policy(policy: Policy) -> dict[str, object]:
    names = ("reliability", "overflow", "priority", "latched", "latched_depth", "depth")
    times = ("deadline_ms", "block_timeout_ms", "lifespan_ms")
    return {name: getattr(policy, name) for name in (*names, *times)}


def _end(process: ProcessInfo, end: EndpointInfo) -> dict[str, Any]:
    made: dict[str, Any] = {
        "channel": end.channel,
        "node": end.node,
        "process": process.name,
        "host": process.host,
        "pid": process.pid,
        "publishes": end.is_publisher,
        "type": end.type_name,
        "encoding": end.encoding,
        "type_hash": f"{end.type_hash:016x}",
        "policy": _policy(end.policy),
        "transports": end.transports,
        "counters": dict(end.counters),
    }
    if not end.is_publisher:
        made["mode"] = end.mode
        made["latency_ns"] = _percentiles(end.latency)
        made["layers_ns"] = {name: _percentiles(one) for name, one in end.layers if one.count}
    return made


def _percentiles(histogram: Any) -> dict[str, float]:
    return {
        "count": histogram.count,
        "p50": histogram.percentile_ns(0.5),
        "p95": histogram.percentile_ns(0.95),
        "p99": histogram.percentile_ns(0.99),
        "max": histogram.max_ns,
    }


def _who_runs(processes: list[ProcessInfo], domain: str) -> str:
    """The reason why a list is empty."""
    if not processes:
        return str(nobody(domain))
    names = ", ".join(sorted({process.name for process in processes}))
    return f"none of the processes in domain '{domain}' has one: {names}"


def channel_list(domain: str, as_json: bool, hidden: bool) -> None:
    now = look(domain)
    found = states(now, hidden=hidden)
    if as_json:
        rows = []
        for state in found.values():
            row = asdict(state)
            for name in ("delays", "rate_hz", "published_mb_s", "taken_mb_s", "encoded"):
                del row[name]
            rows.append(row)
        print_json(rows)
    elif not found:
        console().print(f"no channels: {_who_runs(now.processes, domain)}")
    else:
        console().print(channel_table(found, rates=False))


def channel_info(domain: str, name: str, as_json: bool) -> None:
    now = look(domain)
    require_channel(now, name, domain)
    ends = [_end(process, end) for process, end in now.ends(name)]
    if as_json:
        print_json(ends)
        return
    out = console()
    first = ends[0]
    out.print(f"channel  {name}\ntype     {first['type']} ({first['encoding']})")
    policy = " ".join(f"{name}={value}" for name, value in first["policy"].items())
    out.print(f"policy   {policy}", soft_wrap=True)
    _print_ends(ends)
    for end in ends:
        if end.get("layers_ns"):
            out.print(_layer_table(end))


def _print_ends(ends: list[dict[str, Any]]) -> None:
    made = table("", ["", "channel", "node", "process", "pid", "transport", "counters"], ["pid"])
    for end in ends:
        counters = end["counters"].items()
        made.add_row(
            "publishes" if end["publishes"] else f"subscribes, {end['mode']}",
            end["channel"],
            end["node"],
            end["process"],
            str(end["pid"]),
            end["transports"],
            " ".join(f"{name}={count:,}" for name, count in counters),
        )
    console().print(made)


def _layer_table(end: dict[str, Any]) -> Table:
    made = table(
        f"latency of {end['channel']} to {end['node']} ({end['process']}, {end['pid']})",
        ["layer", "p50", "p95", "p99", "max"],
        ["p50", "p95", "p99", "max"],
    )
    for name, one in [*end["layers_ns"].items(), ("publish → callback", end["latency_ns"])]:
        made.add_row(name, *(duration(one[key]) for key in ("p50", "p95", "p99", "max")))
    return made


def nodes_of(now: Look) -> list[tuple[str, list[dict[str, Any]]]]:
    """The nodes with their endpoints. Nodes of two processes may have the same name."""
    found: dict[tuple[str, str, int, int], list[dict[str, Any]]] = {}
    for process, end in now.ends():
        key = (end.node, process.name, process.pid, process.participant)
        found.setdefault(key, []).append(_end(process, end))
    return [(key[0], ends) for key, ends in sorted(found.items())]


def _channels(ends: list[dict[str, Any]], *, publishes: bool) -> list[str]:
    """The channels without those of Hyphos itself."""
    names = {end["channel"] for end in ends if end["publishes"] == publishes}
    return sorted(name for name in names if not is_hidden(name))


def node_list(domain: str, as_json: bool) -> None:
    rows = [
        {
            "node": name,
            "process": ends[0]["process"],
            "host": ends[0]["host"],
            "pid": ends[0]["pid"],
            "publishes": _channels(ends, publishes=True),
            "subscribes": _channels(ends, publishes=False),
        }
        for name, ends in nodes_of(look(domain))
    ]
    if as_json:
        print_json(rows)
        return
    if not rows:
        console().print(f"no nodes: {_who_runs(look(domain).processes, domain)}")
        return
    made = table("", ["node", "process", "host", "pid", "publishes", "subscribes"], ["pid"])
    for row in rows:
        made.add_row(
            row["node"],
            row["process"],
            row["host"],
            str(row["pid"]),
            " ".join(row["publishes"]),
            " ".join(row["subscribes"]),
        )
    console().print(made)
    _warn_of_namesakes(rows)


def _warn_of_namesakes(rows: Sequence[dict[str, Any]]) -> None:
    """Commands and parameters address a node by its name, so two nodes with one name mix."""
    for name, count in Counter(row["node"] for row in rows).items():
        if count > 1:
            where = ", ".join(f"{r['process']} ({r['pid']})" for r in rows if r["node"] == name)
            print(
                f"warning: {count} nodes have the name '{name}': {where}. Commands and parameters "
                "address all of them: rename them, or use a domain for each",
                file=sys.stderr,
            )


def node_info(domain: str, name: str, as_json: bool) -> None:
    found = nodes_of(look(domain))
    ends = [end for node, of_node in found if node == name for end in of_node]
    if not ends and not found and not look(domain).processes:
        raise nobody(domain)
    if not ends:
        names = ", ".join(dict.fromkeys(node for node, _ in found))
        there = f"Nodes: {names}" if found else "It has no nodes"
        raise Error(
            "not_found",
            f"no node '{name}' in domain '{domain}' on this machine. {there}{peers_text(domain)}",
            advice=f"hyphos node list, or on another machine: hyphos node info {name} --ssh HOST",
        )
    if as_json:
        print_json(ends)
        return
    _print_ends(ends)
    for end in ends:
        if end.get("layers_ns"):
            console().print(_layer_table(end))
