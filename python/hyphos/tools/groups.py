"""hyphos group: the groups of a running robot."""

from __future__ import annotations

from dataclasses import dataclass

from hyphos._errors import Error
from hyphos._hyphos import GroupNode, GroupState
from hyphos.observe import Look, domains_text, look
from hyphos.tools.channel_places import places_text
from hyphos.tools.console import console, print_json, table
from hyphos.tools.join import open_tool

_SERVICES = "hyphos/service/_group/"


@dataclass(frozen=True)
class Change:
    group: str  # "": every group
    action: str  # "look", "start", "stop", "move", "open" or "close"
    process: str = ""  # the target of a move
    where: str = "both"  # of open and close


def servers(now: Look) -> list[str]:
    """The processes of a domain that run a plan with groups."""
    return sorted(
        {
            process.name
            for process, end in now.internal_ends()
            if end.channel.startswith(_SERVICES)
            and end.channel.endswith("/request")
            and not end.is_publisher
        }
    )


def change(domain: str, what: Change, timeout_s: float) -> GroupState:
    """Sends the change to a process of the robot, which makes it in all others."""
    asked = servers(look(domain))
    if not asked:
        raise Error(
            "not_found",
            f"no process of domain '{domain}' runs a plan with `groups:`",
            what.group,
            domains_text(domain) or "start the robot",
        )
    with open_tool("group", domain) as node:
        return node._core.change_group(
            asked[0], what.group, what.action, what.process, what.where, timeout_s * 1e3
        )


def members(domain: str, now: Look, timeout_s: float) -> dict[str, str]:
    """The group of each node that has one."""
    if not servers(now):
        return {}
    return {one.node: one.group for one in change(domain, Change("", "look"), timeout_s).nodes}


def show(domain: str, group: str, as_json: bool, timeout_s: float) -> None:
    nodes = change(domain, Change(group, "look"), timeout_s).nodes
    if as_json:
        keys = ("group", "node", "process", "running", "reachable")
        print_json([{key: getattr(one, key) for key in keys} for one in nodes])
        return
    made = table("", ["group", "node", "process", "state"], [])
    for one in nodes:
        made.add_row(one.group, one.node, one.process, _state(one))
    console().print(made)


def make(domain: str, what: Change, timeout_s: float) -> None:
    """Makes a change and prints the result."""
    state = change(domain, what, timeout_s)
    if what.action in ("open", "close"):
        if not state.channels:
            print(f"{what.group}: no channel, because no node of the group has an endpoint")
        for one in state.channels:
            print(f"{one.process}: {one.channel} is {places_text(one.open)}")
        return
    for process in dict.fromkeys(one.process for one in state.nodes):
        nodes = [one for one in state.nodes if one.process == process]
        for word in dict.fromkeys(map(_state, nodes)):
            names = ", ".join(one.node for one in nodes if _state(one) == word)
            print(f"{what.group}: {names}: {word} in {process}")


def _state(node: GroupNode) -> str:
    if node.running:
        return "runs"
    return "stopped" if node.reachable else "stopped, the process does not run"
