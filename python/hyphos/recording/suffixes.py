"""The suffixes of recordings: a file has the format of its name."""

from __future__ import annotations

from pathlib import Path

from hyphos._errors import Error

_OTHERS = {".bag", ".db3", ".db", ".csv", ".json", ".log", ".txt", ".html", ".zip"}


def require_mcap_name(output: Path) -> None:
    """Raises an error if an MCAP file would get the suffix of another format."""
    if output.suffix.lower() in _OTHERS:
        raise Error(
            "invalid_config",
            f"the file is MCAP, so its name cannot end with '{output.suffix}'",
            str(output),
            f"-o {output.with_suffix('.mcap')}, then hyphos bag convert",
        )
