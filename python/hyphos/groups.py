"""The groups of a plan, as functions of the runtime."""

from __future__ import annotations

from hyphos import _hyphos

TIMEOUT_MS = 30_000.0  # nodes may be constructed


class Groups:
    """Functions of `hyphos.Runtime` for groups of nodes.

    They reach every process of the plan, also on other machines, and block until all have replied.
    They need ready() or spin() before. Do not call them in a callback of a node of the group. They
    raise `hyphos.Error`: not_found, unsupported, timeout, and errors of the nodes' constructors.
    """

    _core: _hyphos.Runtime

    def start_group(self, group: str, *, timeout_ms: float = TIMEOUT_MS) -> _hyphos.GroupState:
        """Starts the nodes of a group of the plan, each in its process.

        They are constructed as at the start. Nodes that run already continue. After an error of a
        constructor, no node of the group runs in that process.
        """
        return self._core.change_group(group, "start", "", "both", timeout_ms)

    def stop_group(self, group: str, *, timeout_ms: float = TIMEOUT_MS) -> _hyphos.GroupState:
        """Ends the nodes of a group as at the end of the process. The processes continue."""
        return self._core.change_group(group, "stop", "", "both", timeout_ms)

    def move_group(
        self, group: str, process: str, *, timeout_ms: float = TIMEOUT_MS
    ) -> _hyphos.GroupState:
        """Stops a group where it runs, then starts it in `process`.

        `process` is the process of the group, or one of its `moves_to`. Messages that are published
        in between do not reach the group. If the start fails, the group starts again in the process
        before.
        """
        return self._core.change_group(group, "move", process, "both", timeout_ms)

    def set_group_open(
        self, group: str, open: bool, *, where: str = "both", timeout_ms: float = TIMEOUT_MS
    ) -> _hyphos.GroupState:
        """Opens or closes the channels at which nodes of the group have endpoints.

        It changes them in the processes of these nodes, as set_channel_open() does.
        """
        action = "open" if open else "close"
        return self._core.change_group(group, action, "", where, timeout_ms)

    def group_state(self, group: str = "", *, timeout_ms: float = TIMEOUT_MS) -> _hyphos.GroupState:
        """The nodes of a group and their processes. Without a name: of every group."""
        return self._core.change_group(group, "look", "", "both", timeout_ms)
