"""One run of a scenario by the native program, and the recorded part of its result."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.tools.native import program

# Limits of a method or a radio are a result. Any other failure ends an experiment.
_CANNOT = ("idle deadlock", "non-positive window", "time overflow")

_ATTEMPTS = 3  # on a busy machine a simulator may miss its time limit


@dataclass(frozen=True)
class Ran:
    """`told` is the output of `--json`. None if the scenario could not run to its end."""

    told: dict[str, Any] | None
    failure: str = ""


class Native:
    """Runs scenarios one after the other. `stop` ends the current run, for example from a signal
    handler.
    """

    def __init__(self) -> None:
        self._program = program("cosim", "hyphos-cosim")
        self._running: subprocess.Popen[str] | None = None
        self.stopped = False

    def has(self, adapter: str) -> bool:
        return (self._program.parent / f"hyphos-cosim-{adapter}.so").exists()

    def stop(self) -> None:
        self.stopped = True
        if self._running is not None:
            self._running.terminate()

    def run(self, scenario: Path, seed: int, method: str = "") -> Ran | None:
        """Returns None if the run was stopped. Raises Error if the scenario or the machine is at
        fault.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._run(scenario, seed, method)
            except Error as error:
                if error.code != "timeout":
                    raise
        return self._run(scenario, seed, method)

    def _run(self, scenario: Path, seed: int, method: str) -> Ran | None:
        with tempfile.TemporaryDirectory(prefix="hyphos-cosim-") as folder:
            path = Path(folder) / "run.json"
            words = [str(self._program), "run", str(scenario), "--seed", str(seed)]
            words += ["--json", str(path)] + (["--method", method] if method else [])
            # Ctrl-C is for the experiment, which ends its run.
            running = subprocess.Popen(
                words,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            self._running = running
            if self.stopped:  # stopped meanwhile
                running.terminate()
            _, err = running.communicate()
            self._running = None
            if self.stopped:
                return None
            if running.returncode != 0:
                return _failed(err.strip(), scenario)
            told: dict[str, Any] = json.loads(path.read_text())
            return Ran(told)


def _failed(err: str, scenario: Path) -> Ran:
    first = err.splitlines()[0] if err else "no error text"
    if any(word in err for word in _CANNOT):
        return Ran(None, first)
    code = "timeout" if first.endswith("[timeout]") else "internal"
    raise Error(code, f"a run failed: {first}", str(scenario), "hyphos cosim run shows all output")


def figures(told: dict[str, Any], flow: str) -> dict[str, float]:
    """The numbers of a run that an experiment compares: the figures of one flow and of the run."""
    one = next((f for f in told["flows"] if f["name"] == flow), None)
    if one is None:
        raise Error("not_found", f"the run has no flow '{flow}'", told["scenario"])
    packets, bounds, windows = told["packets"], told["bounds"], told["windows"]
    profile = told["profile"]
    found = {
        "loss_percent": _times(one["loss"], 100),
        "delay_ms": one["delay_ms"]["mean"],
        # The sum over all messages, assuming that lost messages resemble the delivered ones.
        "delay_sum_s": _times(one["delay_ms"]["mean"], one["messages"] * 1e-3),
        "read_delay_ms": one["read_delay_ms"]["mean"],
        "delay_p95_ms": one["delay_ms"]["p95"],
        "took_ms": one["took_ms"],
        "messages": one["messages"],
        "delivered": one["delivered"],
        "repeats": one["repeats"],
        "packets_sent": packets["sent"],
        "packets_delivered": packets["delivered"],
        "packets_dropped": sum(packets["dropped"].values()),
        "packets_in_flight": packets["in_flight"],
        "windows": windows["count"],
        "network_syncs": windows["network_syncs"],
        "window_shortest_ms": _times(windows["shortest_ns"], 1e-6),
        "window_longest_ms": _times(windows["longest_ns"], 1e-6),
        "bound_latency_ms": _times(bounds["latency_ns"], 1e-6),
        "bound_position_m": bounds["position_m"],
        "bound_power_db": bounds["power_db"],
        "real_ms": _times(profile["total_ns"], 1e-6),
        "times_real": told["end_ns"] / max(profile["total_ns"], 1),
    }
    return {name: math.nan if value is None else float(value) for name, value in found.items()}


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
