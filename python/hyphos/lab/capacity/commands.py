"""hyphos lab calibrate, hyphos lab verify, hyphos plan check: their work and their output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos.lab import outputs
from hyphos.lab.capacity import profile as profiles
from hyphos.lab.capacity.answers import answer_json
from hyphos.lab.capacity.bench import Bench, Knee
from hyphos.lab.capacity.calibrate import (
    Plan,
    around_s,
    calibrate,
    calibrate_among,
    cores,
    empty_profile,
)
from hyphos.lab.capacity.check import Answer, End, Reach, Verdict, check
from hyphos.lab.capacity.graph import LINK, POINTER, SHM, TCP, Graph, graph_of, interpreted, silent
from hyphos.lab.capacity.mixed import MIXED, held_out_mixed
from hyphos.lab.capacity.model import QUEUE, Costs
from hyphos.lab.capacity.pace import Pace
from hyphos.lab.capacity.profile import Calibrated, Kind, Profile
from hyphos.lab.capacity.verify import (
    SHORT,
    Comparison,
    compare,
    comparison,
    comparison_json,
    confusion,
    held_out,
    held_out_short,
    summary,
)
from hyphos.lab.case import size_label
from hyphos.lab.knee import DEFINITION, MAX_LOST
from hyphos.lab.links import why_not
from hyphos.lab.machine import PACE, SLOW, best_pace, describe_machine, expect_best
from hyphos.lab.media import Medium, medium_of
from hyphos.tools.console import console, print_json, table
from hyphos.tools.waiting import on_signals

EXIT = {Verdict.FITS: 0, Verdict.DOES_NOT_FIT: 1, Verdict.MARGINAL: 3}
STOPPED = 130


# Calibration.


def link_of(text: str) -> tuple[str, Medium]:
    """From "NAME=KIND,key=value,…", such as "cable=veth,rate_mbit=1000"."""
    name, equals, rest = text.partition("=")
    kind, *words = rest.split(",")
    if not equals or not name or not kind:
        raise Error(
            "invalid_config", f"'{text}' is not a link", "--link", "NAME=veth,rate_mbit=1000"
        )
    options: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise Error("invalid_config", f"'{word}' is not KEY=NUMBER", "--link") from None
        options[key] = int(number) if number == int(number) else number
    return name, medium_of(kind, options, "--link")


def run_calibration(
    path: Path, ways: Sequence[str], links: Sequence[str], patience_s: float, max_size: int | None
) -> int:
    """Calibrates and writes the profile. Keeps existing results that are not requested again."""
    outputs.expect_seconds(patience_s, "--wait-quiet")
    out = console(stderr=True)
    known, jobs = _to_calibrate(path, ways, links)
    pace = Pace()
    for name, way, medium in jobs:
        with Bench(medium, patience_s=patience_s) as bench, on_signals(lambda _n: bench.stop()):
            plan = Plan(way, medium, max_size, _tcp(known))
            if not pace.expected_s:
                around = around_s(plan, bench)
                if around is None:
                    out.print("stopped before the first measurement")
                    return STOPPED
                plans = [Plan(one, other, max_size) for _, one, other in jobs]
                out.print(pace.begin(plans, around), highlight=False)

            def told(done: int, all_: int, kind: Kind, knee: Knee, name: str = name) -> None:
                pace.measured(all_)
                out.print(
                    f"{name} {done}/{all_}: {_kind(kind)} {_knee_text(knee, kind.graph(SHM))}, "
                    f"{pace.left()}"
                )

            found = calibrate(plan, bench, told)
        if found is None:
            out.print("stopped, earlier calibrations are kept")
            return STOPPED
        pace.way_done()
        known = _kept(known, name, found, path)
    console().print(_profile_table(known))
    console().print(f"profile: {path}")
    return 0


# The printed name, the transport, and the link.
Job = tuple[str, str, Medium | None]


def _to_calibrate(
    path: Path, ways: Sequence[str], links: Sequence[str]
) -> tuple[Profile, list[Job]]:
    """The existing profile, and the requested jobs: those that are named, or all transports of one
    machine."""
    outputs.expect_file(path, "--output")
    media = dict(link_of(text) for text in links)
    if len(media) < len(links):
        raise Error("invalid_config", "two links have the same name", "--link")
    chosen = list(ways) or ([] if media else [POINTER, SHM, TCP])
    kept = profiles.load(path) if path.exists() else empty_profile()
    if not _same_machine(kept):
        raise Error(
            "already_exists",
            "this profile is of another machine: " + kept.machine.get("cpu", "unknown"),
            str(path),
            "choose another file with -o, or remove this one",
        )
    expect_best(kept.machine)
    for medium in media.values():
        if (missing := why_not(medium)) is not None:
            raise missing
    jobs: list[Job] = [(way, way, None) for way in chosen]
    jobs += [(name, LINK, medium) for name, medium in media.items()]
    return replace(empty_profile(), ways=dict(kept.ways), links=dict(kept.links)), jobs


def _tcp(known: Profile) -> Costs | None:
    return known.ways[TCP].costs if TCP in known.ways else None


def _kept(known: Profile, name: str, found: Calibrated, path: Path) -> Profile:
    """Adds a calibration to the profile, and saves it."""
    if found.way == LINK:
        known = replace(known, links={**known.links, name: found})
    else:
        known = replace(known, ways={**known.ways, name: found})
    known = replace(known, machine={**known.machine, PACE: best_pace()})
    profiles.save(known, path)
    return known


def _same_machine(known: Profile) -> bool:
    here = describe_machine()
    return known.cores == cores() and known.machine.get("cpu") == here["cpu"]


def _kind(kind: Kind) -> str:
    return f"{kind.family} {kind.count} × {size_label(kind.size)}"


def _knee_text(knee: Knee, graph: Graph) -> str:
    rate = graph.channels[0].rate_hz * knee.scale
    told = f"carried up to {rate:,.0f} Hz (pace {knee.pace:.1f})"
    return told + (" (disturbed)" if knee.disturbed else "")


def _profile_table(profile: Profile) -> Table:
    made = table(
        "Costs of a message",
        ["transport", "publish µs", "deliver µs", "wake µs", "ns/byte", "link µs", "link ns/byte",
         "within", "points", "seconds"],
        ["publish µs", "deliver µs", "wake µs", "ns/byte", "link µs", "link ns/byte", "within",
         "points", "seconds"],
    )  # fmt: skip
    for name, one in [*profile.ways.items(), *profile.links.items()]:
        costs = one.costs
        of_link = (f"{costs.wire_us:.3g}", f"{costs.wire_byte_ns:.3g}") if one.way == LINK else "––"
        made.add_row(
            name,
            f"{costs.publish_us:.2f}",
            f"{costs.deliver_us:.2f}",
            f"{costs.wake_us:.2f}",
            "–" if one.way == POINTER else f"{costs.byte_ns:.3g}",
            *of_link,
            f"× {one.within:.2f}",
            str(len(one.points)),
            f"{one.seconds:.0f}",
        )
    return made


# Prediction.


@dataclass(frozen=True)
class _Asked:
    """A plan's graph, and the parts that the graph leaves out."""

    graph: Graph
    silent: list[str]  # channels
    interpreted: dict[str, list[str]]  # Python nodes, with channels


