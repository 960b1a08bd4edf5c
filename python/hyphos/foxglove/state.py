"""The channel of counters for the page: rates and drops by place of each channel, and clients."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import foxglove

from hyphos import _hyphos
from hyphos.foxglove.offers import Shown
from hyphos.foxglove.relay import Relay
from hyphos.observe import Look, is_hidden, states

TOPIC = "hyphos/viewer"  # channels of the robot cannot begin with hyphos/
_EVERY_S = 1.0
_MOST_CHANNELS = 2000
_MOST_NODES = 20  # names of one channel
_DROP = "drop."


class State:
    """Publishes the counters about once a second while a client displays them. Thread-safe."""

    def __init__(self, context: foxglove.Context) -> None:
        schema = foxglove.Schema(
            name="hyphos.Viewer", encoding="jsonschema", data=b'{"type": "object"}'
        )
        self._channel = foxglove.Channel(
            TOPIC, message_encoding="json", schema=schema, context=context
        )
        self._chosen = threading.Event()
        self._next_s = 0.0
        self._before: Look | None = None

    def is_it(self, channel: int) -> bool:
        return channel == self._channel.id()

    def chosen(self) -> None:
        """A client has chosen the channel, and gets the counters without a wait for the next
        second."""
        self._chosen.set()

    def _due(self) -> bool:
        now_s = time.monotonic()
        if not self._chosen.is_set() and now_s < self._next_s:
            return False
        self._chosen.clear()
        self._next_s = now_s + _EVERY_S
        return self._channel.has_sinks()

    def publish_robot(
        self, now: Look, offers: Mapping[str, Shown], relay: Relay, now_ns: int
    ) -> None:
        if not self._due():
            self._before = self._before or now
            return
        rows = _robot_rows(now, self._before)
        self._before = now
        joined = {name: row | _here(offers.get(name)) for name, row in rows.items()}
        self._publish({"source": "robot", "channels": joined}, relay, now_ns)

    def publish_recording(
        self,
        rows: Mapping[str, dict[str, Any]],
        offers: Mapping[str, Shown],
        relay: Relay,
        now_ns: int,
    ) -> None:
        if self._due():
            joined = {name: row | _here(offers.get(name)) for name, row in rows.items()}
            self._publish({"source": "recording", "channels": joined}, relay, now_ns)

    def _publish(self, value: dict[str, Any], relay: Relay, now_ns: int) -> None:
        rows = dict(list(value["channels"].items())[:_MOST_CHANNELS])
        clients = [
            {
                "name": one.name,
                "label": one.label,
                "dropped": one.dropped,
                "dropped_of": {str(number): count for number, count in one.dropped_of.items()},
                "bytes": one.bytes,
            }
            for one in relay.clients
        ]
        whole = {
            **value,
            "channels": rows,
            "left_out": len(value["channels"]) - len(rows),
            "clients": clients,
            "dropped": relay.dropped,
            "refused": relay.refused,
        }
        self._channel.log(json.dumps(whole).encode(), log_time=max(0, now_ns))


def _here(offer: Shown | None) -> dict[str, Any]:
    """The counters of this program for one channel."""
    if offer is None:
        return {}
    found: dict[str, Any] = {
        "received": offer.counts.received,
        "lost": offer.counts.lost,
        "unshown": offer.counts.unshown,
    }
    return found | ({"why_not": offer.why_not} if offer.why_not else {})


def _robot_rows(now: Look, before: Look | None) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for name, state in states(now, before).items():
        rows[name] = {
            "type": state.type_name or state.encoding,
            "rate_hz": round(state.rate_hz, 3),
            "bytes_s": round(state.megabytes_per_s * 1e6),
            "sent": state.sent,
            "subscribers": state.subscribers,
            "p99_ns": state.delays.percentile_ns(0.99) if state.delays.count else 0,
        }
    drops: dict[str, Counter[str]] = {}
    newest: dict[str, int] = {}
    nodes: dict[str, list[str]] = {}
    for _, end in now.ends():
        if is_hidden(end.channel):
            continue
        for counter, count in end.counters:
            if counter.startswith(_DROP) and count:
                place = counter.removeprefix(_DROP)
                drops.setdefault(end.channel, Counter())[place] += count
        if end.is_publisher:
            newest[end.channel] = max(newest.get(end.channel, 0), end.last_ns)
            nodes.setdefault(end.channel, []).append(end.node)
    now_ns = _hyphos.monotonic_ns()
    for name, row in rows.items():
        row["drops"] = dict(drops.get(name, {}))
        row["publishers"] = sorted(set(nodes.get(name, ())))[:_MOST_NODES]
        if newest.get(name):
            row["age_s"] = round(max(0, now_ns - newest[name]) / 1e9, 3)
    return rows
