"""What others have found with an experiment, beside what was measured here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hyphos.lab import asserts
from hyphos.lab.asserts import Criterion, Verdict
from hyphos.lab.experiment import Finding
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
        return bool(self.verdicts) and self.met == len(self.verdicts)

    def answer(self) -> str:
        if not self.verdicts:
            return "not measured"
        if self.whole:
            return "so it is here"
        return f"here in {self.met} of {len(self.verdicts)}" if self.met else "not so here"

    def reason(self) -> str:
        """Why it may be otherwise here: with each peer with which it is."""
        one = self.finding
        failing: dict[str, list[str]] = {}
        for peer in dict.fromkeys(v.row.peer for v in self.verdicts if not v.met):
            told = next((why for name, why in one.reasons.items() if _is(peer, name)), "")
            failing.setdefault(told or one.otherwise, []).append(peer)
        failing.pop("", None)
        if not one.reasons:
            return "".join(failing)
        return " ".join(f"{', '.join(peers)}: {why}" for why, peers in failing.items())

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
        if one.ends[1]:
            return f"{one.metric} at {one.by} {one.ends[1]} ÷ at {one.ends[0]}"
        if one.by:
            return f"x of {one.metric} ~ {one.by}ˣ"
        if one.base:
            return f"{one.metric} {'−' if one.adds else '÷'} that of {one.base}"
        return one.metric


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
