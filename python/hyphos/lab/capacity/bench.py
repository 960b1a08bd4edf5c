"""Runs graphs with synthetic nodes, and searches their saturation points."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from hyphos._closing import Closing
from hyphos._errors import Error
from hyphos.lab import knee
from hyphos.lab.capacity.graph import Graph
from hyphos.lab.domain import domains
from hyphos.lab.knee import MIN_MESSAGES, RESOLUTION, SECONDS, Offered
from hyphos.lab.limits import Place
from hyphos.lab.links import Network
from hyphos.lab.machine import Load, LoadWatch, wait_until_close, wait_until_quiet
from hyphos.lab.media import Medium
from hyphos.lab.peers import lab_program
from hyphos.lab.programs import Programs
from hyphos.lab.reaper import Reaper, temporary_folder
from hyphos.lab.stage import sweep_all

PROGRAM = "hyphos-lab-graph"
SCALES = (1e-5, 1e6)
# Difference of the logarithms of two saturation points above which a third search decides.
DIFFERENT = 0.15
MOST_SEARCHES = 3
# Maximum repetitions of a run that failed beside a disturbance.
FAIR_TRIES = 4
# Total wait of one search for processors that are on different L3 caches.
CLOSE_S = 60.0
# A run with a smaller share of messages fails on near processors too.
FAR_TOO_MUCH = 0.35


@dataclass(frozen=True)
class Trial:
    """One run of a graph at `scale` times its rates."""

    scale: float
    seconds: float
    result: dict[str, Any]
    load: Load

    @property
    def cores_used(self) -> float:
        return float(self.result["cores_used"])

    @property
    def offered(self) -> Offered:
        return knee.of_graph(self.result, self.seconds)

    def behind(self) -> float:
        """The growth of the flow that falls behind most, as a share of the time."""
        return self.offered.growth

    @property
    def holds(self) -> bool:
        """Whether the load was carried by the definition in hyphos.lab.knee."""
        return self.offered.carried

    @property
    def nearly(self) -> bool:
        return self.share_done > 0.8

    @property
    def share_done(self) -> float:
        """The share of the load that arrived in time: a first guess at the saturation point."""
        arrived = min(
            (flow["received"] / max(flow["expected"], 1) for flow in self.result["flows"]),
            default=0.0,
        )
        sent = min(
            (one["sent"] / one["planned"] for one in self.result["sources"] if one["planned"]),
            default=1.0,
        )
        return float(arrived * sent * min(1.0, self.seconds / self.result["seconds"]))


@dataclass(frozen=True)
class Knee:
    """A saturation point: the graph was carried at `low` times its rates, and failed at `high`."""

    low: float
    high: float
    trials: list[Trial] = field(default_factory=list, compare=False)

    @property
    def scale(self) -> float:
        return math.sqrt(self.low * self.high)

    @property
    def disturbed(self) -> bool:
        """Whether other programs ran during the deciding runs."""
        return any(one.load.disturbed for one in self._deciding)

    @property
    def apart(self) -> bool:
        """Whether a deciding run failed on different L3 caches, so the graph may carry more."""
        return any(one.load.apart and not one.holds for one in self._deciding)

    @property
    def pace(self) -> float:
        """The pace of the machine in the deciding runs, see hyphos.lab.machine.pace(). 0: not
        known."""
        return median([one.load.pace for one in self._deciding] or [0.0])

    @property
    def _deciding(self) -> list[Trial]:
        return [one for one in self.trials if self.low * 0.99 <= one.scale <= self.high * 1.01]


@dataclass(frozen=True)
class Measured:
    """The saturation point of a graph from several searches."""

    searches: tuple[Knee, ...]

    @property
    def scale(self) -> float:
        """The median of the searches. A search decided on different L3 caches gives a lower bound.
        It counts only if it exceeds the median of the others, or if there are no others."""
        logs = [math.log(one.scale) for one in self.searches if not one.apart]
        bounds = [math.log(one.scale) for one in self.searches if one.apart]
        if logs:
            least = median(logs)
            bounds = [bound for bound in bounds if bound > least]
        return math.exp(median(logs + bounds))

    @property
    def disturbed(self) -> bool:
        return any(one.disturbed for one in self.searches)

    @property
    def apart(self) -> bool:
        """Whether all searches were decided on different L3 caches."""
        return all(one.apart for one in self.searches)

    @property
    def pace(self) -> float:
        return median(one.pace for one in self.searches)

    @property
    def doubtful(self) -> bool:
        """Whether to search once more. One search may have met a short interruption of the machine.
        If two searches differ, or only one of them counts, a third one decides."""
        if len(self.searches) == 1:
            return True
        first, second, *more = self.searches
        differ = abs(math.log(first.scale / second.scale)) > DIFFERENT
        return not more and (differ or first.apart or second.apart)

    def and_also(self, knee: Knee) -> Measured:
        return Measured((*self.searches, knee))

    @property
    def guess(self) -> float:
        """The start of a further search."""
        return 0.97 * self.searches[0].scale


class Bench(Closing):
    """Runs graphs on this machine. Hosts of a graph become namespaces joined by `medium`. Call
    stop() from any thread, everything else from one."""

    def __init__(self, medium: Medium | None = None, *, patience_s: float = 0.0) -> None:
        self._medium = medium
        self._patience_s = patience_s
        self._quiet = False  # at the end of the last run
        self._close_s = 0.0  # remaining wait of this search
        self._reaper: Reaper | None = None
        self._network: Network | None = None
        self._programs = Programs()
        self._domains = domains()

    @property
    def stopped(self) -> bool:
        return self._programs.stopped

    def stop(self) -> None:
        self._programs.stop()

    def run(self, graph: Graph, scale: float = 1.0, seconds: float = SECONDS) -> Trial | None:
        """One run. None if stopped. Raises Error if the graph cannot run."""
        if not self._quiet:
            wait_until_quiet(self._patience_s, lambda: self.stopped)
        network = self._hosts(graph)
        domain = next(self._domains)
        reaper = self._reaper
        assert reaper is not None
        left = [reaper.register("folder", str(domain.folder))]
        try:
            folder = temporary_folder(reaper, f"plan-{domain.run}")
            left.append(folder)
            plan = Path(folder.value) / "robot.yaml"
            addresses = {name: host.address for name, host in network.items()}
            plan.write_text(graph.robot_yaml(addresses))
            words = [str(lab_program(PROGRAM)), "--plan", str(plan), "--scale", f"{scale:.6g}"]
            words += ["--seconds", f"{seconds:.4g}", "--run-id", str(domain.run)]
            for name, host in network.items():
                words += ["--netns", f"{name}={host.namespace}"]
            watch = LoadWatch()
            words = Place(reaper).command(words)
            result = self._programs.run(PROGRAM, words, 200 + 3 * seconds)
            load = watch.finish()
            self._quiet = not load.disturbed
            return Trial(scale, seconds, result, load) if result else None
        finally:
            reaper.remove(*left)

    def _fair_run(self, graph: Graph, scale: float, seconds: float) -> Trial | None:
        """One run, repeated if the graph may not be the cause of a failure. A hiccup of the machine
        near the saturation point leaves queues that stay, so a narrow failure is repeated once. A
        failure on different L3 caches is repeated on the same one. With `patience_s`, a failure
        beside a disturbance is repeated until the graph is carried or the machine was quiet."""
        trial = self.run(graph, scale, seconds)
        left = FAIR_TRIES if self._patience_s else 1
        while trial is not None and left > 0 and not trial.holds:
            if trial.load.apart and trial.share_done > FAR_TOO_MUCH and self._come_close(seconds):
                trial = self.run(graph, scale, seconds)
                continue
            if not trial.load.disturbed:
                if not trial.nearly:
                    break
                left = min(left, 1)
            left -= 1
            trial = self.run(graph, scale, seconds)
        return trial

    def _come_close(self, seconds: float) -> bool:
        """Waits until the processors share an L3 cache, and counts the following run. False if they
        still do not, or if this search has used up its wait."""
        if self._close_s <= 0.0:
            return False
        began = time.monotonic()
        close = wait_until_close(self._close_s, lambda: self.stopped)
        self._close_s -= time.monotonic() - began + seconds
        return close

    def _hosts(self, graph: Graph) -> dict[str, Any]:
        """The hosts of a graph, created for the first run. Empty for one machine."""
        if self._reaper is None:
            sweep_all()
            self._reaper = Reaper()
        if len(graph.hosts) == 1:
            return {}
        if self._medium is None:
            raise Error(
                "invalid_config",
                f"no link joins the {len(graph.hosts)} hosts of the graph",
                advice="name one with --link",
            )
        if self._network is None or set(self._network.names) != set(graph.hosts):
            if self._network is not None:
                self._network.down()
            self._network = Network(self._medium, graph.hosts, reaper=self._reaper).up()
        return self._network.hosts

    def close(self) -> None:
        if self._network is not None:
            self._network.down()
            self._network = None
        if self._reaper is not None:
            self._reaper.close()
            self._reaper = None

    def measure(self, graph: Graph, guess: float = 1.0) -> Measured | None:
        """The saturation point by two searches, or three if they differ. None if stopped."""
        first = self.knee(graph, guess)
        found = Measured((first,)) if first is not None else None
        while found is not None and found.doubtful:
            again = self.knee(graph, found.guess)
            found = found.and_also(again) if again is not None else None
        return found

    def knee(self, graph: Graph, guess: float = 1.0, close_s: float = CLOSE_S) -> Knee | None:
        """The highest scale at which a graph is carried, within 6 %. None if stopped. `close_s` is
        the total wait for processors on the same L3 cache."""
        self._close_s = close_s
        slowest_hz = min(channel.rate_hz for channel in graph.channels if channel.rate_hz)
        low, high, scale = 0.0, math.inf, guess
        trials: list[Trial] = []
        while low == 0.0 or high > low * RESOLUTION:
            seconds = max(SECONDS, MIN_MESSAGES / (slowest_hz * scale))
            trial = self._fair_run(graph, scale, seconds)
            if trial is None:
                return None
            trials.append(trial)
            good = trial.holds
            if good:
                low = max(low, scale)
            else:
                high = min(high, scale)
            scale = _next(low, high, trial, good)
            if not SCALES[0] < scale < SCALES[1]:
                break
        return Knee(low, min(high, SCALES[1]), trials)


def _next(low: float, high: float, last: Trial, good: bool) -> float:
    """The next scale: by the share that arrived if the load was too high, else by bisection."""
    if high == math.inf:
        # The CPU gives a lower bound of the distance: the cost per message falls with batching.
        spare = (os.cpu_count() or 1) / max(last.cores_used, 1e-3)
        return low * min(6.0, max(1.3, spare))
    if low == 0.0:
        return max(high / 8, min(high / 1.25, high * last.share_done * 0.95))
    middle = math.sqrt(low * high)
    if not good and low * 1.05 < high * last.share_done < high / 1.05:
        return high * last.share_done
    return middle
