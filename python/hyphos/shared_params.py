"""The tree of parameters that all nodes of a robot share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyphos import _hyphos
from hyphos._hyphos import ParamWatch
from hyphos._timeouts import to_ns

_NONE = object()


class SharedParams:
    """The tree of parameters that all nodes of a robot share. Thread-safe.

    `shared_params:` in the plan gives its first values. Every node can read and set every path, and
    no node declares one. Each process has a copy, so a read is local. If two processes set one path
    at once, the later change remains everywhere.

    A path has words joined by dots: "profile.name". "" is the whole tree. Values are dict, list,
    str, int, float, bool or None.
    """

    def __init__(self, core: _hyphos.SharedParams) -> None:
        self._core = core

    def tree(self) -> dict[str, Any]:
        """A copy of the whole tree at one instant."""
        tree: dict[str, Any] = self._core.get("")
        return tree

    def __getitem__(self, path: str) -> Any:
        if not self._core.has(path):
            raise KeyError(path)
        return self._core.get(path)

    def __contains__(self, path: str) -> bool:
        return self._core.has(path)

    def get(self, path: str, default: Any = _NONE) -> Any:
        """The value at a path, or `default` if there is none. Without a default, raises
        `hyphos.Error` (not_found) with similar paths."""
        if default is not _NONE and not self._core.has(path):
            return default
        return self._core.get(path)

    def yaml(self, path: str = "") -> str:
        """The value at a path as YAML."""
        return self._core.yaml(path)

    def set(self, values: Mapping[str, Any]) -> None:
        """Sets one or several paths in all processes, all or none. A dict sets each of its values,
        and leaves others as they are. Raises `hyphos.Error` with the reason for a refusal."""
        self._core.set(list(values.items()))

    def remove(self, path: str) -> None:
        """Removes a path and all below it in all processes."""
        self._core.remove(path)

    def load(self, file: str) -> None:
        """Adds a plain YAML file to the start values, as `shared_params:` in the plan."""
        self._core.load(str(file))

    def watch(self, callback: Callable[[list[str]], object], path: str = "") -> ParamWatch:
        """Calls `callback(paths)` on the thread pool after changes below `path`, with the sorted
        paths of the changed values. Changes that come faster than the calls end are merged."""
        return self._core.watch(path, callback)

    def wait(self, timeout_ms: float = 5000) -> None:
        """Waits until another process has sent its values. Raises `hyphos.Error` (timeout)."""
        self._core.wait(to_ns(max(0, timeout_ms)))

    def settle(self, timeout_ms: float = 5000) -> int:
        """Waits until every other process that shares the tree has the values that were set here.
        Returns the number of these processes. Raises `hyphos.Error` (timeout)."""
        return self._core.settle(to_ns(max(0, timeout_ms)))
