"""The functions that decode messages for the callbacks of subscriptions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyphos._hyphos import MessageInfo
    from hyphos.types import Codec


def delivery(callback: Callable[..., object], codec: Codec) -> Callable[..., None]:
    """Calls `callback` with the value, and with the MessageInfo if the callback takes it."""
    decode = codec.decode
    if _takes_info(callback):

        def deliver(payload: Any, buffers: Any, info: MessageInfo) -> None:
            callback(decode(payload, buffers), info)
    else:

        def deliver(payload: Any, buffers: Any, info: MessageInfo) -> None:  # noqa: ARG001
            callback(decode(payload, buffers))

    return deliver


def _takes_info(callback: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    needed = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return len(needed) == 2
