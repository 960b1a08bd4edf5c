"""The parameters of the robot's nodes, for Foxglove to list and set: "node.parameter"."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from foxglove import Parameter

from hyphos._errors import Error
from hyphos._hyphos import ParamInfo, ParamSet
from hyphos.node import Node
from hyphos.params import RemoteParams, nodes_with_params

_SET_MS = 5000  # time limit for the owner of a parameter to reply


class Parameters:
    """Mirrors the parameters of all nodes. Thread-safe except look().

    Reading does not wait. set() waits for the owner of each parameter. `changed` is called on the
    thread pool with the changed parameters.
    """

    def __init__(
        self, node: Node, domain: str, changed: Callable[[list[Parameter]], None], *, writable: bool
    ) -> None:
        self._node = node
        self._domain = domain
        self._changed = changed
        self._writable = writable
        self._remotes: dict[str, RemoteParams] = {}

    def look(self) -> None:
        """Adds nodes that have appeared."""
        for name in nodes_with_params(self._domain):
            if name not in self._remotes:
                self._remotes[name] = remote = self._node.remote_params(name)
                remote.watch(self._teller(name))

    def _teller(self, node: str) -> Callable[[ParamSet], None]:
        def tell(values: ParamSet) -> None:
            infos = (values.find(name) for name in values.changed)
            self._changed([_told(node, info) for info in infos if info is not None])

        return tell

    def _infos(self) -> Iterable[tuple[str, RemoteParams, ParamInfo]]:
        """The parameters of the nodes that run now."""
        for node, remote in list(self._remotes.items()):
            if remote.present:
                for info in remote.values().infos:
                    yield node, remote, info

    def get(self, names: Sequence[str]) -> list[Parameter]:
        """The parameters with these names, or all without names."""
        told = [_told(node, info) for node, _, info in self._infos()]
        return [one for one in told if not names or one.name in names]

    def set(self, wishes: Sequence[Parameter]) -> list[str]:
        """Sets parameters, those of one node all or none. Returns the problems in words."""
        if not self._writable:
            return ["parameters are read-only: hyphos foxglove --write lets clients set them"]
        known = {f"{node}.{info.name}": (remote, info) for node, remote, info in self._infos()}
        problems: list[str] = []
        by_node: dict[str, tuple[RemoteParams, dict[str, Any]]] = {}
        for wish in wishes:
            if wish.name not in known:
                problems.append(f"no node has a parameter '{wish.name}'")
                continue
            remote, info = known[wish.name]
            values = by_node.setdefault(remote.node, (remote, {}))[1]
            values[info.name] = _typed(info, wish.get_value())
        for remote, values in by_node.values():
            try:
                remote.set(values, _SET_MS)
            except (Error, TypeError, ValueError) as problem:
                problems.append(f"{remote.node}: {problem}")
        return problems

    def close(self) -> None:
        """Ends the mirrors. No callback runs afterwards."""
        for remote in self._remotes.values():
            remote.close()


def _told(node: str, info: ParamInfo) -> Parameter:
    value = info.value
    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)  # JSON has no such number
    return Parameter(f"{node}.{info.name}", value=value)


def _typed(info: ParamInfo, value: Any) -> Any:
    """Restores the number type of the parameter: JSON may have turned 1.0 into 1."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if info.type == "real" and whole:
        return float(value)
    if info.type == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if info.type == "list of real" and isinstance(value, list):
        return [float(one) if isinstance(one, int) else one for one in value]
    return value