def _plan(file: Path, settings: Sequence[str]) -> _Asked:
    told = json.loads(_hyphos.Plan.load(str(file), list(settings), False).json())
    graph = graph_of(told)
    return _Asked(graph, silent(told), interpreted(told, graph))


def check_plans(
    files: Sequence[Path],
    profile_file: Path,
    link: str,
    settings: Sequence[str],
    shared: bool,
    as_json: bool,
) -> int:
    profile = profiles.load(profile_file)
    worst = 0
    answers = []
    for file in files:
        asked = _plan(file, settings)
        answer = check(asked.graph, profile, link, shared=shared)
        worst = max(worst, EXIT[answer.verdict], key=(0, 3, 1).index)
        left_out = {"not_counted": asked.silent, "python_without_work": asked.interpreted}
        answers.append(
            {"plan": str(file), "profile": str(profile_file), **answer_json(answer), **left_out}
        )
        if as_json:
            continue
        _print_answer(file, answer, profile, asked, shared=shared)
    if as_json:
        print_json(answers if len(answers) > 1 else answers[0])
    return worst


_STYLE = {Verdict.FITS: "bold green", Verdict.MARGINAL: "bold yellow",
          Verdict.DOES_NOT_FIT: "bold red"}  # fmt: skip


def _print_answer(
    file: Path, answer: Answer, profile: Profile, asked: _Asked, *, shared: bool
) -> None:
    out = console()
    style = _STYLE[answer.verdict]
    out.print(f"[{style}]{file}: {answer.verdict.value}[/{style}]")
    made = table("", ["resource", "use", "breaks at"], ["use", "breaks at"])
    for use in answer.demand.uses:
        alone = f"× {1 / use.share:.3g}" if use.share > 0 else "–"
        made.add_row(use.resource, f"{use.share:.1%}", alone)
    out.print(made)
    out.print(f"first to break: {answer.demand.first.resource}")
    if answer.demand.first.resource.startswith(QUEUE):
        out.print(
            f"[dim]beyond it the queue drops more than {MAX_LOST:.0%}, which may be intended. A "
            "larger depth of the channel avoids it[/dim]"
        )
    out.print(
        f"saturation: all rates × {answer.knee:.3g}   "
        f"[dim](nine in ten: × {answer.low:.3g} to × {answer.high:.3g})[/dim]"
    )
    out.print(f"growth in size: all sizes × {_reach(answer.size)}")
    out.print(f"robots:         {_reach(answer.robots, whole=True)} of these on the same hosts")
    if answer.on_air is not None:
        out.print(
            f"robots on air:  at most {answer.on_air}, each on its own hosts "
            f"[dim](calibrated with {answer.ways[LINK].hosts} hosts, loss by contention between "
            "more hosts is not known)[/dim]"
        )
    out.print(
        f"[dim]N·f·S after Jordan (CSLV), for comparison: all rates × {answer.classic:.3g}[/dim]"
    )
    out.print(f"[dim]{DEFINITION}[/dim]")
    if asked.silent:
        out.print(
            "[yellow]not counted, because the plan gives no size or rate: "
            f"{_some(asked.silent)}[/yellow]"
        )
    if asked.interpreted:
        nodes = [f"{node} ({_some(names)})" for node, names in asked.interpreted.items()]
        out.print(
            "[yellow]Python, predicted like C++. The interpreter's time for each message counts "
            f"only with a work_us: {_some(nodes)}[/yellow]"
        )
    if not _same_machine(profile):
        out.print(
            f"[dim]for the machine of the profile: {profile.machine.get('cpu', 'unknown')}, "
            f"{profile.cores:g} cores[/dim]"
        )
    if len(answer.graph.hosts) > 1:
        each = "all on this one machine" if shared else "each such a machine"
        out.print(f"[dim]hosts: {', '.join(answer.graph.hosts)}, {each}[/dim]")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "")


