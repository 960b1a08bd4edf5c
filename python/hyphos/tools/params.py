"""hyphos param list | get | set | describe | dump | load | watch"""

from __future__ import annotations

import json
import queue
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import ParamInfo, ParamSet
from hyphos.observe import look, nobody
from hyphos.params import RemoteParams, nodes_with_params
from hyphos.tools.console import console, print_json, table
from hyphos.tools.join import open_tool
from hyphos.tools.waiting import stoppable
from hyphos.tools.waits import names_text, process_lines, reporting

_SHOWN = 60  # bytes of a value in a table
_LOOK_S = 0.1  # between checks of a stop request
_ANSWER_S = 5.0  # longest wait for a node that runs, without --timeout


@contextmanager
def _remotes(
    domain: str, nodes: Sequence[str], timeout_s: float | None
) -> Iterator[list[RemoteParams]]:
    """The parameters of nodes, once they have arrived. Without names: all nodes of this machine.

    Without a timeout, a node that does not run is an error at once.
    """
    names = list(dict.fromkeys(nodes)) or nodes_with_params(domain)
    if not names:
        raise _no_nodes(domain)
    if timeout_s is None:
        for name in names:
            _require_node(domain, name)
    with open_tool("param", domain) as node:
        remotes = [node.remote_params(name) for name in names]
        for remote in remotes:
            with reporting(partial(_awaited, domain, remote.node)):
                remote.wait(_limit_s(timeout_s) * 1e3)
        yield remotes


def _limit_s(timeout_s: float | None) -> float:
    """The longest wait for a reply of a node."""
    return _ANSWER_S if timeout_s is None else timeout_s


def _no_nodes(domain: str) -> Error:
    if not look(domain).processes:
        return nobody(domain)
    return Error(
        "not_found",
        f"no node with parameters runs in domain '{domain}' on this machine",
        advice="hyphos node list shows all nodes",
    )


def _require_node(domain: str, name: str) -> None:
    """Raises an error that lists the nodes, unless `name` has parameters."""
    known = nodes_with_params(domain)
    if name in known:
        return
    if not known:
        raise _no_nodes(domain)
    if any(end.node == name for _, end in look(domain).ends()):
        raise Error(
            "not_found",
            f"node '{name}' has no parameters. Nodes with parameters: {names_text(known)}",
            advice="hyphos param list",
        )
    near = get_close_matches(name, known, 1)
    more = f"did you mean '{near[0]}'?" if near else f"Nodes with parameters: {names_text(known)}"
    raise Error(
        "not_found",
        f"no node '{name}' in domain '{domain}' on this machine. {more}",
        advice="hyphos node list, or --timeout SECONDS to wait for the node",
    )


def _awaited(domain: str, name: str) -> list[str]:
    known = nodes_with_params(domain)
    head = f"waiting for the parameters of node '{name}'"
    if name in known:
        return [head, "  the node runs, but did not send them yet: its process may be busy"]
    return [*process_lines(head, domain), f"  nodes with parameters: {names_text(known) or 'none'}"]


def _info(remote: RemoteParams, name: str) -> ParamInfo:
    info = remote.find(name)
    if info is None:
        raise Error(
            "not_found",
            f"node '{remote.node}' has no parameter '{name}'{remote.values().suggestion(name)}",
            advice=f"hyphos param list {remote.node}",
        )
    return info


def _json(info: ParamInfo) -> dict[str, Any]:
    value, default = info.value, info.default
    return {
        "name": info.name,
        "type": info.type,
        "value": value.hex() if isinstance(value, bytes) else value,
        "default": default.hex() if isinstance(default, bytes) else default,
        "unit": info.unit,
        "description": info.description,
        "range": _range(info),
        "choices": info.choices,
        "read_only": info.read_only,
        "origin": info.origin,
    }


def _range(info: ParamInfo) -> dict[str, float | None] | None:
    """JSON has no infinity, so an unbounded end is null."""
    if info.range is None:
        return None
    least, most, step = info.range
    return {
        "least": None if least == float("-inf") else least,
        "most": None if most == float("inf") else most,
        "step": step or None,
    }


