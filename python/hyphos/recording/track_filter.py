"""Which tracks a pattern on the command line means."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from hyphos.recording.source import Track


def wanted(track: Track, patterns: Sequence[str]) -> bool:
    """Whether any pattern, with or without slashes around it, names the channel."""
    return any(fnmatchcase(track.channel, pattern.strip("/")) for pattern in patterns)