_ENDS = {
    End.BREAKS: "",
    End.CALIBRATION: " or more (the calibration ends there)",
    End.SEARCH: " or more (the search ends there)",
}


def _reach(reach: Reach, *, whole: bool = False) -> str:
    text = f"{reach.factor:.0f}" if whole else f"{reach.factor:.3g}"
    return text + _ENDS[reach.end]


# Verification.


def verify_plan(
    file: Path,
    profile_file: Path,
    link: str,
    settings: Sequence[str],
    patience_s: float,
    measure_only: bool,
    as_json: bool,
    page: Path | None = None,
) -> int:
    """Runs a plan's graph with synthetic nodes and compares. Returns 1 if the measured saturation
    point is outside the predicted band."""
    asked = _plan(file, settings)
    graph = asked.graph
    profile = None if measure_only else profiles.load(profile_file)
    if profile is not None:
        expect_best(profile.machine)
    medium = _medium_for(graph, profile_file, link)
    out = console(stderr=True)
    for name in asked.silent[:8]:
        out.print(f"not run, because the plan gives no size or rate: {name}")
    with Bench(medium, patience_s=patience_s) as bench, on_signals(lambda _n: bench.stop()):
        if profile is None:
            knee = bench.knee(graph)
            if knee is None:
                return STOPPED
            return _tell_measured(file, knee, as_json)
        one = compare(graph, profile, bench, link)
    if one is None:
        return STOPPED
    if page is not None:
        _write_page([one], profile, page, f"{file}: predicted and measured")
    if as_json:
        print_json(comparison_json(one))
    else:
        console().print(comparison_table([one], str(file)))
        console().print(_verify_text(one))
    return 0 if one.low <= one.measured.scale <= one.high else 1


