"""The common interface of all files of ROS recordings: connections, and raw messages by time."""

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
    """The entry of one publisher, or one topic, in a file."""

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
    announced: int | None = None  # count in an index or similar
    own: Track | None = None  # for a channel that is not of ROS


class RawMessage(NamedTuple):
    connection: Connection
    time_ns: int
    data: bytes


Wanted = Callable[[Connection], bool]
OnBad = Callable[[Connection, str], None]


class Storage(Protocol):
    """One file of a recording. `start_ns` and `end_ns` are its first and last message times."""

    connections: list[Connection]
    warnings: list[str]
    damaged: bool
    start_ns: int | None
    end_ns: int

    def messages(
        self, wanted: Wanted, start_ns: int | None, end_ns: int | None, bad: OnBad
    ) -> Iterator[RawMessage]:
        """Yields messages in order of time. Calls `bad` for each unreadable message."""
        ...

    def close(self) -> None: ...


def is_latched(qos: object) -> tuple[bool, str]:
    """True if a QoS text or list offers the last value to late subscribers, and a problem or "".

    An invalid QoS counts as none.
    """
    if not qos:
        return False, ""
    try:
        if isinstance(qos, str):
            if len(qos) > _MOST_QOS:
                raise ValueError(f"it has {len(qos):,} characters")
            qos = yaml.load(qos, Loader=_loader())
        if not isinstance(qos, list) or not all(isinstance(one, dict) for one in qos):
            raise ValueError("it is not a list of profiles")
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
    """Parses YAML. ValueError if it is not valid."""
    try:
        return yaml.load(text, Loader=_loader())
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error).splitlines()[0]) from error
