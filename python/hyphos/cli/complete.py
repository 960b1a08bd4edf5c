"""Names from the running robot, for shell completion. Reads shared memory.

After any error there is nothing to complete, because a completing shell must not show errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

# Reading parameters needs a node in the robot's graph, which is slower than reading shared memory.
_PARAMS_MS = 200


def _domain(context: typer.Context) -> str:
    return str(context.params.get("domain") or "0")


def _names(
    find: Callable[[str, typer.Context], Iterable[str]],
) -> Callable[[typer.Context, str], list[str]]:
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            found = sorted(set(find(_domain(ctx), ctx)))
        except Exception:  # noqa: BLE001
            return []
        return [name for name in found if name.startswith(incomplete)]

    return complete


def _channels(domain: str, _context: typer.Context) -> Iterable[str]:
    from hyphos.observe import is_hidden, look  # noqa: PLC0415

    return (end.channel for _, end in look(domain).ends() if not is_hidden(end.channel))


def _nodes(domain: str, _context: typer.Context) -> Iterable[str]:
    from hyphos.observe import look  # noqa: PLC0415

    return (end.node for _, end in look(domain).ends())


def _calls(kind: str) -> Callable[[str, typer.Context], Iterable[str]]:
    def find(domain: str, _context: typer.Context) -> Iterable[str]:
        from hyphos.observe import call_name, look  # noqa: PLC0415

        names = (call_name(end.channel, kind) for _, end in look(domain).internal_ends())
        return (name for name in names if name is not None)

    return find


def _cosim_methods(_domain: str, _context: typer.Context) -> Iterable[str]:
    from hyphos.cosim.program import output  # noqa: PLC0415

    return (line.split()[0] for line in output("methods").splitlines())


def _cosim_experiments(_domain: str, _context: typer.Context) -> Iterable[str]:
    from hyphos.cosim.experiments import ALL  # noqa: PLC0415

    return ("list", *(one.name for one in ALL))


def _cosim_robots(_domain: str, context: typer.Context) -> Iterable[str]:
    from hyphos.cosim.emulation import Described  # noqa: PLC0415

    # While an option has no value yet, the arguments are not parsed.
    scenario = context.params.get("scenario") or context.args[0]
    return (robot.name for robot in Described.of(Path(scenario)).robots)


def _params(domain: str, context: typer.Context) -> Iterable[str]:
    from hyphos.tools.join import open_tool  # noqa: PLC0415

    with open_tool("complete", domain) as node:
        remote = node.remote_params(str(context.params["node"]))
        return list(remote.wait(_PARAMS_MS))


def _groups(domain: str, _context: typer.Context) -> Iterable[str]:
    from hyphos.observe import look  # noqa: PLC0415
    from hyphos.tools.groups import members  # noqa: PLC0415

    return members(domain, look(domain), _PARAMS_MS / 1e3).values()


channel_names = _names(_channels)
group_names = _names(_groups)
node_names = _names(_nodes)
service_names = _names(_calls("service"))
param_names = _names(_params)
action_names = _names(_calls("action"))
cosim_methods = _names(_cosim_methods)
cosim_experiments = _names(_cosim_experiments)
cosim_robots = _names(_cosim_robots)
