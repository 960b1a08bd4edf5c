"""The media between hosts, with their parameters. The words are those of `hyphos-link --help`."""

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
    both endpoints: the fastest and cheapest link. Two hosts, a rate, and nothing else.

    tbf counts 14 bytes of Ethernet header with each packet. It drops packets that wait longer than
    `latency_ms`. After a pause `burst_kb` pass at once.
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
    """A full-duplex cable between two hosts, or a switch between more, in user space: one-way
    delay, jitter around it, loss, and rate (None: unlimited), separately for each direction."""

    delay_ms: float = 0
    jitter_ms: float = 0
    rate_mbit: float | None = None


@dataclass(frozen=True)
class Wifi(_Lossy):
    """One half-duplex channel for all hosts, after IEEE 802.11 (DCF on the OFDM PHY). `rate_mbit`
    is the rate of the PHY. Programs get about half of it."""

    rate_mbit: float = 54
    multicast_rate_mbit: float = 6
    cw_min: int = 15
    cw_max: int = 1023
    retry_limit: int = 7
    slot_us: int = 9
    sifs_us: int = 16


Medium = Veth | Tun | Wifi
# Minimum, maximum, and whether it is an integer, as in hyphos-link (netem/options.cpp).
RANGES: dict[str, tuple[float, float, bool]] = {
    "seed": (0, 1e15, True),
    "loss": (0, 1, False),
    "loss_burst": (1, 1e9, False),
    "loss_in_burst": (0, 1, False),
    "loss_between": (0, 1, False),
    "queue_packets": (1, 1e5, True),
    "queue_bytes": (1, 1e9, True),
    "mtu": (68, 9000, True),
    "spin_us": (0, 1e6, False),
    "realtime_priority": (0, 99, True),
    "rate_mbit": (1e-3, 1e5, False),
    "delay_ms": (0, 3.6e6, False),
    "jitter_ms": (0, 3.6e6, False),
    "multicast_rate_mbit": (1, 54, False),
    "cw_min": (1, 32767, True),
    "cw_max": (1, 32767, True),
    "retry_limit": (1, 255, True),
    "slot_us": (1, 1000, True),
    "sifs_us": (1, 1000, True),
    # The token bucket of veth.
    "burst_kb": (1, 1e6, False),
    "latency_ms": (0.1, 1e5, False),
}
_PHY_RATES = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
MEDIA: dict[str, type[Veth] | type[Tun] | type[Wifi]] = {"veth": Veth, "tun": Tun, "wifi": Wifi}


def medium_of(kind: str, options: Mapping[str, Any], where: str = "") -> Medium:
    """From the keys of a file: medium_of("tun", {"delay_ms": 5})."""
    if kind not in MEDIA:
        raise Error("invalid_config", f"unknown medium '{kind}': use {', '.join(MEDIA)}", where)
    known = [field.name for field in fields(MEDIA[kind])]
    for key in options:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"use {', '.join(known)}"
            raise Error("invalid_config", f"{kind} has no '{key}': {hint}", where)
    for key, value in options.items():
        _expect_number(key, value, where)
    made = MEDIA[kind](**options)
    if wrong := _contradiction(made):
        raise Error("invalid_config", f"{kind}: {wrong}", where)
    return made


def _expect_number(key: str, value: object, where: str) -> None:
    if value is None:
        return
    least, most, whole = RANGES[key]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if (
        not number
        or not least <= float(str(value)) <= most
        or (whole and float(str(value)) % 1 != 0)
    ):
        kind = "an integer" if whole else "a number"
        raise Error(
            "invalid_config", f"{key}: {value} is not {kind} from {least:g} to {most:g}", where
        )


def _contradiction(medium: Medium) -> str:
    """The conflict between settings. Empty if there is none."""
    if isinstance(medium, Veth):
        return ""
    if medium.loss_burst is None and (medium.loss_in_burst, medium.loss_between) != (None, None):
        return "loss_in_burst and loss_between need loss_burst"
    if isinstance(medium, Tun):
        early = medium.jitter_ms > medium.delay_ms
        return "jitter_ms must be at most delay_ms" if early else ""
    if not {medium.rate_mbit, medium.multicast_rate_mbit} <= set(_PHY_RATES):
        return f"its rates must be {', '.join(f'{rate:g}' for rate in _PHY_RATES)} Mbit/s"
    return "cw_max must be at least cw_min" if medium.cw_max < medium.cw_min else ""


def link_options(medium: Tun | Wifi) -> list[str]:
    """The options of hyphos-link for a medium."""

    def words() -> Iterator[str]:
        yield from ("--medium", "wifi" if isinstance(medium, Wifi) else "cable")
        for field in fields(medium):
            value = getattr(medium, field.name)
            if value is not None:
                yield from ("--" + field.name.replace("_", "-"), str(value))

    return list(words())


def link_program() -> str:
    """The path of hyphos-link: beside the package in a wheel, or in the build folder, or on
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
