"""The messages that a late subscriber of a recorded channel would have received.

These are the values of latched channels from before a part of a recording.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from hyphos.recording.mcap_records import Channel, Message
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.ros_storage import is_latched

_GAP = 64  # largest gap in the messages of one publisher
_MOST = 16  # values of one channel with indistinguishable publishers


def latched_channel(channel: Channel) -> bool:
    """True if the writer's metadata mark the channel as latched: Hyphos, ROS 1 or ROS 2."""
    meta = dict(channel.metadata)
    try:
        policy = json.loads(meta.get("hyphos.policy", "{}"))
    except (ValueError, RecursionError):
        policy = {}
    by_hyphos = isinstance(policy, dict) and policy.get("latched") is True
    by_ros1 = meta.get("latching", "").strip().lower() in ("1", "true")
    return by_hyphos or by_ros1 or is_latched(meta.get("offered_qos_profiles", ""))[0]


def values_before(scan: Scan, wanted: Callable[[int], bool], start_ns: int) -> list[Message]:
    """The last value of each publisher of the latched channels, in order of time."""
    kept = [
        message
        for number, channel in scan.channels.items()
        if wanted(number) and latched_channel(channel)
        for message in _last_values(scan, number, channel, start_ns)
    ]
    return sorted(kept, key=lambda message: message.log_ns)


def _last_values(scan: Scan, number: int, channel: Channel, start_ns: int) -> Iterator[Message]:
    messages = scan.ordered(lambda one: one == number, 0, start_ns)
    schema = scan.schemas.get(channel.schema_id)
    name = schema.name if schema else ""
    if name.rpartition("/")[2].rpartition(".")[2].lower() == "tfmessage":
        yield from _distinct(messages)
    elif "hyphos.encoding" in dict(channel.metadata):
        yield from _last_of_each(messages)
    else:
        yield from list(_last(messages))


def _last(messages: Iterator[Message]) -> Iterator[Message]:
    found = None
    for message in messages:
        found = message
    if found is not None:
        yield found


def _distinct(messages: Iterator[Message]) -> Iterator[Message]:
    """Transforms of several publishers share one channel, and each message has some frames. So all
    messages are kept, equal ones once. Static transforms are few."""
    found: dict[bytes, Message] = {}
    for message in messages:
        found.pop(message.data, None)
        found[message.data] = message
    yield from found.values()


def _last_of_each(messages: Iterator[Message]) -> Iterator[Message]:
    """The last value of each publisher. A recording does not name publishers, but each numbers its
    messages. A message that continues a sequence replaces its value. In doubt both stay, the newer
    one last."""
    lasts: list[Message] = []
    for message in messages:
        same = [one for one in lasts if _again(one, message)]
        near = [one for one in lasts if 0 < message.sequence - one.sequence <= _GAP]
        newest = max((one.sequence for one in near), default=0)
        before = same or [one for one in near if one.sequence == newest]
        if len(before) == 1 or (before and len(lasts) >= _MOST):
            lasts.remove(before[0])
        lasts.append(message)
    yield from lasts


def _again(one: Message, message: Message) -> bool:
    """True if a recorder repeated a value at the start of a file."""
    return (one.sequence, one.data) == (message.sequence, message.data)
