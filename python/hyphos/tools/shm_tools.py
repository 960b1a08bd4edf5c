"""hyphos shm list | clean"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyphos import _hyphos
from hyphos.tools.console import console, print_json, table


def dead_participants(domain: str) -> int:
    """The number of dead processes that have left files."""
    return sum(not one.alive for one in _hyphos.shm_list(domain).participants)


@dataclass(frozen=True)
class _Columns:
    """One table of the listing: the attributes, and which of them are numbers."""

    names: tuple[str, ...]
    numbers: tuple[str, ...]


_PARTICIPANTS = _Columns(
    ("domain", "id", "pid", "alive", "process", "host", "version"), ("pid", "version")
)
_SEGMENTS = _Columns(
    ("participant", "file", "bytes", "slots", "slot_size", "used", "holders"),
    ("bytes", "slots", "slot_size", "used", "holders"),
)
_LANES = _Columns(
    ("channel", "sender", "receiver", "depth", "waiting", "drops"), ("depth", "waiting", "drops")
)


def _rows(columns: _Columns, things: list[Any]) -> list[dict[str, Any]]:
    return [{name: getattr(thing, name) for name in columns.names} for thing in things]


def _show(columns: _Columns, rows: list[dict[str, Any]]) -> None:
    made = table("", [name.replace("_", " ") for name in columns.names], [])
    for column, name in zip(made.columns, columns.names, strict=True):
        column.justify = "right" if name in columns.numbers else "left"
    for row in rows:
        made.add_row(*(_text(name, value) for name, value in row.items()))
    console().print(made)


def _text(name: str, value: Any) -> str:
    if name == "alive":
        return "alive" if value else "[red]dead[/red]"
    if isinstance(value, int) and name not in ("pid", "version"):
        return f"{value:,}"
    return str(value)


def list_all(domain: str, as_json: bool) -> None:
    listing = _hyphos.shm_list(domain)
    participants = _rows(_PARTICIPANTS, list(listing.participants))
    segments = _rows(_SEGMENTS, list(listing.segments))
    lanes = _rows(_LANES, list(listing.lanes))
    if as_json:
        print_json(
            {
                "participants": participants,
                "segments": segments,
                "lanes": lanes,
                "free_bytes": listing.free_bytes,
                "total_bytes": listing.total_bytes,
            }
        )
        return
    out = console()
    free, total = listing.free_bytes / 1e6, listing.total_bytes / 1e6
    out.print(f"/dev/shm: {free:,.0f} of {total:,.0f} MB free")
    if not participants:
        out.print("no participants")
        return
    _show(_PARTICIPANTS, participants)
    if segments:
        _show(_SEGMENTS, segments)
    if lanes:
        _show(_LANES, lanes)
    dead = sum(not row["alive"] for row in participants)
    if dead:
        out.print(f"{dead} dead process(es) have left files: hyphos shm clean")


def clean(domain: str) -> None:
    removed = _hyphos.shm_clean(domain)
    for path in removed:
        print(f"removed {path}")
    if not removed:
        print("nothing to remove")