def _write_page(compared: Sequence[Comparison], profile: Profile, path: Path, title: str) -> None:
    from hyphos.lab.capacity.report import write_report  # noqa: PLC0415

    path.parent.mkdir(parents=True, exist_ok=True)
    console(stderr=True).print(f"report: {write_report(compared, profile, path, title)}")


def _medium_for(graph: Graph, profile_file: Path, link: str) -> Medium | None:
    """The medium between the hosts of a graph: a link of the profile, or one in the format of
    `hyphos lab calibrate --link`."""
    if len(graph.hosts) == 1:
        return None
    if "=" in link:
        return link_of(link)[1]
    chosen = profiles.load(profile_file).link(link) if profile_file.exists() else None
    if chosen is None:
        raise Error(
            "invalid_config",
            "no calibrated link joins the hosts of the plan",
            advice="hyphos lab calibrate --link NAME=veth,rate_mbit=1000, or to measure only: "
            "--link NAME=tun,rate_mbit=1000",
        )
    return chosen[1].medium


def _tell_measured(file: Path, knee: Knee, as_json: bool) -> int:
    if as_json:
        print_json({"plan": str(file), "knee": knee.scale, "disturbed": knee.disturbed})
    else:
        console().print(f"{file}: carried up to {knee.low:.3g} times its rates, "
                        f"failed at {knee.high:.3g}")  # fmt: skip
    return 0 if knee.low >= 1.0 else 1


def _verify_text(one: Comparison) -> str:
    now = "is carried" if one.measured.scale >= 1.0 else "is not carried"
    apart = (
        "\nthe processors were on different L3 caches, so the graph may carry more on the same one"
    )
    told = f"as planned, the graph {now}, predicted: {one.verdict(1.0).value}"
    return told + apart if one.measured.apart else told


def comparison_table(compared: Sequence[Comparison], title: str) -> Table:
    right = ["predicted ×", "nine in ten", "measured ×", "error", "a + b·S", "CSLV"]
    made = table(title, ["graph", "transport", *right], right)
    for one in compared:
        measured = one.measured.scale
        made.add_row(
            one.graph,
            one.way,
            f"{one.predicted:.3g}",
            f"{one.low:.3g}–{one.high:.3g}",
            f"{measured:.3g}" + (" [dim]disturbed[/dim]" if one.measured.disturbed else ""),
            f"{one.error:+.0%}",
            f"{one.linear / measured - 1:+.0%}",
            f"{one.classic / measured - 1:+.0%}",
        )
    return made


def _held_out_jobs(profile: Profile, chosen: Sequence[str]) -> list[tuple[str, str, list[Graph]]]:
    """The test set: the printed name of the transport, the link, and the graphs."""
    jobs = [(name, "", held_out(name, one.sizes[1])) for name, one in profile.ways.items()]
    jobs += [(name, name, held_out(LINK, one.sizes[1])) for name, one in profile.links.items()]
    short = [graph for way in profile.ways for graph in held_out_short(way)]
    jobs += [(SHORT, "", short)] if short else []
    jobs = [job for job in jobs if not chosen or job[0] in chosen]
    if chosen and MIXED not in chosen:
        return jobs
    mixed = [(MIXED, "", held_out_mixed())]
    mixed += [
        (f"{MIXED}, {name}", name, held_out_mixed(one.sizes[1]))
        for name, one in profile.links.items()
    ]
    for told, link, graphs in mixed:
        known = {*profile.ways, LINK} if link else {*profile.ways}
        able = [g for g in graphs if {d.way for d in g.deliveries()} <= known]
        if able:
            jobs.append((told, link, able))
    return jobs


