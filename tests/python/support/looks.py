"""Snapshots of counters as `hyphos.observe.look` returns them, without a robot."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from hyphos.observe import Look


class NoDelays:
    count = 0
    buckets: tuple[()] = ()

    def since(self, earlier: object) -> NoDelays:  # noqa: ARG002
        return self


@dataclass
class End:
    """One endpoint of a channel in a snapshot."""

    channel: str
    node: str
    is_publisher: bool
    counted: dict[str, int] = field(default_factory=dict)
    type_name: str = "hyphos.msgs.Int64"
    encoding: str = "protobuf"
    type_hash: int = 0
    transports: str = "shm"
    latency: NoDelays = field(default_factory=NoDelays)
    layers: tuple[()] = ()

    @property
    def id(self) -> int:
        """The same id in every snapshot, like that of a real endpoint."""
        return hash((self.channel, self.node, self.is_publisher))

    def counter(self, name: str) -> int:
        return self.counted.get(name, 0)

    @property
    def counters(self) -> list[tuple[str, int]]:
        return [(name, count) for name, count in self.counted.items() if count]


def look_at(at_s: float, *processes: tuple[int, list[End]]) -> Look:
    """A snapshot. `processes`: the number and the endpoints of each present process."""
    there: list[Any] = [
        SimpleNamespace(participant=number, name=f"p{number}", endpoints=ends)
        for number, ends in processes
    ]
    return Look(at_s, there)


def publisher(sent: int, **more: int) -> End:
    return End("scan", "laser", True, {"sent": sent, "bytes": sent * 1000, **more})


def subscriber(received: int, **drops: int) -> End:
    lost = {f"drop.{name.replace('_', '.', 1)}": count for name, count in drops.items()}
    return End("scan", "mapper", False, {"received": received, "bytes": received * 1000, **lost})
