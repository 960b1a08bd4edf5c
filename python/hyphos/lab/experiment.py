"""Experiments: YAML files that define measurements on a grid of parameters."""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from hyphos._errors import Error
from hyphos.lab import parts, placement
from hyphos.lab.case import (
    GRAPH,
    OF_GRAPH,
    OWN,
    SPREAD,
    WORKLOADS,
    Case,
    means_something,
)
from hyphos.lab.media import Medium, medium_of
from hyphos.lab.reader import PARAMETERS, Reader
from hyphos.lab.results import METRICS
from hyphos.lab.stage import check as check_links

BUILT_IN = Path(__file__).resolve().parent / "experiments"
MAX_CASES = 10_000
MAX_FILE = 1 << 20

_NAME = re.compile(r"[A-Za-z0-9_-]{1,30}")
# The authors, by the number for `hyphos lab paper`.
PAPERS = {
    "000": "Allspaw et al.",
    "001": "HyperGraph ROS",
    "003": "Kronauer et al.",
    "004": "Jordan",
}
MAX_QUOTE = 240
_FINDING = (
    *("says", "holds", "differs", "peers"),
    *("paper", "where", "quote", "theirs", "mixed"),
)
_KEYS = (
    *("lab", "name", "about", "workload", "peers", "grid", "full", "repeats", "assert"),
    *("base", "unlike", "links", "findings", "figures", parts.KEY),
)


@dataclass(frozen=True)
class Finding:
    """A published result: in words, as a criterion that tests these words, and with its source.
    `differs` gives the differences from the paper. Reports show it beside every verdict, positive
    or negative."""

    says: str
    holds: str
    differs: str = ""
    peers: tuple[str, ...] = ()  # the peers of the finding; empty: all that fit the criterion
    unlike: dict[str, str] = field(default_factory=dict)  # by peer, replaces `differs`
    paper: str = ""  # a key of PAPERS
    where: str = ""  # the table, figure or section
    quote: str = ""  # the literal sentence of the paper, or a part of it
    theirs: dict[str, float] = field(default_factory=dict)  # figures of the paper, by subject
    mixed: bool = False  # the criterion is met in some cases, not in all


@dataclass(frozen=True)
class Experiment:
    """The definition of a measurement: every peer runs every case `repeats` times."""

    name: str
    about: str
    peers: list[str]
    cases: list[Case]
    repeats: int = 5
    base: str = ""  # the peer for ratios; empty: none
    asserts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    links: dict[str, Medium] = field(default_factory=dict)
    needs: str = ""  # missing file, "recording" or "plan", to be given by --set
    figures: list[str] = field(default_factory=list)  # metrics in tables; empty: the default ones
    unlike: dict[str, str] = field(default_factory=dict)  # peers without a ratio, with the reason
    source: Path | None = None
    # The peers of each case of an experiment in parts, regardless of its length. Empty: all peers.
    own_peers: dict[Case, list[str]] = field(default_factory=dict)

    def varied(self) -> list[str]:
        """The parameters that differ among the cases, in the order of Case."""
        return list(self.cases[0].differing(self.cases)) if self.cases else []

    def peers_of(self, case: Case) -> list[str] | None:
        """The peers that the part of this case names. None: all peers."""
        return self.own_peers.get(parts.whatever_length(case)) if self.own_peers else None


def load(what: str, *, full: bool = False, changes: Sequence[str] = ()) -> Experiment:
    """The experiment in a file, or a built-in one by its name. `full` takes the whole grid of the
    paper if the file has a reduced one. `changes` are parameters NAME=VALUE that replace those of
    the file. Raises Error with file and line."""
    path = Path(what)
    if not path.suffix and not path.exists():
        path = BUILT_IN / f"{what}.yaml"
        if not path.exists():
            near = difflib.get_close_matches(what, built_in(), 1)
            raise Error(
                "not_found",
                f"unknown experiment '{what}'" + (f", did you mean '{near[0]}'?" if near else ""),
                advice="`hyphos lab list` shows the built-in ones. Or give a .yaml file",
            )
    try:
        if path.stat().st_size > MAX_FILE:
            raise Error("invalid_config", "the file is larger than 1 MB", str(path))
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Error("io", f"cannot read the file: {error}", str(path)) from None
    return parse(text, str(path), full=full, changes=changes)


def built_in() -> list[str]:
    return sorted(path.stem for path in BUILT_IN.glob("*.yaml"))


