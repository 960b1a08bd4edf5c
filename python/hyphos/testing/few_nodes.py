"""A plan for a few nodes, for tests without a robot.yaml."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyphos.stepped import Make

Program = Make | str  # a class or function that takes the node, or "module:Class", "file.py:Class"


def write_plan(
    folder: Path, base: Path, nodes: Mapping[str, Program], params: Mapping[str, Mapping[str, Any]]
) -> tuple[Path, dict[str, Make]]:
    """Writes a plan, and returns it with the factories that it cannot name.

    Files in `nodes` are relative to `base`.
    """
    entries: dict[str, dict[str, Any]] = {}
    made_by: dict[str, Make] = {}
    for name, program in nodes.items():
        entry = entries[name] = {}
        if isinstance(program, str):
            file, colon, kind = program.partition(":")
            at = str((base / file).resolve()) if file.endswith(".py") else file
            entry["python"] = f"{at}{colon}{kind}"
        else:
            made_by[name] = program
        if name in params:
            entry["params"] = dict(params[name])
    plan = folder / "robot.yaml"
    plan.write_text(json.dumps({"hyphos": 1, "nodes": entries}, indent=2) + "\n")
    return plan, made_by
