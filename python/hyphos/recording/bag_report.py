"""The report of `hyphos bag convert`."""

from __future__ import annotations

from pathlib import Path

from hyphos.recording.source import LEFT_OUT, Skipped, Source, Track
from hyphos.tools.console import console, say


class Report:
    """Lists and counts the omitted messages."""

    def __init__(self) -> None:
        self.written = 0
        self.left_out: list[tuple[Track, str]] = []
        self.skipped = Skipped()
        self.notes: list[str] = []

    def print(self, output: Path, source: Source) -> int:
        """Prints the report. Returns the exit code."""
        out = console()
        say(out, f"wrote {output}: {self.written:,} messages")
        for track, why in self.left_out:
            name = track.origin or track.channel
            line = f"left out: {name}, {track.count:,} messages: {why}"
            say(out, line)
        for line in (*source.skipped.lines(), *self.skipped.lines()):
            say(out, line)
        for note in self.notes:
            say(out, f"note: {note}")
        partial = self.left_out or self.skipped or source.skipped
        return LEFT_OUT if partial or source.damaged else 0
