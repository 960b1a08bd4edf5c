"""Information about the robot in a recording, besides messages: plan, parameters, machine."""

from __future__ import annotations

import json
import os
import platform
import socket
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Plan, Recorder

SESSION = "hyphos.session"
PARAMS = "hyphos.params"
PLAN_FILE = "robot.yaml"
PLAN_JSON = "plan.json"


def describe_session(recorder: Recorder, domain: str, plan: Path | None) -> None:
    """Attaches the plan, as written and as parsed, and describes this run."""
    recorder.describe(
        SESSION,
        {
            "domain": domain,
            "host": socket.gethostname(),
            "system": platform.platform(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "command": " ".join(sys.argv),
            "pid": str(os.getpid()),
        },
    )
    if plan is None:
        return
    try:
        text = plan.read_bytes()
    except OSError as error:
        raise Error("not_found", error.strerror or str(error), str(plan)) from error
    now = time.time_ns()
    understood = Plan.load(str(plan), [], False).json()
    recorder.attach(PLAN_FILE, "application/yaml", text, now, now)
    recorder.attach(PLAN_JSON, "application/json", understood.encode(), now, now)
    values = {
        node["name"]: json.dumps(node["params"], sort_keys=True)
        for node in json.loads(understood)["nodes"]
        if node.get("params")
    }
    if values:
        recorder.describe(f"{PARAMS}.plan", values)


def live_parameters() -> Callable[[Any, str], dict[str, str]] | None:
    """A function that reads the parameters of running nodes, or None if this Hyphos has no
    parameters. It maps (node, domain) to JSON by node name."""
    try:
        module = import_module("hyphos.params")
    except ModuleNotFoundError:
        return None

    def read(node: Any, domain: str) -> dict[str, str]:
        found = {}
        for name in module.nodes_with_params(domain):
            remote = node.remote_params(name)
            try:
                remote.wait(2000)
                values = {info.name: info.value for info in remote.values().infos}
            except Error:  # the node has ended meanwhile
                continue
            found[name] = json.dumps(values, sort_keys=True, default=repr)
        return found

    return read
