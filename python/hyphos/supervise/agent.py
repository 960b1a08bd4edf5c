"""The part of `hyphos run` on another machine.

It starts, watches and ends processes on commands from its standard input. It ends all of them when
the input closes or the link times out.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import Plan
from hyphos.observe import Look, look, states
from hyphos.supervise.commands import check_names, command_of
from hyphos.supervise.events import Event, to_message
from hyphos.supervise.guard import Guard
from hyphos.supervise.link import LINK_TIMEOUT_S, PROTOCOL, Sender, digest_of, messages
from hyphos.supervise.locks import Locks
from hyphos.supervise.place import LocalPlace
from hyphos.supervise.plan_types import plan_types, store
from hyphos.supervise.supervisor import Managed, Options, State, Supervisor
from hyphos.supervise.watcher import watch_of

_USAGE_S = 1.0
_GONE = {"do": "gone"}


class _Agent:
    """Handles commands and events of one queue in the main thread, which starts the processes."""

    def __init__(
        self,
        loaded: Plan,
        plan: dict[str, Any],
        file: Path,
        settings: Sequence[str],
        host: str,
        live: bool,
        base_ns: int,
        types: bytes,
    ) -> None:
        self._plan = plan
        self._live = live
        self._processes = {p["name"]: p for p in plan["processes"] if p["host"] == host}
        self._guard = Guard()
        store(types, self._guard.folder)
        commands = {
            name: command_of(loaded, plan, process, file, settings, self._guard.folder, base_ns)
            for name, process in self._processes.items()
        }
        watches = {name: watch_of(plan, process) for name, process in self._processes.items()}
        self._locks = Locks(plan["domain"], list(self._processes))
        self._inbox: queue.SimpleQueue[dict[str, Any] | Event] = queue.SimpleQueue()
        # Standard output belongs to the protocol. Any other output goes to standard error.
        out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._sender = Sender(out, lambda: self._inbox.put(_GONE))
        self._place = LocalPlace(
            plan["domain"], commands, watches, self._guard, self._sender.line, self._inbox.put
        )
        self._alive: dict[str, int] = {}  # process → pid
        self._looks: list[Look] = []

    def __call__(self) -> int:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._inbox.put(_GONE))
        threading.Thread(target=self._listen, daemon=True).start()
        self._sender.send(
            {
                "event": "hello",
                "version": PROTOCOL,
                "digest": digest_of(self._plan),
                "plan": self._plan["file"],
            }
        )
        self._serve()
        self._end_all()
        self._sender.close()
        self._place.close()
        self._guard.close()
        self._locks.close()
        return 0

    def _listen(self) -> None:
        for message in messages(sys.stdin.buffer):
            self._inbox.put(message)
        self._inbox.put(_GONE)

    def _serve(self) -> None:
        heard = told = time.monotonic()
        while True:
            try:
                item = self._inbox.get(timeout=_USAGE_S / 2)
            except queue.Empty:
                item = None
            now = time.monotonic()
            if isinstance(item, dict):
                heard = now
                if item == _GONE:
                    return
                self._obey(item)
            elif item is not None:
                self._note(item)
                self._sender.send(to_message(item))
            if now - heard > LINK_TIMEOUT_S:
                return
            if now - told >= _USAGE_S:
                told = now
                self._sender.send(self._usage())

    def _obey(self, message: dict[str, Any]) -> None:
        process = message.get("process")
        if not isinstance(process, str) or process not in self._processes:
            return
        if message["do"] == "start":
            self._place.start(process)
        elif message["do"] == "signal":
            self._place.signal(process, int(message["number"]))

    def _note(self, event: Event) -> None:
        name = type(event).__name__
        if name == "Started":
            self._alive[event.process] = event.pid  # type: ignore[union-attr]
        elif name == "Ended":
            self._alive.pop(event.process, None)  # type: ignore[union-attr]

    def _usage(self) -> dict[str, Any]:
        processes = {}
        for name in self._alive:
            usage = self._place.usage(name)
            processes[name] = [usage.cpu_s, usage.resident]
        message: dict[str, Any] = {"event": "usage", "processes": processes}
        if self._live:
            message["channels"] = self._channels()
        return message

    def _channels(self) -> list[dict[str, Any]]:
        try:
            self._looks = [*self._looks[-1:], look(self._plan["domain"])]
        except Error:
            return []
        rows = []
        for state in states(self._looks[-1], self._looks[0]).values():
            row = asdict(state)
            row["delays"] = {str(edge): n for edge, n in state.delays.buckets.items()}
            rows.append(row)
        return rows

    def _end_all(self) -> None:
        """Ends all processes like a launcher: in reverse order, with escalation."""
        left = []
        for name, pid in self._alive.items():
            plan = {**self._processes[name], "restart": "never"}
            one = Managed(plan, self._place, State.RUNNING, pid, True)
            left.append(one)
        ending = Supervisor(left, Options(), lambda *_: None, lambda *_: None)
        ending.stop(time.monotonic())
        while not ending.over:
            due = ending.next_due()
            wait = max(0.0, due - time.monotonic()) if due is not None else 1.0
            try:
                item = self._inbox.get(timeout=wait)
            except queue.Empty:
                item = None
            if item is not None and not isinstance(item, dict):
                self._sender.send(to_message(item))
                ending.handle(item, time.monotonic())
            ending.tick(time.monotonic())


def serve(file: Path, host: str, settings: Sequence[str], live: bool, base_ns: int) -> int:
    """Runs `hyphos agent`. Errors are sent through the link: this terminal has no user."""
    try:
        loaded = Plan.load(str(file), list(settings), True, [host])
        plan = json.loads(loaded.json())
        check_names(plan, file, (), [host])
        agent = _Agent(loaded, plan, file, settings, host, live, base_ns, plan_types(plan))
    except Error as error:
        remedy = f" ({error.advice})" if error.advice else ""
        print(json.dumps({"event": "error", "text": f"{error}{remedy}"}), flush=True)
        return 1
    return agent()