def verify_held_out(
    profile_file: Path,
    ways: Sequence[str],
    patience_s: float,
    output: Path | None,
    page: Path | None = None,
) -> int:
    """Measures the test set, which no calibration contains, and prints the prediction errors."""
    profile = profiles.load(profile_file)
    expect_best(profile.machine)
    compared: list[Comparison] = []
    out = console(stderr=True)
    for name, link, graphs in _held_out_jobs(profile, ways):
        medium = profile.links[link].medium if link else None
        with Bench(medium, patience_s=patience_s) as bench, on_signals(lambda _n: bench.stop()):
            for graph in graphs:
                found = compare(graph, profile, bench, link, name)
                if found is None:
                    return STOPPED
                compared.append(found)
                out.print(f"{name}: {graph.name} {found.error:+.0%}")
                if output is not None:
                    _write(output, compared)
    if not compared:
        raise Error(
            "not_found", "the profile has none of these transports", advice="see its `ways`"
        )
    _tell_held_out(compared, profile, page)
    if (faster := expect_best(profile.machine)) > 1 / SLOW:
        out.print(
            f"the machine was up to {faster:.1f} times as fast as during calibration, so other "
            "load disturbed the calibration. Calibrate again with --wait-quiet"
        )
    return 0


def verify_anew(
    profile_file: Path,
    ways: Sequence[str],
    links: Sequence[str],
    patience_s: float,
    output: Path | None,
    page: Path | None = None,
) -> int:
    """The same, but calibrates each transport in between. Writes the profile."""
    known, jobs = _to_calibrate(profile_file, ways, links)
    compared: list[Comparison] = []
    out = console(stderr=True)
    for name, way, medium in jobs:
        plan = Plan(way, medium, tcp=_tcp(known))
        graphs = held_out(way, max(kind.size for kind in plan.kinds))
        least, searches = 2 * (len(graphs) + len(plan.kinds)), 0
        with Bench(medium, patience_s=patience_s) as bench, on_signals(lambda _n: bench.stop()):

            def told(graph: Graph, knee: Knee, name: str = name, least: int = least) -> None:
                nonlocal searches
                searches += 1
                out.print(f"{name} {searches}/{least}: {graph.name} {_knee_text(knee, graph)}")

            found = calibrate_among(plan, graphs, bench, told)
        if found is None:
            out.print("stopped, earlier calibrations are kept")
            return STOPPED
        calibrated, measured = found
        known = _kept(known, name, calibrated, profile_file)
        link = name if way == LINK else ""
        compared += [
            comparison(graph, known, one, link, name)
            for graph, one in zip(graphs, measured, strict=True)
        ]
        if output is not None:
            _write(output, compared)
    console().print(_profile_table(known))
    _tell_held_out(compared, known, page)
    return 0


def _tell_held_out(compared: Sequence[Comparison], profile: Profile, page: Path | None) -> None:
    if page is not None:
        _write_page(compared, profile, page, "Test set: predicted and measured")
    console().print(comparison_table(compared, "Test set"))
    _print_summary(compared)


def _write(path: Path, compared: Sequence[Comparison]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([comparison_json(one) for one in compared], indent=1) + "\n")


def _print_summary(compared: Sequence[Comparison]) -> None:
    made = table("", ["prediction", "median error", "worst"], ["median error", "worst"])
    quiet = [one.error for one in compared if not one.measured.disturbed]
    for name, errors in (
        ("this model", [one.error for one in compared]),
        (f"… of the {len(quiet)} undisturbed ones", quiet),
        ("a + b·S", [one.linear / one.measured.scale - 1 for one in compared]),
        ("CSLV", [one.classic / one.measured.scale - 1 for one in compared]),
    ):
        if not errors:
            continue
        found = summary(errors)
        made.add_row(name, f"{found.median:.0%}", f"{found.worst:.0%}")
    console().print(made)
    inside = sum(one.low <= one.measured.scale <= one.high for one in compared)
    console().print(f"{inside} of {len(compared)} within the predicted band of nine in ten")
    made = table(
        "Every graph at 0.5, 0.7, 0.85, 1.2, 1.5 and 2 times its measured saturation point",
        ["verdict", "carried", "not carried"],
        ["carried", "not carried"],
    )
    for verdict, (held, broke) in confusion(compared).items():
        made.add_row(verdict.value, str(held), str(broke))
    console().print(made)
