"""hyphos channel open and close: the places at which a channel of a running robot is open."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from hyphos._errors import Error
from hyphos._hyphos import ProcessInfo
from hyphos.observe import domains_text, look
from hyphos.tools.join import open_tool


@dataclass(frozen=True)
class Change:
    channel: str
    open: bool
    where: str  # "inside", "outside" or "both"
    only: bool  # open there alone, in one step
    peer: str  # "": all


def change(domain: str, what: Change, processes: list[str], timeout_s: float) -> int:
    """Changes the channel in each process that has it, or in the named ones.

    Returns 1 if a process failed.
    """
    failed = 0
    with open_tool("channel", domain) as node:
        for process in _processes(domain, what.channel, processes):
            title = f"{process.name} (pid {process.pid})"
            try:
                places = node._core.change_channel(
                    process.participant,
                    what.channel,
                    what.open,
                    what.where,
                    what.only,
                    what.peer,
                    timeout_s * 1e3,
                )
                towards = f" towards {what.peer}" if what.peer else ""
                state = "open" if what.open else "closed"
                done = f"{state}{towards}" if what.peer else places_text(places)
                print(f"{title}: {what.channel} is {done}")
            except Error as error:
                failed += 1
                print(f"error: {title}: {error}", file=sys.stderr)
    return 1 if failed else 0


def places_text(places: str) -> str:
    """The places at which a channel is open, in words."""
    return {
        "both": "open",
        "inside": "open inside the process only",
        "outside": "open towards other processes only",
        "nowhere": "closed",
    }[places]


def _processes(domain: str, channel: str, named: list[str]) -> list[ProcessInfo]:
    now = look(domain)
    having = {process.participant: process for process, _ in now.ends(channel)}
    if not having:
        known = ", ".join(sorted({end.channel for _, end in now.ends()})) or "none"
        raise Error(
            "not_found",
            f"no process of domain '{domain}' has the channel. Channels: {known}",
            channel,
            domains_text(domain) or "start the robot",
        )
    if not named:
        return sorted(having.values(), key=lambda one: (one.name, one.pid))
    chosen = []
    for name in named:
        found = [one for one in having.values() if name in (one.name, str(one.pid))]
        if not found:
            has = ", ".join(sorted(f"{one.name} ({one.pid})" for one in having.values()))
            raise Error(
                "not_found",
                f"process '{name}' does not have channel '{channel}'. It is in: {has}",
                channel,
            )
        chosen += found
    return chosen
