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
_MOST_DEPTH = 256  # kMaxLatchedDepth of the core
_MOST = 16  # values of one channel with indistinguishable publishers


def latched_channel(channel: Channel) -> bool:
    """True if the writer's metadata mark the channel as latched: Hyphos, ROS 1 or ROS 2."""
    meta = dict(channel.metadata)
    by_hyphos = _policy(channel).get("latched") is True
    by_ros1 = meta.get("latching", "").strip().lower() in ("1", "true")
    return by_hyphos or by_ros1 or is_latched(meta.get("offered_qos_profiles", ""))[0]


def _policy(channel: Channel) -> dict[str, object]:
    try:
        policy = json.loads(dict(channel.metadata).get("hyphos.policy", "{}"))
    except (ValueError, RecursionError):
        return {}
    return policy if isinstance(policy, dict) else {}


def _depth(channel: Channel) -> int:
    """The number of values of each publisher for a late subscriber."""
    depth = _policy(channel).get("latched_depth")
    return min(depth, _MOST_DEPTH) if type(depth) is int and depth > 0 else 1


def values_before(scan: Scan, wanted: Callable[[int], bool], start_ns: int) -> list[Message]:
    """The last values of each publisher of the latched channels, in order of time."""
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
        yield from _last_of_each(messages, _depth(channel))
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


def _last_of_each(messages: Iterator[Message], depth: int) -> Iterator[Message]:
    """The last `depth` values of each publisher. A recording does not name publishers, but each
    numbers its messages. A message that continues a sequence belongs to its values. In doubt a new
    sequence begins, and the newest values come last."""
    sequences: list[list[Message]] = []
    for message in messages:
        same = [one for one in sequences if any(_again(value, message) for value in one)]
        near = [one for one in sequences if 0 < message.sequence - one[-1].sequence <= _GAP]
        newest = max((one[-1].sequence for one in near), default=0)
        before = same or [one for one in near if one[-1].sequence == newest]
        values = [message]
        if len(before) == 1 or (before and len(sequences) >= _MOST):
            sequences = [one for one in sequences if one is not before[0]]
            others = [value for value in before[0] if not _again(value, message)]
            values = [*others, message][-depth:]
        sequences.append(values)
    for values in sequences:
        yield from values


def _again(one: Message, message: Message) -> bool:
    """True if a recorder repeated a value at the start of a file."""
    return (one.sequence, one.data) == (message.sequence, message.data)
