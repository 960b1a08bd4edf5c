"""What can lie between hosts, with its parameters. The words are those of `hyphos-link --help`."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hyphos._errors import Error


@dataclass(frozen=True)
class Veth:
    """A pair of the kernel's own virtual Ethernet devices, with the token bucket filter (tbf) on
    both ends: the fastest and cheapest link. Two hosts, a rate, and nothing else.

    tbf counts 14 bytes of Ethernet header with each packet. What waits longer than `latency_ms` is
    dropped; `burst_kb` pass at once after a pause.
    """

    rate_mbit: float = 1000
    burst_kb: float = 32
    latency_ms: float = 50


@dataclass(frozen=True)
class _Lossy:
    loss: float = 0
    loss_burst: float | None = None
    loss_in_burst: float | None = None
    loss_between: float | None = None
    queue_packets: int = 1000
    queue_bytes: int | None = None
    seed: int = 1
    mtu: int = 1500
    spin_us: float = 60
    realtime_priority: int = 1


@dataclass(frozen=True)
class Tun(_Lossy):
    """Two hosts on a full-duplex cable, or more of them around a switch, in user space: delay one
    way, jitter around it, loss, rate (None: unlimited), each direction for itself."""

    delay_ms: float = 0
    jitter_ms: float = 0
    rate_mbit: float | None = None


@dataclass(frozen=True)
class Wifi(_Lossy):
    """One half-duplex channel for all hosts, after IEEE 802.11 (DCF on the OFDM PHY). `rate_mbit`
    is the rate of the PHY: what programs get is about half of it."""

    rate_mbit: float = 54
    multicast_rate_mbit: float = 6
    cw_min: int = 15
    cw_max: int = 1023
    retry_limit: int = 7
    slot_us: int = 9
    sifs_us: int = 16


Medium = Veth | Tun | Wifi
MEDIA: dict[str, type[Veth] | type[Tun] | type[Wifi]] = {"veth": Veth, "tun": Tun, "wifi": Wifi}


def medium_of(kind: str, options: Mapping[str, Any], where: str = "") -> Medium:
    """From the keys of a file: medium_of("tun", {"delay_ms": 5})."""
    if kind not in MEDIA:
        raise Error("invalid_config", f"there is no medium '{kind}': {', '.join(MEDIA)}", where)
    known = [field.name for field in fields(MEDIA[kind])]
    for key in options:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known)}"
            raise Error("invalid_config", f"{kind} has no '{key}': {hint}", where)
    return MEDIA[kind](**options)


def link_options(medium: Tun | Wifi) -> list[str]:
    """The same for hyphos-link."""

    def words() -> Iterator[str]:
        yield from ("--medium", "wifi" if isinstance(medium, Wifi) else "cable")
        for field in fields(medium):
            value = getattr(medium, field.name)
            if value is not None:
                yield from ("--" + field.name.replace("_", "-"), str(value))

    return list(words())


def link_program() -> str:
    """The path of hyphos-link: beside the package in a wheel, else in the build folder or on
    PATH."""
    package = Path(__file__).parent.parent
    for path in (package / "hyphos-link", package.parent.parent / "lab/hyphos-link"):
        if path.is_file():
            return str(path)
    found = shutil.which("hyphos-link")
    if found is None:
        raise Error(
            "not_found", "the program hyphos-link is missing", advice="make build, or use a veth"
        )
    return found
