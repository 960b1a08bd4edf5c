"""A tool whose time is over before it has taken a message out of its queue."""

from __future__ import annotations

import queue
import threading
from typing import Any

import pytest
from helpers import PATIENCE_S
from hyphos.tools import waiting


def end_on_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, the time of a tool ends when the first message arrives, in its queue."""
    arrived = threading.Event()

    class Arrivals(queue.Queue[Any]):
        def put_nowait(self, item: Any) -> None:
            super().put_nowait(item)
            arrived.set()

    class Over(waiting.Stop):
        @property
        def now(self) -> bool:
            return arrived.wait(PATIENCE_S)

    monkeypatch.setattr(queue, "Queue", Arrivals)
    monkeypatch.setattr(waiting, "Stop", Over)
