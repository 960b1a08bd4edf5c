"""Tests whether a change makes a difference if everything else is equal, and estimates its size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyphos.lab.stats import Estimate, bootstrap


@dataclass(frozen=True)
class Paired:
    """Differences of pairs, and their statistics."""

    count: int
    different: int  # pairs whose difference is not 0
    shift: Estimate  # the median of all means of two differences (Hodges and Lehmann 1963)
    effect: Estimate  # rank-biserial correlation: -1, all fall; 1, all rise; 0, no tendency
    p: float  # two-sided, of the signed-rank test

    @property
    def null(self) -> bool:
        """Whether chance produces such a result more often than once in twenty times."""
        return self.p >= 0.05

    @property
    def too_few(self) -> bool:
        """Whether so few pairs always give a null result, because chance may make all of them
        rise."""
        return 2.0 ** (1 - self.count) >= 0.05


def compare(before: Sequence[float], after: Sequence[float]) -> Paired:
    """The pairs `after - before`. Omits pairs with a missing value (NaN)."""
    pairs = zip(before, after, strict=True)
    return of([b - a for a, b in pairs if not (math.isnan(a) or math.isnan(b))])


def of(differences: Sequence[float]) -> Paired:
    return Paired(
        len(differences),
        sum(one != 0 for one in differences),
        bootstrap(differences, _hodges_lehmann),
        bootstrap(differences, _rank_biserial),
        signed_rank(differences),
    )


def signed_rank(differences: Sequence[float]) -> float:
    """The p-value of Wilcoxon's signed-rank test (1945), two-sided and exact: over all assignments
    of signs to the ranks, the share that is at least as far from the middle. Omits differences of
    0. Equal differences share their ranks. 1 if there is no difference."""
    ranks, positive = _ranks(differences)
    if not len(ranks):
        return 1.0
    doubled = np.rint(2 * ranks).astype(np.int64)  # shared ranks are halves
    total = int(doubled.sum())
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] = (ways[rank:] + ways[: total + 1 - rank]) / 2
        ways[:rank] /= 2
    seen = int(doubled[positive].sum())
    off = abs(2 * seen - total)
    far = np.abs(2 * np.arange(total + 1) - total) >= off
    return float(min(1.0, ways[far].sum()))


def _ranks(differences: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The ranks of the non-zero differences by size, and whether each difference is positive."""
    values = np.array([one for one in differences if one != 0], float)
    _, inverse, counts = np.unique(np.abs(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared = last - (counts - 1) / 2
    return shared[inverse], values > 0


def _rank_biserial(differences: Sequence[float]) -> float:
    """Rank-biserial correlation (Kerby 2014)."""
    ranks, positive = _ranks(differences)
    if not len(ranks):
        return 0.0
    return float((ranks[positive].sum() - ranks[~positive].sum()) / ranks.sum())


def _hodges_lehmann(differences: Sequence[float]) -> float:
    values = np.array(differences, float)
    first, second = np.triu_indices(len(values))
    return float(np.median((values[first] + values[second]) / 2))
