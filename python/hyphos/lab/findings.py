"""Published findings of an experiment, beside the results of this machine."""

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
    """A finding, and the verdicts of its criterion."""

    finding: Finding
    criterion: Criterion
    verdicts: list[Verdict]

    @property
    def met(self) -> int:
        return sum(verdict.met for verdict in self.verdicts)

    @property
    def whole(self) -> bool:
        """Whether the finding holds for all measured rows. If `mixed`, for some of them."""
        if self.finding.mixed:
            return 0 < self.met < len(self.verdicts)
        return bool(self.verdicts) and self.met == len(self.verdicts)

    def answer(self) -> str:
        count = len(self.verdicts)
        if not count:
            return "not measured"
        if self.finding.mixed:
            said = "confirmed" if self.whole else "not confirmed"
            return f"{said}: holds in {self.met} of {count}"
        if self.whole:
            return "confirmed"
        return f"confirmed in {self.met} of {count}" if self.met else "not confirmed"

    def source(self) -> str:
        """The source of the finding: Kronauer et al., Sec. V: “The higher …”"""
        one = self.finding
        return f"{PAPERS[one.paper]}, {one.where}: “{one.quote}”" if one.paper else ""

    def theirs(self) -> str:
        """The figures of the paper, of the same kind as figures()."""
        return "; ".join(f"{number(value)} ({of})" for of, value in self.finding.theirs.items())

    def differs(self) -> str:
        """The differences from the paper, by peer. Independent of the verdict."""
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
        """The encoding for `--json` and the pages."""
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
        """The measured figures by peer, as smallest … largest."""
        by_peer: dict[str, list[float]] = {}
        for verdict in self.verdicts:
            if not math.isnan(verdict.value):
                by_peer.setdefault(verdict.row.peer, []).append(verdict.value)
        return "; ".join(f"{peer} {_range(values)}" for peer, values in by_peer.items())

    def measure(self) -> str:
        """The definition of the figures."""
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
    """Whether a peer has that name, or is a variant of a peer with that name."""
    return name in (peer, peer.split("/", maxsplit=1)[0])


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} … {high}"


def parse(findings: Sequence[Finding]) -> list[Criterion]:
    """Raises Error if `holds` of a finding is not a criterion."""
    return [asserts.parse(finding.holds) for finding in findings]


def beside(findings: Sequence[Finding], rows: list[Row]) -> list[Beside]:
    """Each finding with its verdicts. A part of an experiment does not decide all findings."""
    found = []
    judged = asserts.judge_each(parse(findings), rows)
    for finding, (criterion, verdicts) in zip(findings, judged, strict=True):
        names = finding.peers
        meant = [v for v in verdicts if not names or any(_is(v.row.peer, name) for name in names)]
        found.append(Beside(finding, criterion, meant))
    return found


def of_knees(told: Sequence[Finding], rows: list[Row]) -> list[Beside]:
    """The findings about saturation points, beside the measured ones."""
    judged = zip(told, parse(told), strict=True)
    return beside([finding for finding, criterion in judged if criterion.of_knees], rows)


def lines(one: Mapping[str, Any]) -> list[str]:
    """The lines of a finding for the terminal, from as_dict(): the verdict, then its details."""
    colour = "green" if one["whole"] else "yellow"
    told = [f"“{escape(one['says'])}”: [{colour}]{one['answer']}[/{colour}]"]
    if not one["figures"]:
        return told  # no comparable measurement
    named = (
        ("source", ""),
        ("figures", "here: "),
        ("theirs", "there: "),
        ("differs", "differs: "),
    )
    told += [f"  [dim]{name}{escape(one[key])}[/dim]" for key, name in named if one.get(key)]
    return told
