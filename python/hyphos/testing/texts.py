"""The messages of a failed expectation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyphos.testing.inbox import Inbox, Types
from hyphos.testing.stage import Stage
from hyphos.tools.value_text import print_json, shorten, to_plain
from hyphos.types import Attached

_SHOWN = 600  # characters of a message


def why_not(
    inbox: Inbox, start: int, within: float, stage: Stage, types: Types, all_of: Mapping[str, Inbox]
) -> str:
    """The reason why expect() of messages from number `start` on found none."""
    channel, looked = inbox.channel, inbox.cursor - start
    if looked and inbox.type is not None:
        last = inbox.since(inbox.total - 1)[1]
        value = shown(types.value(channel, inbox.type, last[-1])) if last else ""
        return (
            f"none of {looked:,} messages on '{channel}' within {within:g} s is the expected one"
            f"{', the last is ' if value else ''}{value}"
        )
    before = f" {start:,} messages came before." if start else ""
    publishers = sorted({end.node for end in stage.ends(channel) if end.is_publisher})
    if publishers:
        reason = f"{', '.join(publishers)} published nothing that arrived."
    else:
        reason = f"It has no publisher: {channels(all_of)}."
    out = "".join(f" {line}." for line in stage.left_out)
    return f"no message on '{channel}' within {within:g} s.{before} {reason}{out}"


def channels(inboxes: Mapping[str, Inbox]) -> str:
    names = sorted(name for name, inbox in inboxes.items() if inbox.type is not None)
    return f"the robot publishes {', '.join(names) or 'no channel'}"


def shown(value: Any) -> str:
    """A message in one line, shortened."""
    if isinstance(value, Attached):
        sizes = ", ".join(str(len(buffer)) for buffer in value.buffers)
        return f"{shown(value.head)} with buffers of {sizes} bytes"
    if hasattr(value, "DESCRIPTOR"):
        text = print_json(shorten(to_plain(value, as_json=True)))
    else:
        text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
