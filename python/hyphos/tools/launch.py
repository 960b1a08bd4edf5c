"""hyphos run: starts what a plan names, shows what it does, and ends it in order."""

from __future__ import annotations

import ipaddress
import itertools
import json
import os
import queue
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.tools.children import Child, Children, Command
from hyphos.tools.live import LiveView
from hyphos.tools.observe import look
from hyphos.tools.report import Report
from hyphos.tools.waiting import on_signals

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")
_REFRESH_S = 0.5
_WARM_UP_S = 1.0  # rates in a report are counted from here
_PRINT_EVERY_S = 5.0  # where there is no terminal to redraw


@dataclass
class LaunchOptions:
    file: Path
    live: bool
    seconds: float | None
    settings: Sequence[str]
    only: Sequence[str]
    hosts: Sequence[str]
    logs: Path | None
    record: bool
    keep_going: bool
    grace_s: float
    quiet: bool
    report: Path | None = None
    pictures: Sequence[Path] = ()
    state: Path | None = None  # where nodes of this run leave what a restart takes over


@dataclass
class _Choice:
    """Which processes of the plan to start here, and why not the others."""

    here: list[dict[str, Any]] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


def _is_here(address: str) -> bool:
    """Whether the address belongs to this machine: a socket can be bound to it."""
    if not address or address in ("localhost", socket.gethostname()):
        return True
    try:
        info = socket.getaddrinfo(address, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    for family, kind, _, _, where in info:
        if ipaddress.ip_address(where[0]).is_loopback:
            return True
        with socket.socket(family, kind) as probe:
            try:
                probe.bind(where)
            except OSError:
                continue
            return True
    return False


def _choose(plan: dict[str, Any], options: LaunchOptions) -> _Choice:
    names = [process["name"] for process in plan["processes"]]
    hosts = {host["name"]: host for host in plan["hosts"]}
    for wanted, there, what in (
        (options.only, names, "process"),
        (options.hosts, list(hosts), "host"),
    ):
        for name in wanted:
            if name not in there:
                raise Error(
                    "not_found",
                    f"the plan has no {what} '{name}'; it has {', '.join(there)}",
                    str(options.file),
                )
    choice = _Choice()
    for process in plan["processes"]:
        host = hosts.get(process["host"], {"name": "", "address": "", "netns": ""})
        if options.only and process["name"] not in options.only:
            continue
        if options.hosts:
            if process["host"] in options.hosts:
                choice.here.append(process)
        elif len(hosts) <= 1 or host["netns"] or _is_here(host["address"]):
            choice.here.append(process)
        else:
            choice.elsewhere.append(
                f"process '{process['name']}' belongs to {host['name']} ({host['address']}): "
                f"start it there with: hyphos run {options.file} --host {host['name']}"
            )
    return choice


def find_host_program() -> str:
    """The C++ host: beside the package (installed), in a build tree, or on PATH."""
    package = Path(__file__).resolve().parent.parent
    binary = Path(os.path.realpath(sys.modules["hyphos._hyphos"].__file__ or "")).parent
    places = [package, binary, *itertools.islice(binary.parents, 3)]
    for place in places:
        for candidate in (place / "hyphos-host", place / "node" / "hyphos-host"):
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    found = shutil.which("hyphos-host")
    if found is None:
        raise Error(
            "not_found",
            "the program hyphos-host, which runs C++ plug-ins, is missing",
            advice="make build, or put it on PATH",
        )
    return found


def _command(
    loaded: Plan, plan: dict[str, Any], process: dict[str, Any], options: LaunchOptions
) -> Command:
    arguments = ["--hyphos-plan", str(options.file.resolve()), "--hyphos-process", process["name"]]
    if options.state is not None:
        arguments += ["--hyphos-state", str(options.state)]
    for setting in options.settings:
        arguments += ["--hyphos-set", setting]
    nodes = [node for node in plan["nodes"] if node["process"] == process["name"]]
    if process["kind"] == "executable":
        node = next(node for node in nodes if node["kind"] == "executable")
        words = [loaded.program_file(node["name"]), *node["args"], *arguments]
    elif process["kind"] == "python":
        words = [sys.executable, "-u", "-m", "hyphos.host", *arguments]
    else:
        words = [find_host_program(), *arguments]
    netns = next((h["netns"] for h in plan["hosts"] if h["name"] == process["host"]), "")
    if netns:
        words = [*_enter(netns, process["name"]), *words]
    env = dict(process["env"])
    env.setdefault("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    return Command(process["name"], words, env, Path(plan["directory"] or ".").resolve())


def _enter(netns: str, process: str) -> list[str]:
    # Not `ip netns exec`: it mounts, which a chroot or a container may not let it.
    program = shutil.which("nsenter")
    if program is None:
        raise Error(
            "unsupported",
            f"process '{process}' runs in network namespace '{netns}', which needs `nsenter`",
            advice="apt install util-linux",
        )
    if not Path("/run/netns", netns).exists():
        raise Error(
            "not_found",
            f"network namespace '{netns}' of process '{process}' does not exist",
            advice=f"make it first, as root: ip netns add {netns}",
        )
    return [program, f"--net=/run/netns/{netns}"]


def _recorder(plan: dict[str, Any], options: LaunchOptions) -> Command | None:
    if not options.record:
        return None
    record = plan["record"]
    folder = Path(plan["directory"] or ".").resolve()
    words = [sys.executable, "-m", "hyphos", "record", "--quiet", "--overwrite"]
    words += ["--domain", plan["domain"], "--output", str(folder / record["path"])]
    words += ["--plan", str(options.file.resolve())]
    words += [] if record["all"] or not record["enabled"] else list(record["channels"])
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return Command("record", words, env, folder)


class _Printer:
    """Output of the processes, each line behind the coloured name of its process."""

    def __init__(self, console: Console, names: Sequence[str], quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._width = max(map(len, names), default=0)
        self._colours = dict(zip(names, itertools.cycle(_COLOURS), strict=False))

    def __call__(self, name: str, line: bytes) -> None:
        if self._quiet:
            return
        text = Text(f"{name:<{self._width}} │ ", self._colours.get(name, "white"))
        text.append_text(Text.from_ansi(line.decode(errors="replace")))
        self._console.print(text, soft_wrap=True)

    def tell(self, text: str, style: str = "dim") -> None:
        self._console.print(Text(text, style), soft_wrap=True)


class _Run:
    """One run of a plan, from the first process to the last."""

    def __init__(
        self, commands: list[Command], domain: str, options: LaunchOptions, report: Report | None
    ) -> None:
        self._options = options
        self._domain = domain
        self._sheet = report
        self._commands = commands
        self._console = Console(highlight=False)
        self._print = _Printer(self._console, [c.name for c in commands], options.quiet)
        self._logs = options.logs or Path(tempfile.mkdtemp(prefix="hyphos-run-"))
        self._logs.mkdir(parents=True, exist_ok=True)
        self._children = Children(self._logs, self._print)
        self._view = LiveView(domain, self._console, self._children.all) if options.live else None
        self._stopping = False

    def __call__(self) -> int:
        began = time.monotonic()
        with on_signals(self._children.events.put):
            try:
                for command in self._commands:
                    child = self._children.start(command)
                    self._print.tell(f"started {child.name} (pid {child.pid})")
                self._print.tell(f"logs in {self._logs}")
                with self._view or _NoView():
                    self._watch()
                self._look_for_report()  # counters go with their processes
            finally:
                self._children.stop(self._options.grace_s)
        self._write_report(time.monotonic() - began)
        return self._report()

    def _look_for_report(self) -> None:
        if self._sheet is None:
            return
        try:
            seen = look(self._domain)
        except Error:
            return  # nobody is there yet, or no longer
        if self._sheet.before is None:
            self._sheet.before = seen
        self._sheet.now = seen

    def _write_report(self, seconds: float) -> None:
        if self._sheet is None or self._options.report is None:
            return
        self._sheet.seconds = seconds
        self._sheet.write(self._options.report)
        self._print.tell(f"report: {self._options.report}")

    def _watch(self) -> None:
        """Returns when it is time to stop: a signal, the time limit, a failure, or nobody left."""
        began = time.monotonic()
        printed = began
        awaited = len(self._children.all)  # whose end is still to be told
        while awaited:
            event = self._next_event(began)
            if isinstance(event, int):
                self._print.tell("stopping")
                return
            if isinstance(event, Child):
                awaited -= 1
                if self._ended(event):
                    return
            now = time.monotonic()
            if self._options.seconds is not None and now - began >= self._options.seconds:
                return
            if self._sheet is not None and self._sheet.before is None and now - began >= _WARM_UP_S:
                self._look_for_report()
            if self._view is not None:
                self._view.refresh()
                if not self._console.is_terminal and now - printed >= _PRINT_EVERY_S:
                    self._view.print()
                    printed = now

    def _next_event(self, began: float) -> Child | int | None:
        watching = self._view is not None or self._sheet is not None
        patience: float | None = _REFRESH_S if watching else None
        if self._options.seconds is not None:
            left = max(0.0, began + self._options.seconds - time.monotonic())
            patience = left if patience is None else min(left, patience)
        try:
            return self._children.events.get(timeout=patience)
        except queue.Empty:
            return None

    def _ended(self, child: Child) -> bool:
        """Tells of it. True if the others must end too."""
        if child.failed:
            self._print.tell(f"{child.name} {child.state}; see {self._log_of(child)}", "bold red")
            return not self._options.keep_going
        self._print.tell(f"{child.name} {child.state}")
        return False

    def _log_of(self, child: Child) -> Path:
        return self._logs / f"{child.name}.log"

    def _report(self) -> int:
        if self._view is not None:
            self._view.print()
        failed = [child for child in self._children.all if child.failed or child.running]
        for child in failed:
            self._print.tell(f"{child.name}: {child.state}; see {self._log_of(child)}", "bold red")
        return 1 if failed else 0


class _NoView:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def launch(options: LaunchOptions) -> int:
    """Runs the plan. 0 if every process ended well."""
    loaded = Plan.load(str(options.file), list(options.settings), True)
    for warning in loaded.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    plan = json.loads(loaded.json())
    choice = _choose(plan, options)
    with tempfile.TemporaryDirectory(prefix="hyphos-state-") as state:
        options.state = Path(state)
        return _launch(loaded, plan, choice, options)


def _launch(loaded: Plan, plan: dict[str, Any], choice: _Choice, options: LaunchOptions) -> int:
    for note in choice.elsewhere:
        print(note, file=sys.stderr)
    commands = [_command(loaded, plan, process, options) for process in choice.here]
    recorder = _recorder(plan, options)
    if recorder is not None:
        commands.append(recorder)
    if not commands:
        raise Error("invalid_config", "the plan has no process to start here", str(options.file))
    report = None
    if options.report is not None:
        title = f"{plan['robot']}: {options.file.stem}"
        report = Report(title, loaded.dot(), 0.0, pictures=options.pictures)
    return _Run(commands, plan["domain"], options, report)()
