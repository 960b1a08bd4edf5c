"""Runs one process of a plan that has Python nodes: `python -m hyphos.host --hyphos-plan robot.yaml
--hyphos-process perception`. Also loads the C++ plug-ins of the same process.

The plan names a Python node `module:Class` or `file.py:Class`. The host creates the class with one
argument, its `hyphos.Node`. The class may have a `close()`, and the object lives until the process
stops. A function may replace the class: the host calls it in the same way and keeps the result.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

if __name__ == "__main__":
    # A stop request takes effect in main(), not in the middle of an import. The launcher blocks the
    # same signals already, except for a process with a `prefix`.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))

from hyphos._errors import Error, own_frames
from hyphos._hyphos import Plan
from hyphos.node import Node, Runtime


class SetUpError(Error):
    """An exception left the module or the constructor of a node. It is the cause of this one."""


def _option(argv: list[str], name: str) -> list[str]:
    found = []
    for index, word in enumerate(argv):
        if word == name and index + 1 < len(argv):
            found.append(argv[index + 1])
        elif word.startswith(name + "="):
            found.append(word.removeprefix(name + "="))
    return found


def _import_file(program: str) -> ModuleType:
    """Imports a file that the plan names. Relative paths start beside the plan (sys.path[0])."""
    path = Path(sys.path[0]) / program
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ModuleNotFoundError(f"file {path} not found")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _load(program: str, class_name: str, where: str) -> Any:
    try:
        module = _import_file(program) if program.endswith(".py") else import_module(program)
    except ModuleNotFoundError as error:
        raise Error(
            "not_found",
            f"cannot import Python module '{program}': {error}. Modules are found beside the plan "
            "and on PYTHONPATH",
            where,
        ) from error
    if class_name:
        if not hasattr(module, class_name):
            near = get_close_matches(class_name, vars(module), 1)
            hint = f". Did you mean '{near[0]}'?" if near else ""
            raise Error("not_found", f"module '{program}' has no '{class_name}'{hint}", where)
        return getattr(module, class_name)
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise Error(
            "invalid_config",
            f"'{program}' defines {len(classes)} classes: name one, 'python: {program}:Class'",
            where,
        )
    return classes[0]


def load_node(entry: dict[str, Any], where: str) -> Any:
    """Returns the factory of a Python node. `entry` is the node in the JSON of the plan."""
    return _load(entry["program"], entry.get("python_class", ""), where)


def make_nodes(
    runtime: Runtime, file: str, settings: list[str], made: list[tuple[Node, Any]] | None = None
) -> list[tuple[Node, Any]]:
    """Creates the nodes that a plan has for this process, including C++ plug-ins.

    Returns each Python node with its object. Also appends each pair to `made` as soon as it exists,
    so that a caller can close the earlier nodes if a later one fails.
    """
    made = [] if made is None else made
    plan = json.loads(Plan.load(file, settings, False).json())
    os.environ.setdefault("HYPHOS_PYTHON", sys.executable)  # gateways run hyphos with it
    sys.path.insert(0, str(Path(file).resolve().parent))
    entries = {entry["name"]: entry for entry in plan["nodes"] if entry["kind"] == "python"}
    for name, entry in entries.items():
        if runtime._core.hosts(name):
            make_node(runtime, entry, made)
    runtime.load_plugins()

    def change(name: str, run: bool) -> None:
        if run:
            make_node(runtime, entries[name], made)
        else:
            end_node(name, made)

    runtime._core.set_node_host(change)
    return made


def make_node(runtime: Runtime, entry: dict[str, Any], made: list[tuple[Node, Any]]) -> None:
    """Creates one Python node, and appends it with its object to `made`."""
    with _named(entry, "could not be imported"):
        make = load_node(entry, entry["source"])
    node = runtime.node(entry["name"])
    made.append((node, None))
    try:
        with _named(entry, "could not be set up"):
            made[-1] = (node, make(node))
    except SetUpError:
        node.close()
        raise


def end_node(name: str, made: list[tuple[Node, Any]]) -> None:
    """Closes a node of `made` and its object, and removes them."""
    for pair in [pair for pair in made if pair[0].name == name]:
        made.remove(pair)
        node, thing = pair
        node.close()
        if hasattr(thing, "close"):
            thing.close()


@contextmanager
def _named(entry: dict[str, Any], what: str) -> Iterator[None]:
    """Names the node and its place in the plan in an exception of the user's code."""
    try:
        yield
    except SetUpError:
        raise
    except Error as error:
        if what == "could not be imported" and error.where == entry["source"]:
            raise  # an error of load_node(), which names both
        text = f"node '{entry['name']}' {what}: {error}"
        raise SetUpError(error.code, text, entry["source"], error.advice) from error
    except Exception as error:
        last = traceback.format_exception_only(error)[-1].strip()
        text = f"node '{entry['name']}' {what}: {last}"
        advice = "correct the line above"
        raise SetUpError("invalid_config", text, entry["source"], advice) from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raises KeyboardInterrupt on Ctrl-C, at the latest at the end of the block.

    CPython discards an exception that leaves a finalizer or a callback of its import machinery, so
    a KeyboardInterrupt there alone would not end the process.
    """
    pressed = False

    def note(_number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        if frame is None or not frame.f_code.co_filename.startswith("<frozen importlib"):
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is note:  # not a handler of a node
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


def run(argv: list[str]) -> int:
    """Opens the runtime from the arguments, creates the nodes and spins. Returns the exit code."""
    files = _option(argv, "--hyphos-plan")
    if not files:
        raise Error("invalid_config", "missing plan: give --hyphos-plan FILE --hyphos-process NAME")
    runtime = Runtime.open(argv)
    made: list[tuple[Node, Any]] = []
    try:
        with _interruptible():
            make_nodes(runtime, files[-1], _option(argv, "--hyphos-set"), made)
        return runtime.spin()
    finally:
        runtime._core.set_node_host(None)
        for node, _ in made:
            node.close()
        for _, thing in made:
            if hasattr(thing, "close"):
                thing.close()


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    try:
        # Blocked by this module or by the launcher.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
        sys.exit(run(sys.argv))
    except KeyboardInterrupt:  # before spin(), which handles Ctrl-C itself
        sys.exit(130)
    except Error as error:
        if isinstance(error, SetUpError) and error.__cause__ is not None:
            print(own_frames(error.__cause__), file=sys.stderr)
        sys.exit(f"error: {error}" + (f"\n  {error.advice}" if error.advice else ""))


if __name__ == "__main__":
    main()