def short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def show(domain: str, nodes: Sequence[str], as_json: bool, timeout_s: float | None) -> None:
    """hyphos param list"""
    with _remotes(domain, nodes, timeout_s) as remotes:
        if as_json:
            print_json(
                [
                    {
                        "node": remote.node,
                        "process": remote.process,
                        "params": [_json(info) for info in remote.values().infos],
                        "undeclared": remote.undeclared,
                    }
                    for remote in remotes
                ]
            )
            return
        made = table("", ["node", "parameter", "value", "unit", "allowed", "from"])
        for remote in remotes:
            for info in remote.values().infos:
                origin = f"{info.origin}, read-only" if info.read_only else info.origin
                made.add_row(
                    remote.node, info.name, short(info.yaml), info.unit, info.allowed, origin
                )
        console().print(made)
        for remote in remotes:
            for name in remote.undeclared:
                console().print(
                    f"{remote.node}: the plan sets '{name}', but the node does not declare it"
                )


def get(domain: str, node: str, name: str, as_json: bool, timeout_s: float | None) -> None:
    """hyphos param get"""
    with _remotes(domain, [node], timeout_s) as (remote,):
        info = _info(remote, name)
        if as_json:
            print_json(_json(info))
        else:
            print(_readable(info))


def _readable(info: ParamInfo) -> str:
    """The value in the format of `set`: without quotes, if it reads back as the same text."""
    if info.type != "text" or not isinstance(info.value, str):
        return info.yaml
    plain = info.value.isprintable() and info.value == info.value.strip()
    return (
        info.value if plain and _hyphos.parse_param("text", info.value) == info.value else info.yaml
    )


def assignments(words: Sequence[str]) -> list[tuple[str, str]]:
    """NAME VALUE, or one or more NAME=VALUE."""
    if len(words) == 2 and "=" not in words[0]:
        return [(words[0], words[1])]
    pairs = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Error(
                "invalid_config",
                f"'{word}' is not NAME=VALUE",
                advice="hyphos param set NODE NAME VALUE, or NODE NAME=VALUE NAME=VALUE ...",
            )
        pairs.append((name, value))
    return pairs


def _parse(info: ParamInfo, text: str) -> Any:
    try:
        return _hyphos.parse_param(info.type, text)
    except Error as error:
        unit = f" (in {info.unit})" if info.unit else ""
        raise Error(error.code, f"{info.name}{unit}: {error.message}") from error


def assign(
    domain: str, node: str, words: Sequence[str], save: Path | None, timeout_s: float | None
) -> None:
    """hyphos param set"""
    with _remotes(domain, [node], timeout_s) as (remote,):
        pairs = assignments(words)
        values = {name: _parse(_info(remote, name), text) for name, text in pairs}
        if len(values) < len(pairs):
            raise Error("invalid_config", "a parameter is given twice")
        before = remote.values()
        remote.set(values, _limit_s(timeout_s) * 1e3)
        after = remote.values()
        for name in values:
            old, new = before.find(name), after.find(name)
            assert old is not None and new is not None
            unit = f" {new.unit}" if new.unit else ""
            print(f"{node}.{name}: {old.yaml} → {new.yaml}{unit}")
        if save is not None:
            lines = [
                (node, info.name, info.yaml, "") for info in after.infos if info.name in values
            ]
            _hyphos.save_params(str(save), lines)
            print(f"saved in {save}")


def describe(
    domain: str, node: str, name: str | None, as_json: bool, timeout_s: float | None
) -> None:
    """hyphos param describe"""
    with _remotes(domain, [node], timeout_s) as (remote,):
        infos = [_info(remote, name)] if name else list(remote.values().infos)
        if as_json:
            print_json([_json(info) for info in infos])
            return
        for number, info in enumerate(infos):
            if number > 0:
                print()
            _describe(info)


def _describe(info: ParamInfo) -> None:
    print(info.name)
    if info.description:
        print(f"  {info.description}")
    unit = f" {info.unit}" if info.unit else ""
    rows = [
        ("type", info.type + (", read-only" if info.read_only else "")),
        ("value", f"{info.yaml}{unit} ({info.origin})"),
        ("default", info.default_yaml + unit),
        ("allowed", info.allowed + (unit if info.range and info.allowed else "")),
    ]
    for title, text in rows:
        if text:
            print(f"  {title:<8} {text}")


