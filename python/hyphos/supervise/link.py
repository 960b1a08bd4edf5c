"""The protocol between a launcher and its agent on another machine: lines of JSON through ssh.

To the agent: {"do": "start", "process"}, {"do": "signal", "process", "number"}, {"do": "ping"}.
Back: {"event": "hello", "version", "digest"}, the events of events.py, {"event": "line", "process",
"text"}, {"event": "usage", ...} once per second, {"event": "error", "text"}. A side that receives
nothing for `LINK_TIMEOUT_S` considers the link dead.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Callable, Iterator
from typing import IO, Any

PROTOCOL = 1
PING_S = 2.0
LINK_TIMEOUT_S = 10.0
_LONGEST = 1 << 20  # bytes of a message
_MOST_LINES = 5_000  # of output in the queue to a slow link


# Keys whose values depend on the folder of a copy of the plan, or on the path to a machine.
_LOCAL = frozenset(
    (
        *("source", "file", "directory", "warnings", "plugin_path", "protos", "domain", "record"),
        *("public_key_file", "secret_key_file", "allowed_keys", "server_key"),
        *("ssh", "ssh_options", "workdir", "plan", "command"),
    )
)


def digest_of(plan: dict[str, Any]) -> str:
    """A digest of a plan. Equal for two copies of the plan in different folders."""

    def portable(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: portable(item) for key, item in value.items() if key not in _LOCAL}
        if isinstance(value, list):
            return [portable(item) for item in value]
        return value

    nodes = [{**portable(node), "params": node["params"]} for node in plan["nodes"]]
    text = json.dumps({**portable(plan), "nodes": nodes}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def messages(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yields messages until the stream ends. Skips other lines, such as a greeting of a login."""
    while line := stream.readline(_LONGEST):
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            yield message


class Sender:
    """Writes messages in its own thread, so that a slow link blocks no caller.

    Output lines of processes may then be dropped, and are counted. Events are never dropped.
    """

    def __init__(self, stream: IO[bytes], broken: Callable[[], None]) -> None:
        self._stream = stream
        self._broken = broken
        self._waiting: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._lost = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, message: dict[str, Any]) -> None:
        self._waiting.put(message)

    def line(self, process: str, line: bytes) -> None:
        if self._waiting.qsize() >= _MOST_LINES:
            self._lost += 1
            return
        if self._lost:
            lost, self._lost = self._lost, 0
            text = f"--- {lost} lines were too many for the link ---"
            self.send({"event": "line", "process": process, "text": text})
        text = line.rstrip(b"\r\n").decode(errors="replace")
        self.send({"event": "line", "process": process, "text": text})

    def _run(self) -> None:
        while (message := self._waiting.get()) is not None:
            try:
                self._stream.write(json.dumps(message).encode() + b"\n")
                self._stream.flush()
            except (OSError, ValueError):
                self._broken()
                return

    def close(self, patience_s: float = 1.0) -> None:
        """Sends the queued messages, if the link accepts them within `patience_s` seconds."""
        self._waiting.put(None)
        self._thread.join(patience_s)
