import json
import os
import queue
import subprocess
import sys
from pathlib import Path
from typing import Any

import hyphos
import pytest
from hyphos.msgs import DiagnosticArray, DiagnosticStatus

HERE = Path(__file__).parent
CPP = [str(HERE.parents[1] / "build/release/examples/17_diagnostics/diagnostics_battery")]
PYTHON = [sys.executable, str(HERE / "battery.py")]
PATIENCE_S = 60.0


def next_of_level(reports: queue.Queue[Any], level: int) -> Any:
    while True:
        for status in reports.get(timeout=PATIENCE_S).status:
            if status.level == level:
                return status


def shown(domain: str) -> dict[str, Any]:
    """The first line of `hyphos diagnostics` about the battery."""
    words = ["diagnostics", "--follow", "--json", "--for", str(PATIENCE_S), "-d", domain]
    command = [sys.executable, "-m", "hyphos", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        for line in program.stdout:
            found: dict[str, Any] = json.loads(line)
            if found["name"] == "battery: charge":
                program.terminate()
                return found
    raise AssertionError("no report was shown")


@pytest.mark.parametrize("program", [CPP, PYTHON], ids=["cpp", "python"])
def test_a_battery_reports_its_charge(program: list[str]) -> None:
    domain = f"diagnostics-{os.getpid()}"
    reports: queue.Queue[Any] = queue.Queue()
    with (
        subprocess.Popen([*program, "--hyphos-domain", domain]) as battery,
        hyphos.Node.open("viewer", domain=domain) as node,
    ):
        try:
            node.subscribe("diagnostics", DiagnosticArray, reports.put)
            full = next_of_level(reports, DiagnosticStatus.OK)
            remote = node.remote_params("battery")
            remote.wait(timeout_ms=PATIENCE_S * 1e3)
            remote.set({"volts": 21.5})
            low = next_of_level(reports, DiagnosticStatus.WARN)
            remote.set({"volts": 19.0})
            assert next_of_level(reports, DiagnosticStatus.ERROR).message == "empty"
            line = shown(domain)
        finally:
            battery.terminate()
    assert (full.name, full.message, full.hardware_id) == ("battery: charge", "charged", "SN 1205")
    assert [(pair.key, pair.value) for pair in low.values] == [("volts", "21.5")]
    assert (line["level"], line["message"], line["values"]) == ("error", "empty", {"volts": "19"})
