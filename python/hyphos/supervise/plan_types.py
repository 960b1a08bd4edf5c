"""The types of the plan's `protos:`. Each process of a run announces them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_FILE = "plan.types"  # node/runtime/runtime.cpp reads it


def plan_types(plan: dict[str, Any]) -> bytes:
    """The types as a serialized FileDescriptorSet, or b"". Raises an error, for example of protoc.

    Must run before the first process starts.
    """
    if not plan["protos"]:
        return b""
    from hyphos.ros.protos import descriptors_of  # noqa: PLC0415 - most plans have no types

    return descriptors_of([Path(place) for place in plan["protos"]])


def store(types: bytes, folder: str) -> None:
    """Writes the types into the folder with the state of a run."""
    if types:
        Path(folder, _FILE).write_bytes(types)
