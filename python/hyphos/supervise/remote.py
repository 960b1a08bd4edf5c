"""Processes of another machine, through an agent that ssh starts there."""

from __future__ import annotations

import queue
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hyphos._errors import Error
from hyphos.supervise.children import Usage
from hyphos.supervise.events import Event, Lost, from_message
from hyphos.supervise.guard import Guard, dying_with_parent
from hyphos.supervise.link import LINK_TIMEOUT_S, PING_S, PROTOCOL, Sender, messages

HELLO_S = 30.0  # for ssh to connect and the agent to read its plan
_END_S = 2.0


@dataclass(frozen=True)
class Remote:
    """The data to reach the agent of one host of a plan."""

    host: str
    address: str  # user@host
    words: Sequence[str]  # command line of the agent
    options: Sequence[str] = ()  # of ssh
    workdir: str = ""
    digest: str = ""  # of the plan here, must be equal there

    def command(self) -> list[str]:
        there = "exec " + shlex.join(self.words)
        if self.workdir:
            there = f"cd {shlex.quote(self.workdir)} && {there}"
        # BatchMode: there is nobody to type a password. The options of the plan come first, because
        # ssh uses the first value of an option.
        fixed = "BatchMode=yes ConnectTimeout=10 ServerAliveInterval=3 ServerAliveCountMax=3"
        mine = [word for option in fixed.split() for word in ("-o", option)]
        return ["ssh", "-T", *self.options, *mine, "--", self.address, there]


def remote_of(
    host: dict[str, Any],
    plan_file: str,
    settings: Sequence[str],
    digest: str,
    live: bool,
    base_ns: int,
) -> Remote:
    words = [host["command"], "agent", host["plan"] or plan_file, "--host", host["name"]]
    for setting in settings:
        words += ["--set", setting]
    words += ["--base-ns", str(base_ns)]
    words += ["--live"] if live else []
    return Remote(host["name"], host["ssh"], words, host["ssh_options"], host["workdir"], digest)


@dataclass
class _Connection:
    popen: subprocess.Popen[bytes]
    sender: Sender
    hello: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)  # "", or the problem
    heard: float = field(default_factory=time.monotonic)
    greeted: bool = False
    last_words: str = ""  # last line of ssh or the agent on stderr
    closing: bool = False