def parse(text: str, file: str, *, full: bool = False, changes: Sequence[str] = ()) -> Experiment:
    """The experiment described by `text`. Raises Error with `file` and the line."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else file
        problem = getattr(error, "problem", None) or str(error)
        raise Error("invalid_config", f"invalid YAML: {problem}", where) from None
    if not isinstance(root, yaml.MappingNode):
        raise Error("invalid_config", "an experiment is a mapping that begins with `lab: 1`", file)
    reader = Reader(file, root)
    if reader.text("lab") != "1":
        raise reader.error(
            reader.line, "this is not an experiment", advice="begin the file with `lab: 1`"
        )
    every = parts.split(file, root)
    found = [_part(Reader(file, one), full, parts.meant(one, every, changes)) for one in every]
    return _joined(found, file, reader.values.get(parts.KEY))


def _joined(found: Sequence[Experiment], file: str, node: yaml.Node | None) -> Experiment:
    """The parts as one experiment. A case of several parts is measured once, with the peers of all.
    `node` is the list of parts."""
    if node is None:
        return found[0]
    where = f"{file}:{node.start_mark.line + 1}"
    if len({part.repeats for part in found}) > 1:
        raise Error(
            "invalid_config",
            "all parts need the same `repeats`, because they run side by side",
            where,
            "write `repeats` above the parts",
        )
    own: dict[Case, list[str]] = {}
    for part in found:
        for case in part.cases:
            names = own.setdefault(parts.whatever_length(case), [])
            names += [name for name in part.peers if name not in names]
    cases = list(dict.fromkeys(case for part in found for case in part.cases))
    if len(own) < len(cases):
        raise Error("invalid_config", "two parts have the same case with different lengths", where)
    return replace(
        found[0],
        cases=cases,
        peers=list(dict.fromkeys(name for part in found for name in part.peers)),
        needs=next((part.needs for part in found if part.needs), ""),
        own_peers=own,
    )


def _part(reader: Reader, full: bool, changes: Sequence[str]) -> Experiment:
    file = reader.file
    fixed = _fixed(reader)
    reader.only((*_KEYS, *PARAMETERS), "an experiment")
    workload = _workload(reader)
    grid = _grid(reader, "grid", workload)
    for name in grid:
        if name in fixed:
            raise reader.error(reader.values[name], f"'{name}' is set here and in the grid")
    for values in (fixed, grid):
        _beside(file, values)
    repeats, peers = _repeats(reader), reader.texts("peers")
    # Read it always, to report its mistakes.
    larger = _grid(reader, "full", workload, ("repeats", "peers"))
    _beside(file, larger)
    of_full = _of_full(reader, repeats, peers)
    if full:
        repeats, peers = of_full
        grid |= larger
        fixed = {name: value for name, value in fixed.items() if name not in larger}
    changed = _changes(changes)
    grid = {name: values for name, values in grid.items() if name not in changed}
    fixed |= changed
    cases = [_case(reader, workload, fixed | point) for point in _points(grid)]
    if len(cases) > MAX_CASES:
        raise reader.error(reader.line, f"{len(cases)} cases are too many, at most {MAX_CASES}")
    links = _links(reader)
    check_links(links, cases)
    return Experiment(
        name=reader.text("name", Path(file).stem),
        about=reader.text("about"),
        peers=peers or ["hyphos"],
        cases=cases,
        repeats=repeats,
        base=reader.text("base"),
        asserts=reader.texts("assert"),
        findings=_findings(reader),
        links=links,
        needs=_needs(workload, cases, fixed),
        figures=_figures(reader),
        unlike=_unlike(reader),
        source=Path(file),
    )


def _changes(changes: Sequence[str]) -> dict[str, Any]:
    """The parameters that NAME=VALUE words set for all cases."""
    changed: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise Error("invalid_config", f"'{change}' is not NAME=VALUE", "--set")
        node = yaml.compose(json.dumps({name: value}))
        assert isinstance(node, yaml.MappingNode)
        reader = Reader("--set", node)
        reader.only(PARAMETERS, "a case")
        changed |= _fixed(reader)
    return changed


def _beside(file: str, values: dict[str, Any]) -> None:
    """Makes the path of a plan relative to the folder of the experiment's file."""
    if plan := values.get("plan"):
        folder = Path(file).parent
        several = isinstance(plan, list)
        named = [str(folder / Path(one).expanduser()) for one in (plan if several else [plan])]
        values["plan"] = named if several else named[0]


def _needs(workload: str, cases: list[Case], fixed: dict[str, Any]) -> str:
    """The kind of file that the cases lack. Empty if they are complete."""
    if workload == GRAPH and not all(case.plan for case in cases):
        return "plan"
    return "recording" if "recording" in fixed and not fixed["recording"] else ""


