"""Timeouts for the core."""

from __future__ import annotations


def to_ns(timeout_ms: float) -> int:
    """A timeout in nanoseconds, at most 2^61, which is 73 years. ValueError if negative."""
    if not timeout_ms >= 0:
        raise ValueError(f"timeout_ms must not be negative: {timeout_ms}")
    return round(min(timeout_ms * 1e6, 1 << 61))
