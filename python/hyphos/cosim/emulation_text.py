"""The summary of a run in real time, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_ADVICE = (
    "The results do not represent the scenario. Reduce the load of the machine, or raise\n"
    "           realtime.lag_p99_ms and lag_longest_ms if this lag is acceptable."
)


def rehearsal_lines(rehearsal: dict[str, Any] | None) -> Iterator[str]:
    """The limits of this machine, before the run."""
    if rehearsal is None:
        return
    yield (
        f"this machine: physics needs {rehearsal['physics']:.1%} of real time, the radio "
        f"{rehearsal['packet_ms']:.3f} ms for a packet, so that it keeps up with about "
        f"{rehearsal['packets_per_second']:,.0f} packets per second of all robots"
    )


def doubt_lines(rehearsal: dict[str, Any] | None) -> Iterator[str]:
    """The reasons to expect an invalid run."""
    for reason in rehearsal["doubtful_because"] if rehearsal is not None else ():
        yield f"warning: the run will probably be invalid: {reason}"


def summary_lines(run: dict[str, Any]) -> Iterator[str]:
    verdict = "valid" if run["valid"] else "INVALID"
    yield (
        f"real time  {run['simulated_s']:.3f} s of {len(run['robots'])} robots over the "
        f"{run['radio']} radio: {verdict}"
    )
    for reason in run["invalid_because"]:
        yield f"           {reason}"
    if not run["valid"]:
        yield f"           {_ADVICE}"
    lag, limits = run["lag"], run["limits"]
    yield (
        f"lag        of {lag['count']} windows of {run['window_ms']:.3f} ms: "
        f"{lag['p50_ms']:.3f} ms (p50), {lag['p99_ms']:.3f} (p99, at most "
        f"{limits['lag_p99_ms']:.3f}), {lag['longest_ms']:.3f} (longest, at most "
        f"{limits['lag_longest_ms']:.3f})"
    )
    late = run["delivered_late"]
    yield (
        f"late       deliveries {late['p50_ms']:.3f} ms (p50), {late['p99_ms']:.3f} (p99), "
        f"{late['longest_ms']:.3f} (longest); {run['read_late']} packets read late"
    )
    programs = run["programs_late"]
    yield (
        f"           wake-ups of an ordinary program are {programs['p50_ms']:.3f} ms (p50), "
        f"{programs['p99_ms']:.3f} (p99, at most {limits['lag_longest_ms']:.3f}) late here"
    )
    yield from _packets(run["packets"])
    for probe in run["probes"]:
        yield from _probe(probe, run["probe_ms"])
    yield (f"lost here  {run['overrun']} before the read, {run['refused']} refused by a device")
    yield from _bodies(run["bodies"])
    yield from _mavlink(run["mavlink"])
    machine = run["machine"]
    yield (
        f"processor  {machine['own']:.1%} of the machine's by this radio, {machine['others']:.1%} "
        f"by others, {machine['stolen']:.1%} stolen; waited {machine['waited_s'] * 1e3:.1f} ms for "
        f"one"
    )
    for name, code in {**run["programs"], "the command": run["command"]}.items():
        if code is not None:
            yield f"ended      {name} with code {code}"
    for name, code in run["daemons"].items():
        if code is not None:
            how = f"killed by signal {-code}" if code < 0 else f"with code {code}"
            yield f"ended      the routing daemon of {name}, {how}"


def _bodies(told: dict[str, Any] | None) -> Iterator[str]:
    if told is None:
        return
    yield f"motion     {told['motions']} commands of programs moved the robots"
    yield from _in_part(told)
    for one in told["lost"]:
        where = f", channel {one['channel']}" if one["channel"] else ""
        yield f"lost       {one['count']} on robot {one['robot']}{where}: {one['reason']}"


def _mavlink(told: dict[str, Any] | None) -> Iterator[str]:
    if told is None:
        return
    yield f"mavlink    {told['motions']} commands moved the drones"
    yield from _in_part(told)


def _in_part(told: dict[str, Any]) -> Iterator[str]:
    for one in told["in_part"]:
        yield (
            f"in part    robot {one['robot']} followed {one['count']} motion commands in part, "
            f"first at {one['first_s']:.3f} s: {one['left_out']}"
        )


def _packets(counts: dict[str, Any]) -> Iterator[str]:
    dropped = counts["dropped"]
    yield (
        f"packets    {counts['packets']}, copies {counts['copies']} = {counts['delivered']} "
        f"delivered + {sum(dropped.values())} dropped + {counts['in_flight']} in flight"
    )
    for reason, count in dropped.items():
        yield f"           {count} {reason}"
    for key, text in (
        ("device_full", "dropped by the device of the sender: its radio had no room"),
        ("to_nobody", "to MAC addresses of no robot"),
        ("malformed", "that are no Ethernet frames of the device's size"),
    ):
        if counts[key]:
            yield f"           in addition {counts[key]} {text}"


def _probe(probe: dict[str, Any], every_ms: float) -> Iterator[str]:
    way = f"{probe['from']} → {probe['to']}"
    trip = ""
    if probe["answered"]:
        trip = (
            f"; round trip {probe['p50_ms']:.3f} ms (p50), {probe['p99_ms']:.3f} (p99), "
            f"{probe['longest_ms']:.3f} (longest)"
        )
    yield (
        f"probe      {way} every {every_ms:g} ms: {probe['answered']} of {probe['sent']} "
        f"answered{trip}"
    )
    for outage in probe["outages"]:
        lasts = outage["lasts_s"]
        how = f"for {lasts:.3f} s" if lasts is not None else "to the end"
        yield f"           interrupted at {outage['begin_s']:.3f} s {how}, {outage['lost']} lost"
    for healing in probe["healing"]:
        off = f"heal       {healing['robot']} went off at {healing['off_s']:.3f} s: {way} "
        if healing["after_ms"] is None:
            yield f"{off}did not heal, {healing['lost']} lost"
        else:
            yield f"{off}answers {healing['after_ms'] / 1e3:.3f} s later, {healing['lost']} lost"
