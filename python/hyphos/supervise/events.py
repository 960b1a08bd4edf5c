"""What places tell a supervisor. Plain data, so that it crosses ssh as one line of JSON each."""

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
    """It runs, but does not work."""

    process: str
    pid: int
    reason: str


@dataclass(frozen=True)
class Healthy:
    """It works again after Unhealthy."""

    process: str
    pid: int


@dataclass(frozen=True)
class Ended:
    """`code` as subprocess tells it: negative is the number of the signal that killed it."""

    process: str
    pid: int
    code: int


@dataclass(frozen=True)
class Lost:
    """A machine cannot be reached any more; it ends its processes by itself."""

    host: str
    reason: str


@dataclass(frozen=True)
class Signalled:
    """Somebody wants the run to end: Ctrl-C or SIGTERM, again for every one."""

    number: int


Event = Started | NotStarted | IsReady | Unhealthy | Healthy | Ended | Lost | Signalled

_REMOTE: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Started, NotStarted, IsReady, Unhealthy, Healthy, Ended)
}


def to_message(event: Event) -> dict[str, Any]:
    return {"event": type(event).__name__, **asdict(event)}


def from_message(message: dict[str, Any]) -> Event | None:
    """None if it is no event of a process (or one of a newer version)."""
    kind = _REMOTE.get(str(message.get("event")))
    if kind is None:
        return None
    try:
        made: Event = kind(**{key: value for key, value in message.items() if key != "event"})
    except TypeError:
        return None
    return made
