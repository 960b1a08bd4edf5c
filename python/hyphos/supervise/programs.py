"""Checks the programs of a plan's nodes before anything starts, without importing them."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

Problem = tuple[dict[str, Any], str]  # the node in the plan's JSON, and the problem


def notes_of(plan: dict[str, Any], processes: Iterable[dict[str, Any]]) -> list[str]:
    """One line for each node that `hyphos run` starts no program for.

    An executable creates the nodes that share its process, so those have no line.
    """
    notes = []
    for process in processes:
        nodes = [node for node in plan["nodes"] if node["process"] == process["name"]]
        if process["kind"] == "executable":
            continue
        alone = all(node["kind"] == "external" for node in nodes)
        for node in nodes:
            if node["kind"] != "external":
                continue
            empty = f", and process '{process['name']}' starts without a node" if alone else ""
            notes.append(
                f"node '{node['name']}' has no plugin, python, executable or gateway, so no "
                f"program is started for it{empty}. Start it by hand with --hyphos-plan "
                f"{plan['file'] or 'FILE'} --hyphos-process {process['name']}"
            )
    return notes


def python_problems(plan: dict[str, Any], processes: Iterable[dict[str, Any]]) -> list[Problem]:
    """Python nodes whose module, file or class does not exist."""
    found = []
    for process in processes:
        folders = _folders(plan, process)
        for node in plan["nodes"]:
            if node["process"] == process["name"] and node["kind"] == "python":
                problem = _problem(node["program"], node.get("python_class", ""), folders)
                if problem:
                    found.append((node, problem))
    return found


def _folders(plan: dict[str, Any], process: dict[str, Any]) -> list[str]:
    """The folders in which hyphos.host searches modules, in its order."""
    given = process["env"].get("PYTHONPATH") if isinstance(process["env"], dict) else None
    own = given.split(os.pathsep) if given else []
    return [str(Path(plan["directory"] or ".").resolve()), *own, *sys.path]


def _spec(module: str, folders: Sequence[str]) -> ModuleSpec | None:
    first, *rest = module.split(".")
    spec = PathFinder.find_spec(first, list(folders))
    if spec is None and first not in sys.modules:
        try:
            spec = importlib.util.find_spec(first)  # through import hooks of installed packages
        except (ImportError, ValueError):
            spec = None
    name = first
    for word in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{word}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return spec


def _source(program: str, folders: Sequence[str]) -> tuple[Path | None, str]:
    """The file of a module, or the problem. (None, "") without a source to check."""
    if program.endswith(".py"):
        path = Path(folders[0]) / program
        return (path, "") if path.is_file() else (None, f"file {path} not found")
    if program.split(".", maxsplit=1)[0] in sys.builtin_module_names:
        return None, ""
    spec = _spec(program, folders)
    if spec is not None:
        path = Path(spec.origin or "")
        return (path, "") if path.suffix == ".py" and path.is_file() else (None, "")
    if program.split(".", maxsplit=1)[0] in sys.modules:
        return None, ""
    beside = [one.stem for one in Path(folders[0]).glob("*.py")]
    near = get_close_matches(program, beside, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    text = (
        f"cannot import Python module '{program}': it is neither beside the plan nor on "
        f"PYTHONPATH{hint}"
    )
    return None, text


def _problem(program: str, name: str, folders: Sequence[str]) -> str:
    path, problem = _source(program, folders)
    if path is None:
        return problem
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return f"{path}{f':{line}' if line else ''}: {getattr(error, 'msg', None) or error}"
    except OSError as error:
        return f"{path}: {error.strerror}"
    top = list(_top_level(tree.body))
    return _missing_name(program, name, top) if name else _not_one_class(program, tree, top)


def _not_one_class(program: str, tree: ast.Module, top: Sequence[ast.stmt]) -> str:
    classes = [one.name for one in top if isinstance(one, ast.ClassDef)]
    if not classes:
        return (
            f"'{program}' defines no class, so there is no node to create: {_remedy(program, tree)}"
        )
    if len(classes) == 1:
        return ""
    named = ", ".join(classes)
    return (
        f"'{program}' defines {len(classes)} classes ({named}): name one, 'python: {program}:Class'"
    )


def _remedy(program: str, tree: ast.Module) -> str:
    spins = any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr == "spin"
        for one in ast.walk(tree)
    )
    if spins:
        file = program if program.endswith(".py") else program.replace(".", "/") + ".py"
        return (
            "it is a program with spin(). Write executable: python3 with args: "
            f"[{file}], or change it to a class that takes the node"
        )
    return f"write a class that takes the node, and python: {program}:CLASS"


def _top_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when the module is imported, including those in if, try and with."""
    for one in body:
        yield one
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(one, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _top_level(getattr(one, part, []) or [])
        for handler in getattr(one, "handlers", []):
            yield from _top_level(handler.body)


def _missing_name(program: str, name: str, top: Sequence[ast.stmt]) -> str:
    names: set[str] = set()
    for one in top:
        if isinstance(one, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(one.name)
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in one.names}
        else:
            names |= {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
    if name in names or {"*", "__getattr__"} & names:
        return ""
    defined = [one.name for one in top if isinstance(one, (ast.ClassDef, ast.FunctionDef))]
    near = get_close_matches(name, defined, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"it defines {', '.join(defined) or 'nothing'}"
    return f"'{program}' has no '{name}'; {hint}"
