"""Selects tracks by the patterns of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from hyphos.recording.source import Track


def wanted(track: Track, patterns: Sequence[str]) -> bool:
    """True if a pattern, with or without surrounding slashes, matches the channel."""
    return any(fnmatchcase(track.channel, pattern.strip("/")) for pattern in patterns)
