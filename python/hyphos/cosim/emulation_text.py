"""The summary of a run in real time, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_ADVICE = (
    "The results do not represent the scenario. Reduce the load of the machine, or raise\n"
    "           realtime.lag_p99_ms and lag_longest_ms if this lag is acceptable."
)


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
    yield (f"lost here  {run['overrun']} before the read, {run['refused']} refused by a device")
    yield from _bodies(run["bodies"])
    machine = run["machine"]
    yield (
        f"processor  {machine['own']:.1%} of the machine's by this radio, {machine['others']:.1%} "
        f"by others, {machine['stolen']:.1%} stolen; waited {machine['waited_s'] * 1e3:.1f} ms for "
        f"one"
    )
    for name, code in {**run["programs"], "the command": run["command"]}.items():
        if code is not None:
            yield f"ended      {name} with code {code}"


def _bodies(told: dict[str, Any] | None) -> Iterator[str]:
    if told is None:
        return
    yield f"motion     {told['motions']} commands of programs moved the robots"
    for one in told["in_part"]:
        yield (
            f"in part    robot {one['robot']} followed {one['count']} motion commands in part, "
            f"first at {one['first_s']:.3f} s: {one['left_out']}"
        )
    for one in told["lost"]:
        where = f", channel {one['channel']}" if one["channel"] else ""
        yield f"lost       {one['count']} on robot {one['robot']}{where}: {one['reason']}"


def _packets(counts: dict[str, Any]) -> Iterator[str]:
    dropped = counts["dropped"]
    yield (
        f"packets    {counts['packets']}, copies {counts['copies']} = {counts['delivered']} "
        f"delivered + {sum(dropped.values())} dropped + {counts['in_flight']} in flight"
    )
    for reason, count in dropped.items():
        yield f"           {count} {reason}"
    if counts["to_nobody"]:
        yield f"           in addition {counts['to_nobody']} to addresses of no robot"