class RemotePlace:
    """One remote machine.

    connect() opens the connection. The first start() after a loss opens it again. After a loss the
    agent ends its processes by itself, and this side reports one Lost.
    """

    def __init__(
        self,
        remote: Remote,
        guard: Guard,
        on_line: Callable[[str, bytes], None],
        emit: Callable[[Event], None],
    ) -> None:
        self._remote = remote
        self._guard = guard
        self._on_line = on_line
        self._emit = emit
        self._connection: _Connection | None = None  # None while disconnected
        self._hello: queue.SimpleQueue[str] = queue.SimpleQueue()  # of the latest connection
        self._usage: dict[str, Usage] = {}
        self.channels: list[dict[str, Any]] = []  # rows of the live view

    @property
    def host(self) -> str:
        return self._remote.host

    def connect(self) -> None:
        """Starts to connect and returns at once. wait_for_hello() returns the result."""
        try:
            popen = subprocess.Popen(
                dying_with_parent(self._remote.command()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise Error("not_found", "cannot start ssh", self.host) from error
        assert popen.stdin is not None
        self._guard.add(popen.pid)
        made = _Connection(popen, Sender(popen.stdin, lambda: None))
        self._connection = made
        self._hello = made.hello
        errors = threading.Thread(target=self._hear_errors, args=(made,), daemon=True)
        errors.start()
        threading.Thread(target=self._hear, args=(made, errors), daemon=True).start()
        threading.Thread(target=self._watch, args=(made,), daemon=True).start()

    def wait_for_hello(self) -> None:
        """Raises an error if the machine is unreachable, or its version or plan differs."""
        where = f"host {self.host} ({self._remote.address})"
        try:
            wrong = self._hello.get(timeout=HELLO_S)
        except queue.Empty:
            raise Error("timeout", f"no reply within {HELLO_S:g} s", where) from None
        if wrong:
            command = shlex.join(self._remote.command())
            raise Error("disconnected", wrong, where, advice=f"test the command: {command}")

    def start(self, process: str) -> None:
        if self._connection is None:
            try:
                self.connect()
            except Error as error:
                self._emit(Lost(self.host, str(error)))
                return
        self._send({"do": "start", "process": process})

    def signal(self, process: str, number: int) -> None:
        self._send({"do": "signal", "process": process, "number": int(number)})

    def usage(self, process: str) -> Usage:
        return self._usage.get(process, Usage())

    def _send(self, message: dict[str, Any]) -> None:
        if self._connection is not None:
            self._connection.sender.send(message)

    def _hear(self, connection: _Connection, errors: threading.Thread) -> None:
        """Reads the messages of the agent until the link ends."""
        assert connection.popen.stdout is not None
        with suppress(ValueError, OSError):
            for message in messages(connection.popen.stdout):
                connection.heard = time.monotonic()
                self._take(connection, message)
        code = connection.popen.wait()
        errors.join(_END_S)  # the error messages arrive last
        self._guard.remove(connection.popen.pid)
        words = connection.last_words or f"ssh ended with {code}"
        connection.hello.put(words)
        self._over(connection, words)

    def _take(self, connection: _Connection, message: dict[str, Any]) -> None:
        kind = message.get("event")
        if kind == "line":
            self._on_line(str(message["process"]), str(message["text"]).encode() + b"\n")
        elif kind == "hello":
            wrong = self._wrong_with(message)
            connection.greeted = not wrong
            connection.hello.put(wrong)
            if wrong:
                connection.last_words = wrong
                connection.popen.kill()
        elif kind == "error":
            connection.last_words = str(message["text"])
        elif kind == "usage":
            self._usage = {name: Usage(*pair) for name, pair in message["processes"].items()}
            self.channels = list(message.get("channels", ()))
        elif (event := from_message(message)) is not None:
            self._emit(event)

    def _wrong_with(self, hello: dict[str, Any]) -> str:
        if hello.get("version") != PROTOCOL:
            return "the hyphos version there differs: install the same version on both machines"
        if hello.get("digest") != self._remote.digest:
            return (
                f"its plan {hello.get('plan')} differs from the one here: copy the plan there, "
                "with the files that it includes"
            )
        return ""

    def _hear_errors(self, connection: _Connection) -> None:
        assert connection.popen.stderr is not None
        with suppress(ValueError, OSError):
            while line := connection.popen.stderr.readline(4096):
                text = line.rstrip(b"\r\n").decode(errors="replace")
                if text and not connection.greeted:
                    connection.last_words = text
                self._on_line(f"{self.host}:ssh", line)

    def _watch(self, connection: _Connection) -> None:
        """Sends pings, and ends the connection after a timeout."""
        while connection.popen.poll() is None:
            connection.sender.send({"do": "ping"})
            try:
                connection.popen.wait(PING_S)
            except subprocess.TimeoutExpired:
                if connection.greeted and time.monotonic() - connection.heard > LINK_TIMEOUT_S:
                    connection.last_words = f"no message for {LINK_TIMEOUT_S:g} s"
                    connection.popen.kill()

    def _over(self, connection: _Connection, reason: str) -> None:
        if self._connection is connection:
            self._connection = None
        self._usage = {}
        self.channels = []
        if not connection.closing:
            self._emit(Lost(self.host, reason))

    def close(self) -> None:
        """Closes the input of the agent, which then ends. Waits only briefly for ssh."""
        connection = self._connection
        if connection is None:
            return
        connection.closing = True
        connection.sender.close()
        assert connection.popen.stdin is not None
        with suppress(OSError):
            connection.popen.stdin.close()
        try:
            connection.popen.wait(_END_S)
        except subprocess.TimeoutExpired:
            connection.popen.send_signal(signal.SIGKILL)