def dump(
    domain: str, nodes: Sequence[str], output: Path | None, changed: bool, timeout_s: float | None
) -> None:
    """hyphos param dump"""
    lines = []
    with _remotes(domain, nodes, timeout_s) as remotes:
        for remote in remotes:
            for info in remote.values().infos:
                if changed and info.origin not in ("set", "restored"):
                    continue
                comment = " ".join(part for part in (info.unit, _limits(info)) if part)
                lines.append((remote.node, info.name, info.yaml, comment))
    text = _hyphos.params_text(lines, "Written by hyphos param dump. A plan can include this file.")
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise Error("io", f"cannot write the file: {error.strerror}", str(output)) from error
    print(f"{len(lines)} parameters in {output}", file=sys.stderr)


def _limits(info: ParamInfo) -> str:
    text = f"({info.allowed})" if info.allowed else ""
    return "" if "\n" in text or len(text) > _SHOWN else text


def load(domain: str, file: Path, only: Sequence[str], timeout_s: float | None) -> int:
    """hyphos param load. Returns 1 if a node refused its values."""
    wanted: dict[str, list[tuple[str, str, str]]] = {}
    plain_node = only[0] if len(only) == 1 else ""
    for node, name, yaml, where in _hyphos.read_params(str(file), plain_node):
        if not only or node in only:
            wanted.setdefault(node, []).append((name, yaml, where))
    for node in only:
        if node not in wanted:
            raise Error("not_found", f"the file has no parameters of node '{node}'", str(file))
    if not wanted:
        raise Error("invalid_config", "the file has no parameters", str(file))
    refused = 0
    for node, lines in wanted.items():
        try:
            _load_one(domain, node, lines, timeout_s)
        except Error as error:
            refused += 1
            print(f"error: {node}: {error}. No parameter of the node was set", file=sys.stderr)
    return 1 if refused else 0


def _load_one(
    domain: str, node: str, lines: Sequence[tuple[str, str, str]], timeout_s: float | None
) -> None:
    with _remotes(domain, [node], timeout_s) as (remote,):
        values = {}
        for name, yaml, where in lines:
            info = _info(remote, name)
            try:
                values[name] = _hyphos.parse_param(info.type, yaml)
            except Error as error:
                raise Error(error.code, f"{name}: {error.message}", where) from error
        remote.set(values, _limit_s(timeout_s) * 1e3)
        count = len(values)
        print(f"{node}: {count} parameter{'' if count == 1 else 's'} set")


def watch(
    domain: str, nodes: Sequence[str], count: int | None, as_json: bool, timeout_s: float | None
) -> None:
    """hyphos param watch"""
    changes: queue.SimpleQueue[tuple[str, ParamSet]] = queue.SimpleQueue()
    with stoppable() as stop, _remotes(domain, nodes, timeout_s) as remotes:
        for remote in remotes:

            def changed(now: ParamSet, name: str = remote.node) -> None:
                changes.put((name, now))

            remote.watch(changed)
        names = ", ".join(remote.node for remote in remotes)
        print(f"watching {names}", file=sys.stderr, flush=True)
        printed = 0
        while not stop.now and (count is None or printed < count):
            try:
                node, now = changes.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            for name in now.changed:
                if count is None or printed < count:
                    _print_change(node, name, now.find(name), as_json)
                    printed += 1


def _print_change(node: str, name: str, info: ParamInfo | None, as_json: bool) -> None:
    if as_json:
        value = None if info is None else _json(info)["value"]
        origin = "gone" if info is None else info.origin
        line = {"node": node, "name": name, "value": value, "origin": origin}
        print(json.dumps(line), flush=True)
        return
    if info is None:
        print(f"{node}.{name} is gone", flush=True)
        return
    unit = f" {info.unit}" if info.unit else ""
    print(f"{node}.{name} = {info.yaml}{unit} ({info.origin})", flush=True)