def _case(reader: Reader, workload: str, parameters: dict[str, Any]) -> Case:
    case = replace(Case(workload), **parameters)
    _check_fit(reader, case, parameters)
    if workload == GRAPH:
        return case
    if wrong := placement.unknown(case):
        raise reader.error(reader.values.get("placement", reader.line), wrong)
    if case.hosts > 1:
        _check_hosts(reader, case)
    return _check_recording(reader, case, parameters)


def _check_fit(reader: Reader, case: Case, parameters: dict[str, Any]) -> None:
    """Raises Error if a parameter has no effect in the workload."""
    for name in parameters:
        if not means_something(name, case.workload):
            advice = f"a graph has {', '.join(OF_GRAPH)}. Its plan defines all others"
            raise reader.error(
                reader.values.get(name, reader.line),
                f"'{name}' has no effect in the workload {case.workload}",
                advice=advice if case.workload == GRAPH else _of_which(name),
            )
    node = reader.values.get("relay", reader.line)
    if case.relay == "own" and not case.link:
        raise reader.error(node, "relay: own needs a link with a host for the gateway")
    if case.stall_ms >= case.stall_every_ms:
        node = reader.values.get("stall_ms", reader.line)
        raise reader.error(node, "stall_ms must be less than stall_every_ms")


def _of_which(name: str) -> str:
    return "it applies to " + ", ".join(one for one in WORKLOADS if means_something(name, one))


def _check_hosts(reader: Reader, case: Case) -> None:
    """Raises Error if the workload has too little to spread over several far hosts."""
    node = reader.values.get("hosts", reader.line)
    if not case.link:
        raise reader.error(node, "'hosts' needs a link")
    if case.workload not in SPREAD:
        raise reader.error(
            node,
            f"the workload {case.workload} has nothing to spread over {case.hosts} hosts",
            advice="use one of " + ", ".join(SPREAD),
        )
    many = SPREAD[case.workload]
    count = getattr(case, many) - (1 if case.workload == "pipeline" else 0)
    if case.hosts > count:
        rest = " after the first" if case.workload == "pipeline" else ""
        raise reader.error(node, f"{case.hosts} hosts are more than the {count} {many}{rest}")


def _check_recording(reader: Reader, case: Case, parameters: dict[str, Any]) -> Case:
    if not case.recording:
        if "recording" in parameters:  # --set will name it
            return case
        for name in ("channel", "speed"):
            if parameters.get(name):
                raise reader.error(reader.line, f"'{name}' needs a recording")
        return case
    if "size" in parameters:
        raise reader.error(reader.line, "recorded messages have their own sizes, remove 'size'")
    if "rate_hz" in parameters and "speed" in parameters:
        raise reader.error(
            reader.line, "recorded messages have either a 'speed' or a 'rate_hz', not both"
        )
    if "rate_hz" not in parameters and "speed" not in parameters:
        return replace(case, speed=1.0)
    return case


def _workload(reader: Reader) -> str:
    workload = reader.text("workload")
    if workload not in WORKLOADS:
        node = reader.values.get("workload", reader.line)
        said = f"unknown workload '{workload}'" if workload else "the workload is missing"
        raise reader.error(node, said, advice="use one of " + ", ".join(WORKLOADS))
    return workload


def _links(reader: Reader) -> dict[str, Medium]:
    """The links between two hosts, by name."""
    node = reader.values.get("links")
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise reader.error(node, "'links' must be a mapping of names to {kind: …}")
    links = {}
    for name, value in Reader(reader.file, node).values.items():
        where = f"{reader.file}:{value.start_mark.line + 1}"
        if not _NAME.fullmatch(name):
            raise Error(
                "invalid_config",
                f"'{name}' is not a valid name: use letters, digits, - and _",
                where,
            )
        options = yaml.SafeLoader("").construct_document(value)
        if not isinstance(options, dict) or "kind" not in options:
            raise Error("invalid_config", f"the link '{name}' must be a mapping with a kind", where)
        links[name] = medium_of(str(options.pop("kind")), options, where)
    return links


def _unlike(reader: Reader) -> dict[str, str]:
    """Peers without a ratio, because their work differs from that of the base."""
    node = reader.values.get("unlike")
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise reader.error(node, "'unlike' must be a mapping of peers to reasons")
    inner = Reader(reader.file, node)
    return {name: inner.text(name) for name in inner.values}


def _figures(reader: Reader) -> list[str]:
    names = reader.texts("figures")
    for name in names:
        if name not in METRICS:
            raise reader.error(
                reader.values["figures"],
                f"unknown metric '{name}'",
                advice="use one of " + ", ".join(METRICS),
            )
    return names


