"""`hyphos cosim emulate`: starts the programs of a scenario, watches them, and reports the run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from hyphos._errors import Error
from hyphos.cosim.emulation import Emulation, Ways, with_addresses
from hyphos.cosim.emulation_text import doubt_lines, rehearsal_lines, summary_lines
from hyphos.cosim.mesh import Daemons
from hyphos.lab.machine import describe_machine
from hyphos.lab.reaper import NETNS

INVALID = 3
INTERRUPTED = 130
_LOOK_S = 0.1


@dataclass(frozen=True)
class Wanted:
    scenario: Path
    ways: Ways = field(default_factory=Ways)
    on: str | None = None  # the robot that runs `command`; None: the first
    command: tuple[str, ...] = ()
    json: Path | None = None
    quiet: bool = False


@dataclass
class _Programs:
    """The processes that run on the robots."""

    own: dict[str, subprocess.Popen[str]] = field(default_factory=dict)  # from the scenario
    command: subprocess.Popen[str] | None = None
    readers: list[threading.Thread] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)  # robots whose routing daemon has ended

    def codes(self) -> dict[str, int | None]:
        """Exit codes by robot. None: still running."""
        return {name: running.poll() for name, running in self.own.items()}

    def tell_failures(self, daemons: Daemons | None) -> None:
        for name, code in self.codes().items():
            if code and name not in self.told:
                self.told.add(name)
                print(f"the program of {name} ended with code {code}", file=sys.stderr)
        for name, code in daemons.codes().items() if daemons is not None else ():
            if code is not None and name not in self.lost:
                assert daemons is not None
                self.lost.add(name)
                print(daemons.obituary(name), file=sys.stderr)

    def ended(self) -> bool:
        """True if there is no reason to continue."""
        if self.command is not None:
            return self.command.poll() is not None
        return bool(self.own) and all(p.poll() is not None for p in self.own.values())


def emulate(wanted: Wanted) -> int:
    """Runs the emulation. Returns the exit code."""
    with _signals_as_ctrl_c():
        running = Emulation(wanted.scenario, wanted.ways)
        names = [robot.name for robot in running.described.robots]
        if wanted.on is not None and wanted.on not in names:
            raise Error(
                "not_found", f"unknown robot '{wanted.on}'", "--on", advice=", ".join(names)
            )
        programs = _Programs()
        try:
            with running:
                summary, interrupted = _run(wanted, running, programs)
        finally:
            for reader in programs.readers:
                reader.join()
    _report(wanted, summary)
    if not summary["valid"]:
        return INVALID
    if interrupted:
        return INTERRUPTED
    lost_daemon = any(code is not None for code in summary["daemons"].values())
    if wanted.command:
        code = summary["command"] or int(lost_daemon)
        return 128 - code if code < 0 else int(code)
    return int(lost_daemon or any(summary["programs"].values()))


def _run(wanted: Wanted, running: Emulation, programs: _Programs) -> tuple[dict[str, Any], bool]:
    interrupted = False
    try:
        if not wanted.quiet:
            _introduce(running)
        for line in doubt_lines(running.rehearsal):
            print(line, file=sys.stderr)
        running.begin()
        _start(wanted, running, programs)
        _watch(running, programs, shown=not wanted.quiet and sys.stderr.isatty())
    except KeyboardInterrupt:
        interrupted = True
    # Read the codes before this program ends the processes.
    codes, command = programs.codes(), programs.command and programs.command.poll()
    summary = running.end()
    return {**summary, "programs": codes, "command": command}, interrupted


def _introduce(running: Emulation) -> None:
    print("real time: the packets of real programs cross the simulated radio", file=sys.stderr)
    for name, host in running.hosts.items():
        where = f"nsenter --net={NETNS / host.namespace}"
        variables = running.bodies.variables.get(name, {})
        told = "".join(f"{key}={value} " for key, value in variables.items())
        print(f"  {name}  {host.address}  {told}{where} COMMAND", file=sys.stderr)
    for line in rehearsal_lines(running.rehearsal):
        print(line, file=sys.stderr)
    if running.described.routing.protocol == "babel":
        print("routing: a daemon on each robot (babeld)", file=sys.stderr)


def _start(wanted: Wanted, running: Emulation, programs: _Programs) -> None:
    folder = wanted.scenario.resolve().parent
    for robot in running.described.robots:
        if not robot.run:
            continue
        process = _start_on(
            running, robot.name, _words(robot.run, running), cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        programs.own[robot.name] = process
        assert process.stdout is not None
        reader = threading.Thread(target=_copy, args=(robot.name, process.stdout), daemon=True)
        reader.start()
        programs.readers.append(reader)
    if wanted.command:
        name = wanted.on or running.described.robots[0].name
        programs.command = _start_on(running, name, _words(wanted.command, running))


def _words(words: Sequence[str], running: Emulation) -> list[str]:
    words = with_addresses(words, running.hosts)
    # Use the interpreter of this program, wherever Hyphos is installed.
    return [sys.executable, "-m", "hyphos", *words[1:]] if words[0] == "hyphos" else words


def _start_on(running: Emulation, name: str, words: list[str], **how: Any) -> subprocess.Popen[str]:
    variables = running.bodies.variables.get(name, {})
    if variables:
        words = ["env", *(f"{key}={value}" for key, value in variables.items()), *words]
    return running[name].start(words, text=True, errors="replace", **how)


def _copy(name: str, lines: TextIO) -> None:
    with lines:
        for line in lines:
            sys.stdout.write(f"{name}: {line}")
            sys.stdout.flush()


def _watch(running: Emulation, programs: _Programs, *, shown: bool) -> None:
    """Waits until the time is over or no process is left."""
    try:
        while not running.over and not programs.ended():
            news = running.watch(_LOOK_S)
            if shown and news is not None and not running.over:
                _show(news, running.seconds)
            programs.tell_failures(running.daemons)
    finally:
        if shown:
            sys.stderr.write("\r\033[K")
        programs.tell_failures(running.daemons)


def _show(news: dict[str, Any], seconds: float) -> None:
    lag = news["lag"]
    sys.stderr.write(
        f"\r\033[K{news['seconds']:.1f} of {seconds:.1f} s in real time, {news['packets']} packets"
        f", lag p99 {lag['p99_ms']:.2f} ms, longest {lag['longest_ms']:.2f} ms"
    )
    sys.stderr.flush()


def _report(wanted: Wanted, summary: dict[str, Any]) -> None:
    for line in summary_lines(summary):
        print(line)
    if wanted.json is not None:
        text = json.dumps({**summary, "host": describe_machine(), "ended": time.time()}, indent=1)
        try:
            wanted.json.write_text(text + "\n")
        except OSError as error:
            raise Error(
                "io", f"the file cannot be written: {error.strerror}", str(wanted.json)
            ) from error


@contextmanager
def _signals_as_ctrl_c() -> Iterator[None]:
    """Treats other requests to end like Ctrl-C: `kill`, or a terminal that closes."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {n: signal.signal(n, interrupt) for n in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
