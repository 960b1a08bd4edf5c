"""The result of one check of the machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    name: str
    status: str  # OK, WARN or FAIL
    text: str
    remedy: str = ""
