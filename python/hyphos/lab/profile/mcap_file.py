"""A profile as MCAP: every event as a JSON message, on channels with the names of the graph. With
several cases, each has its own channels: profile/CASE/CHANNEL."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyphos import _hyphos
from hyphos.lab.profile.flows import Flows
from hyphos.lab.profile.layers import LAYERS

_INTEGER = {"type": "integer"}
_TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "title": "hyphos.lab.profile.Event",
    "type": "object",
    "description": "A message at one endpoint of a channel. Times: nanoseconds of CLOCK_MONOTONIC.",
    "properties": {
        "event": {"type": "string", "enum": ["publish", "callback"]},
        "case": {"type": "string", "description": "Case of an experiment."},
        "process": _TEXT,
        "node": _TEXT,
        "channel": _TEXT,
        "sender": _TEXT,
        "sequence": _INTEGER,
        "bytes": _INTEGER,
        "publish_ns": _INTEGER,
        "callback_ns": _INTEGER,
        "end_ns": _INTEGER,
        "latency_ns": _INTEGER,
        "layers_ns": {
            "type": "object",
            "properties": dict.fromkeys(LAYERS[:7], _INTEGER),
        },
        "cause": {
            "type": "array",
            "description": "The messages that caused a publish.",
            "items": {
                "type": "object",
                "properties": {
                    "sender": _TEXT,
                    "sequence": _INTEGER,
                    "channel": _TEXT,
                    "inferred": {"type": "boolean"},
                },
            },
        },
    },
    "required": ["event", "process", "node", "channel", "sender", "sequence", "publish_ns"],
}


def write_mcap(path: Path, flows: Flows) -> int:
    """Writes one graph. Returns the number of messages. Their log time is Unix time."""
    return write_mcap_of_cases(path, [("", flows)])


def write_mcap_of_cases(path: Path, cases: Sequence[tuple[str, Flows]]) -> int:
    """Writes several graphs with the names of their cases. Returns the number of messages."""
    to_unix = time.time_ns() - _hyphos.monotonic_ns()
    rows = [
        (_time_of(flows, row), case, flows, row)
        for case, flows in cases
        for row in [*flows.publishes.tolist(), *flows.receptions.tolist()]
    ]
    rows.sort(key=lambda one: one[0])
    writer = _hyphos.McapWriter.create(str(path), "", overwrite=True)
    schema = writer.add_schema(SCHEMA["title"], "jsonschema", json.dumps(SCHEMA).encode())
    ids: dict[str, int] = {}
    for i, (at, case, flows, row) in enumerate(rows):
        name = topic(case, flows.end(row).channel)
        if name not in ids:
            ids[name] = writer.add_channel(name, "json", schema)
        told = _event(flows, row) | ({"case": case} if case else {})
        unix = at + to_unix
        writer.write(ids[name], unix, unix, i, json.dumps(told).encode())
    writer.close()
    return len(rows)


def topic(case: str, channel: str) -> str:
    """profile/image, or for a case profile/500kB_100Hz/image."""
    short = re.sub(r"[^\w.+-]", "", case.replace(", ", "_"))
    return f"profile/{short}/{channel}" if case else f"profile/{channel}"


def _time_of(flows: Flows, row: int) -> int:
    """The time of an event: the publish() call, or the start of the callback."""
    return flows.column("callback", row) or flows.column("publish", row)


def _event(flows: Flows, row: int) -> dict[str, Any]:
    end = flows.end(row)
    sender, sequence = flows.message(row)
    publish = flows.column("publish", row)
    told: dict[str, Any] = {
        "event": "publish" if end.is_publisher else "callback",
        "process": end.process,
        "node": end.node,
        "channel": end.channel,
        "sender": f"{sender:016x}",
        "sequence": sequence,
        "bytes": int(flows.found.events["bytes"][row]),
        "publish_ns": publish,
    }
    if end.is_publisher:
        told["cause"] = [
            {
                "sender": f"{flows.message(parent)[0]:016x}",
                "sequence": flows.message(parent)[1],
                "channel": flows.end(parent).channel,
                "inferred": inferred,
            }
            for parent, inferred in flows.parents(row)
        ]
        return told
    callback = flows.column("callback", row)
    return told | {
        "callback_ns": callback,
        "end_ns": flows.column("end", row),
        "latency_ns": callback - publish,
        "layers_ns": dict(zip(LAYERS[:7], flows.layers[row].tolist(), strict=True)),
    }
