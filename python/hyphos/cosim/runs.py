"""One run of a scenario by the native program, and the recorded part of its result."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos.supervise.guard import dying_with_parent
from hyphos.tools.native import program

# Limits of a method or a radio are a result. Any other failure ends an experiment.
_CANNOT = ("idle deadlock", "non-positive window", "time overflow")

# Of equation 2, in the order in which a message meets them.
DELAY_PARTS = ("processing", "queueing", "retransmission", "transmission", "propagation")

_ATTEMPTS = 3  # on a busy machine a simulator may miss its time limit


@dataclass(frozen=True)
class Ran:
    """`told` is the output of `--json`. None if the scenario could not run to its end."""

    told: dict[str, Any] | None
    failure: str = ""
    seconds: float = 0.0  # real time, with the start of the process
    packets: str = ""  # the output of `--csv`, if it was requested


class Native:
    """Runs scenarios, each in a process of its own. `stop` ends the current runs, for example from
    a signal handler. Thread-safe.

    A run dies with the thread that started it, so a killed experiment leaves no process behind.
    `scratch` is the folder for files of the current runs.
    """

    def __init__(self, scratch: Path | None = None) -> None:
        self._program = program("cosim", "hyphos-cosim")
        self._scratch = scratch
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stop = threading.Event()

    def has(self, adapter: str) -> bool:
        return (self._program.parent / f"hyphos-cosim-{adapter}.so").exists()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        with self._lock:
            self._stop.set()
            for running in self._running:
                running.terminate()

    def check(self, scenario: Path, settings: Sequence[str], cells: str = "") -> dict[str, Any]:
        """Returns the names of a scenario. `cells` has the settings of a run in each line,
        separated by tabs. Raises Error with all mistakes.
        """
        with tempfile.TemporaryDirectory(prefix="hyphos-cosim-") as folder:
            path = Path(folder) / "cells"
            path.write_text(cells)
            words = [str(self._program), "check", str(scenario), *_set(settings)]
            words += ["--vary", str(path)] if cells else []
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            raise Error("invalid_config", "\n".join(lines[:-1] or lines))
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def run(
        self,
        scenario: Path,
        seed: int,
        method: str = "",
        settings: Sequence[str] = (),
        packets: bool = False,
    ) -> Ran | None:
        """Returns None if the run was stopped. With `packets`, the result has the fate of every
        copy of every packet. Raises Error if the scenario or the machine is at fault.
        """
        words = [str(scenario), "--seed", str(seed), "--python", sys.executable, *_set(settings)]
        words += ["--method", method] if method else []
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._run(words, packets)
            except Error as error:
                if error.code != "timeout":
                    raise
        return self._run(words, packets)

    def _run(self, words: list[str], packets: bool) -> Ran | None:
        with tempfile.TemporaryDirectory(prefix="hyphos-cosim-", dir=self._scratch) as folder:
            path, rows = Path(folder) / "run.json", Path(folder) / "packets.csv"
            outputs = ["--json", str(path)] + (["--csv", str(rows)] if packets else [])
            begun = time.monotonic()
            with self._lock:
                if self._stop.is_set():
                    return None
                # Ctrl-C is for the experiment, which ends its runs.
                running = subprocess.Popen(
                    dying_with_parent([str(self._program), "run", *words, *outputs]),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
                self._running.add(running)
            try:
                _, err = running.communicate()
            finally:
                with self._lock:
                    self._running.discard(running)
            if self._stop.is_set():
                return None
            if running.returncode != 0:
                return _failed(err.strip(), words[0], running.returncode)
            told: dict[str, Any] = json.loads(path.read_text())
            fates = rows.read_text() if packets else ""
            return Ran(told, "", time.monotonic() - begun, fates)


def _set(settings: Sequence[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def _failed(err: str, scenario: str, code: int) -> Ran:
    first = err.splitlines()[0] if err else f"no error text, exit code {code}"
    if any(word in err for word in _CANNOT):
        return Ran(None, first)
    kind = "timeout" if first.endswith("[timeout]") else "internal"
    raise Error(kind, f"a run failed: {first}", scenario, "hyphos cosim run shows all output")


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
        **{f"{part}_ms": one["delay_parts_ms"][part] for part in DELAY_PARTS},
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


def fates_of(packets: str) -> str:
    """The fates in the output of `--csv` as a hexadecimal number: a bit for each copy of each
    packet, 1 if the copy was delivered. The order is that of packets and receivers, so two runs
    with the same traffic can be compared. An additional 1 in front keeps the length.
    """
    rows = csv.DictReader(packets.splitlines())
    copies = sorted((int(r["packet"]), int(r["to"]), r["fate"] == "delivered") for r in rows)
    return f"{int('1' + ''.join(str(int(copy[2])) for copy in copies), 2):x}"


def different_fates(one: str, other: str) -> float:
    """The share of copies with different fates in two runs with the same traffic. NaN if the
    traffic differs.
    """
    a, b = int(one or "0", 16), int(other or "0", 16)
    copies = a.bit_length() - 1
    if copies < 1 or b.bit_length() != a.bit_length():
        return math.nan
    return (a ^ b).bit_count() / copies


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
