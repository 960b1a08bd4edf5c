"""hyphos param list | get | set | remove | dump | load | watch, with --shared"""

from __future__ import annotations

import json
import queue
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos.observe import look, nobody
from hyphos.shared_params import SharedParams
from hyphos.tools.console import console, print_json, table
from hyphos.tools.join import open_tool
from hyphos.tools.params import assignments, short
from hyphos.tools.waiting import stoppable
from hyphos.tools.waits import process_lines, reporting

CHANNEL = "_params/shared"
_LOOK_S = 0.1  # between checks of a stop request
_ANSWER_S = 5.0  # longest wait for the processes, without --timeout


@contextmanager
def _shared(domain: str, timeout_s: float | None) -> Iterator[SharedParams]:
    """The tree, once the values of all processes have arrived. Without a timeout, it is an error
    if no process shares any."""
    if timeout_s is None:
        _require(domain)
    limit_ms = (_ANSWER_S if timeout_s is None else timeout_s) * 1e3
    with open_tool("param", domain) as node:
        shared = node.shared_params()
        with reporting(lambda: process_lines("waiting for the shared parameters", domain)):
            shared.wait(limit_ms)
            shared.settle(limit_ms)
        yield shared


def _require(domain: str) -> None:
    here = look(domain)
    if any(end.channel == CHANNEL and end.is_publisher for _, end in here.ends()):
        return
    if not here.processes:
        raise nobody(domain)
    raise Error(
        "not_found",
        f"no process in domain '{domain}' on this machine shares parameters",
        advice="give shared_params: in the plan, or call shared_params() in a node",
    )


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, item)
    elif path:
        yield path, value


def _text(shared: SharedParams, path: str) -> str:
    return shared.yaml(path).rstrip("\n")


def _set_text(shared: SharedParams, timeout_s: float | None) -> str:
    others = shared.settle((_ANSWER_S if timeout_s is None else timeout_s) * 1e3)
    return f"{others} process{'' if others == 1 else 'es'}"


def show(domain: str, paths: Sequence[str], as_json: bool, timeout_s: float | None) -> None:
    """hyphos param list --shared"""
    with _shared(domain, timeout_s) as shared:
        found = {path: shared.get(path) for path in paths or [""]}
        if as_json:
            print_json(found if paths else found[""])
            return
        made = table("", ["parameter", "value"])
        for path, value in found.items():
            for leaf, _ in _leaves(path, value):
                made.add_row(leaf, short(_text(shared, leaf)))
        console().print(made)


def get(domain: str, path: str, as_json: bool, timeout_s: float | None) -> None:
    """hyphos param get --shared"""
    with _shared(domain, timeout_s) as shared:
        value = shared.get(path)
        if as_json:
            print_json({"path": path, "value": value})
        elif isinstance(value, str) and value.isprintable():
            print(value)
        else:
            print(_text(shared, path))


def assign(domain: str, words: Sequence[str], timeout_s: float | None) -> None:
    """hyphos param set --shared"""
    pairs = assignments(words)
    if len({path for path, _ in pairs}) < len(pairs):
        raise Error("invalid_config", "a path is given twice")
    with _shared(domain, timeout_s) as shared:
        before = {path: _text(shared, path) if path in shared else "" for path, _ in pairs}
        shared._core.set_yaml(pairs)
        where = _set_text(shared, timeout_s)
        for path, old in before.items():
            print(f"{path}: {old + ' → ' if old else ''}{_text(shared, path)}")
        print(f"set in {where}", file=sys.stderr)


def remove(domain: str, path: str, timeout_s: float | None) -> None:
    """hyphos param remove"""
    with _shared(domain, timeout_s) as shared:
        shared.remove(path)
        print(f"{path} is removed from {_set_text(shared, timeout_s)}")


def dump(domain: str, output: Path | None, timeout_s: float | None) -> None:
    """hyphos param dump --shared"""
    with _shared(domain, timeout_s) as shared:
        text = shared.yaml()
        count = sum(1 for _ in _leaves("", shared.tree()))
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise Error("io", f"cannot write the file: {error.strerror}", str(output)) from error
    print(f"{count} shared parameters in {output}", file=sys.stderr)


def load(domain: str, file: Path, timeout_s: float | None) -> None:
    """hyphos param load --shared"""
    count = sum(1 for _ in _leaves("", _hyphos.read_tree(str(file))))
    if count == 0:
        raise Error("invalid_config", "the file has no parameters", str(file))
    with _shared(domain, timeout_s) as shared:
        shared._core.set_file(str(file))
        where = _set_text(shared, timeout_s)
        print(f"{count} shared parameter{'' if count == 1 else 's'} set in {where}")


def watch(
    domain: str, paths: Sequence[str], count: int | None, as_json: bool, timeout_s: float | None
) -> None:
    """hyphos param watch --shared"""
    changes: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
    with stoppable() as stop, _shared(domain, timeout_s) as shared:
        for path in paths or [""]:
            shared.watch(changes.put, path)
        print(
            f"watching {', '.join(paths) or 'all shared parameters'}", file=sys.stderr, flush=True
        )
        printed = 0
        while not stop.now and (count is None or printed < count):
            try:
                changed = changes.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            for path in changed[: None if count is None else count - printed]:
                _print_change(shared, path, as_json)
                printed += 1


def _print_change(shared: SharedParams, path: str, as_json: bool) -> None:
    gone = path not in shared
    if as_json:
        print(json.dumps({"path": path, "value": shared.get(path, None), "gone": gone}), flush=True)
    else:
        print(f"{path} is gone" if gone else f"{path} = {_text(shared, path)}", flush=True)