def _findings(reader: Reader) -> list[Finding]:
    node = reader.values.get("findings")
    if node is None:
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise reader.error(node, "'findings' must be a list of {says: …, holds: …, differs: …}")
    found = []
    for one in node.value:
        if not isinstance(one, yaml.MappingNode):
            raise reader.error(one, "a finding must be {says: …, holds: …, differs: …}")
        inner = Reader(reader.file, one)
        if "otherwise" in inner.values:
            raise inner.error(
                inner.values["otherwise"],
                "'otherwise' is not allowed: it excuses one outcome",
                advice="use `differs` for the differences from the paper, shown with every outcome",
            )
        inner.only(_FINDING, "a finding")
        finding = _finding(inner)
        if not (finding.says and finding.holds):
            raise inner.error(one, "a finding needs 'says' (words) and 'holds' (a criterion)")
        found.append(finding)
    return found


def _finding(inner: Reader) -> Finding:
    differs, unlike = _differences(inner)
    source = {name: inner.text(name) for name in ("paper", "where", "quote")}
    if any(source.values()) and not all(source.values()):
        lacks = ", ".join(f"'{name}'" for name, text in source.items() if not text)
        raise inner.error(inner.line, f"a finding of a paper lacks {lacks}")
    if source["paper"] and source["paper"] not in PAPERS:
        raise inner.error(
            inner.values["paper"],
            f"unknown paper '{source['paper']}'",
            advice="use one of " + ", ".join(f"'{number}'" for number in PAPERS),
        )
    if len(source["quote"]) > MAX_QUOTE:
        raise inner.error(inner.values["quote"], f"a quote has at most {MAX_QUOTE} characters")
    mixed = inner.text("mixed", "no")
    if mixed not in ("yes", "no"):
        raise inner.error(inner.values["mixed"], "mixed must be yes or no")
    return Finding(
        inner.text("says"),
        inner.text("holds"),
        differs,
        tuple(inner.texts("peers")),
        unlike,
        theirs=_theirs(inner),
        mixed=mixed == "yes",
        **source,
    )


def _theirs(finding: Reader) -> dict[str, float]:
    node = finding.values.get("theirs")
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise finding.error(node, "'theirs' must be a mapping of cases to figures")
    inner = Reader(finding.file, node)
    found = {}
    for name in inner.values:
        try:
            found[name] = float(inner.text(name))
        except ValueError:
            raise inner.error(
                inner.values[name], f"theirs: '{inner.text(name)}' is not a number"
            ) from None
    return found


def _differences(finding: Reader) -> tuple[str, dict[str, str]]:
    """The differences from the paper for all peers, and for single peers."""
    node = finding.values.get("differs")
    if not isinstance(node, yaml.MappingNode):
        return finding.text("differs"), {}
    inner = Reader(finding.file, node)
    unlike = {name: inner.text(name) for name in inner.values}
    return unlike.pop("others", ""), unlike


def _repeats(reader: Reader) -> int:
    text = reader.text("repeats", "5")
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise reader.error(reader.values["repeats"], "repeats must be an integer from 1 to 1000")
    return int(text)


def _fixed(reader: Reader) -> dict[str, Any]:
    """Parameters that have one value for all cases."""
    fixed: dict[str, Any] = {}
    for name in PARAMETERS:
        node = reader.values.get(name)
        if node is None:
            continue
        fixed[name] = reader.parameter(name, node)
    return fixed


def _of_full(reader: Reader, repeats: int, peers: list[str]) -> tuple[int, list[str]]:
    """Repeats and peers of the whole grid, which may replace those of the reduced grid."""
    node = reader.values.get("full")
    if not isinstance(node, yaml.MappingNode):
        return repeats, peers
    inner = Reader(reader.file, node)
    if "repeats" in inner.values:
        repeats = _repeats(inner)
    return repeats, inner.texts("peers") or peers


def _grid(
    reader: Reader, key: str, workload: str, besides: tuple[str, ...] = ()
) -> dict[str, list[Any]]:
    node = reader.values.get(key)
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise reader.error(node, f"'{key}' must be a mapping of parameters to lists of values")
    inner = Reader(reader.file, node)
    inner.only((*PARAMETERS, *besides), key)
    grid: dict[str, list[Any]] = {}
    for name, values in inner.values.items():
        if name in besides:
            continue
        if name in OWN and OWN[name] != workload:
            raise inner.error(
                values, f"'{name}' applies to the workload {OWN[name]}, not to {workload}"
            )
        grid[name] = inner.values_of(name, values)
    return grid


def _points(grid: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))
