"""Events from places to a supervisor. Plain data: each crosses ssh as one line of JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Started:
    process: str
    pid: int


@dataclass(frozen=True)
class NotStarted:
    process: str
    reason: str


@dataclass(frozen=True)
class IsReady:
    process: str
    pid: int


@dataclass(frozen=True)
class Unhealthy:
    """The process runs, but does not work."""

    process: str
    pid: int
    reason: str


@dataclass(frozen=True)
class Healthy:
    """It works again after Unhealthy."""

    process: str
    pid: int


@dataclass(frozen=True)
class Crashed:
    """The process printed the report of a crash. `place` is the work of its thread, or ""."""

    process: str
    pid: int
    place: str


@dataclass(frozen=True)
class Ended:
    """`code` as in subprocess: a negative number is the signal that killed the process."""

    process: str
    pid: int
    code: int


@dataclass(frozen=True)
class Lost:
    """A machine is no longer reachable. It ends its processes by itself."""

    host: str
    reason: str


@dataclass(frozen=True)
class Signalled:
    """A request to end the run: Ctrl-C or SIGTERM. Repeated for each signal."""

    number: int


Event = Started | NotStarted | IsReady | Unhealthy | Healthy | Crashed | Ended | Lost | Signalled

_REMOTE: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Started, NotStarted, IsReady, Unhealthy, Healthy, Crashed, Ended)
}


def to_message(event: Event) -> dict[str, Any]:
    return {"event": type(event).__name__, **asdict(event)}


def from_message(message: dict[str, Any]) -> Event | None:
    """The event of a message, or None if it is not an event of this version."""
    kind = _REMOTE.get(str(message.get("event")))
    if kind is None:
        return None
    try:
        made: Event = kind(**{key: value for key, value in message.items() if key != "event"})
    except TypeError:
        return None
    return made
