"""The common form of all files of ROS recordings: connections, and raw messages by time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import yaml

from hyphos.recording.source import Track

_TRANSIENT_LOCAL = ("transient_local", 1, "1")
_MOST_QOS = 1 << 16  # characters


@dataclass(eq=False)
class Connection:
    """One publisher's entry, or one topic, as a file has it."""

    id: int
    topic: str
    type_name: str  # package/msg/Name
    wire: str  # cdr, ros1, or any other name in the file
    definition_encoding: str = ""  # ros1msg, ros2msg, ros2idl, or another
    definition: str = ""
    digest: str = ""
    latched: bool = False
    qos: str = ""
    caller: str = ""
    count: int = 0
    announced: int | None = None  # by an index or the like
    own: Track | None = None  # of a channel that is none of ROS


class RawMessage(NamedTuple):
    connection: Connection
    time_ns: int
    data: bytes


Wanted = Callable[[Connection], bool]
OnBad = Callable[[Connection, str], None]


class Storage(Protocol):
    """One file of a recording. `start_ns` and `end_ns` (the last one) are those of its messages."""

    connections: list[Connection]
    warnings: list[str]
    damaged: bool
    start_ns: int | None
    end_ns: int

    def messages(
        self, wanted: Wanted, start_ns: int | None, end_ns: int | None, bad: OnBad
    ) -> Iterator[RawMessage]:
        """In order of time. Calls `bad` for each message that cannot be read."""
        ...

    def close(self) -> None: ...


def is_latched(qos: object) -> tuple[bool, str]:
    """Whether a QoS text or list offers the last value to late subscribers; and the fault in
    it. An invalid one counts as none."""
    if not qos:
        return False, ""
    try:
        if isinstance(qos, str):
            if len(qos) > _MOST_QOS:
                raise ValueError(f"it has {len(qos):,} characters")
            qos = yaml.load(qos, Loader=_loader())
        if not isinstance(qos, list) or not all(isinstance(one, dict) for one in qos):
            raise ValueError("it is no list of profiles")
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        return False, f"its offered_qos_profiles cannot be read ({reason}) and are not used"
    values = [one.get("durability") for one in qos]
    return any(
        value in _TRANSIENT_LOCAL or str(value).lower() == _TRANSIENT_LOCAL[0] for value in values
    ), ""


def _loader() -> type[yaml.SafeLoader]:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(text: str) -> object:
    """ValueError if it is none."""
    try:
        return yaml.load(text, Loader=_loader())
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error).splitlines()[0]) from error
