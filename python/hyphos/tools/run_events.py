"""hyphos run --events: the states of the processes, and the findings of a run, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from hyphos._errors import Error
from hyphos.supervise.supervisor import Managed, State


class RunEvents:
    """Writes one JSON object per line. Without a file it does nothing. Use it from one thread."""

    def __init__(self, file: Path | None) -> None:
        self._file: IO[str] | None = None
        self._seen: dict[str, tuple[object, ...]] = {}
        self._was_ready = False
        if file is None:
            return
        try:
            self._file = file.open("w", encoding="utf-8", buffering=1)
        except OSError as error:
            raise Error("io", f"cannot write the events: {error.strerror}", str(file)) from error

    def write(self, event: str, **values: Any) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps({"event": event, **values}) + "\n")
        except OSError:  # the reader of a pipe has ended, which must not end the robot
            self._file = None

    def states(self, processes: Sequence[Managed]) -> None:
        """Writes a line for each process that has changed since the last call, and a line when all
        have been ready."""
        self._changed(processes)
        ready = all(one.was_ready or one.state == State.ENDED for one in processes)
        if ready and not self._was_ready:
            self._was_ready = True
            self.write("ready")

    def _changed(self, processes: Sequence[Managed]) -> None:
        for one in processes:
            seen = (one.state, one.pid, one.alive, one.restarts, one.end, one.was_ready)
            if self._seen.get(one.name) == seen:
                continue
            self._seen[one.name] = seen
            self.write(
                "process",
                process=one.name,
                state=str(one.state),
                pid=one.pid,
                alive=one.alive,
                ready=one.was_ready,
                restarts=one.restarts,
                end=one.end,
            )

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
