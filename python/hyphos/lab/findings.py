"""What others have found with an experiment, beside what was measured here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape

from hyphos.lab import asserts
from hyphos.lab.asserts import Criterion, Verdict
from hyphos.lab.experiment import PAPERS, Finding
from hyphos.lab.results import Row
from hyphos.lab.show import number


@dataclass(frozen=True)
class Beside:
    """A finding, and the figures that speak for or against it."""

    finding: Finding
    criterion: Criterion
    verdicts: list[Verdict]

    @property
    def met(self) -> int:
        return sum(verdict.met for verdict in self.verdicts)

    @property
    def whole(self) -> bool:
        """Whether the finding holds here, as far as it was measured."""
        if self.finding.mixed:
            return 0 < self.met < len(self.verdicts)
        return bool(self.verdicts) and self.met == len(self.verdicts)

    def answer(self) -> str:
        count = len(self.verdicts)
        if not count:
            return "not measured"
        if self.finding.mixed:
            said = "so it is here" if self.whole else "not so here"
            return f"{said}: in {self.met} of {count}"
        if self.whole:
            return "so it is here"
        return f"here in {self.met} of {count}" if self.met else "not so here"

    def source(self) -> str:
        """Its source: Kronauer et al., Sec. V: “The higher …”"""
        one = self.finding
        return f"{PAPERS[one.paper]}, {one.where}: “{one.quote}”" if one.paper else ""

    def theirs(self) -> str:
        """Their figures, of the same kind as figures()."""
        return "; ".join(f"{number(value)} ({of})" for of, value in self.finding.theirs.items())

    def differs(self) -> str:
        """The differences from the paper, for any verdict: by peer."""
        one = self.finding
        by_text: dict[str, list[str]] = {}
        for peer in dict.fromkeys(verdict.row.peer for verdict in self.verdicts):
            told = next((why for name, why in one.unlike.items() if _is(peer, name)), "")
            by_text.setdefault(told or one.differs, []).append(peer)
        by_text.pop("", None)
        if not one.unlike:
            return one.differs
        return " ".join(f"{', '.join(peers)}: {why}" for why, peers in by_text.items())

    def as_dict(self) -> dict[str, Any]:
        """The form for `--json` and the pages."""
        return {
            "says": self.finding.says,
            "holds": self.finding.holds,
            "source": self.source(),
            "answer": self.answer(),
            "whole": self.whole,
            "figures": f"{self.measure()}: {self.figures()}" if self.verdicts else "",
            "theirs": self.theirs(),
            "differs": self.differs(),
        }

    def figures(self) -> str:
        """What was found, by peer: from the least to the most."""
        by_peer: dict[str, list[float]] = {}
        for verdict in self.verdicts:
            if not math.isnan(verdict.value):
                by_peer.setdefault(verdict.row.peer, []).append(verdict.value)
        return "; ".join(f"{peer} {_range(values)}" for peer, values in by_peer.items())

    def measure(self) -> str:
        """What the figures are."""
        one = self.criterion
        sign = "−" if one.adds else "÷"
        base = f" {sign} that of {one.base}" if one.base else ""
        if one.spread:
            return f"{one.metric}{base}, the largest ÷ the smallest"
        if one.ends[1]:
            return f"{one.metric}{base} at {one.by} {one.ends[1]} ÷ at {one.ends[0]}"
        if one.by:
            return f"x of {one.metric} ~ {one.by}ˣ"
        return f"{one.metric}{base}"


def _is(peer: str, name: str) -> bool:
    """Whether a peer is, or is a variant of, what has that name."""
    return name in (peer, peer.split("/", maxsplit=1)[0])


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} … {high}"


def parse(findings: Sequence[Finding]) -> list[Criterion]:
    """Error if one is no criterion."""
    return [asserts.parse(finding.holds) for finding in findings]


def beside(findings: Sequence[Finding], rows: list[Row]) -> list[Beside]:
    """Each finding with what there is of it: of a part of an experiment not all can be said."""
    found = []
    judged = asserts.judge_each(parse(findings), rows)
    for finding, (criterion, verdicts) in zip(findings, judged, strict=True):
        names = finding.peers
        meant = [v for v in verdicts if not names or any(_is(v.row.peer, name) for name in names)]
        found.append(Beside(finding, criterion, meant))
    return found


def of_knees(told: Sequence[Finding], rows: list[Row]) -> list[Beside]:
    """The findings about the highest rates, beside these."""
    judged = zip(told, parse(told), strict=True)
    return beside([finding for finding, criterion in judged if criterion.of_knees], rows)


def lines(one: Mapping[str, Any]) -> list[str]:
    """A finding for the terminal, from as_dict(): the verdict, and its details below."""
    colour = "green" if one["whole"] else "yellow"
    told = [f"“{escape(one['says'])}”: [{colour}]{one['answer']}[/{colour}]"]
    if not one["figures"]:
        return told  # no comparable measurement
    named = (
        ("source", ""),
        ("figures", "here: "),
        ("theirs", "there: "),
        ("differs", "not alike: "),
    )
    told += [f"  [dim]{name}{escape(one[key])}[/dim]" for key, name in named if one.get(key)]
    return told
