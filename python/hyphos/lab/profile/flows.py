"""Joins publishes and receptions into the paths of messages through the graph."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from hyphos.lab.profile.events import Collection, End
from hyphos.lab.profile.layers import layers_of
from hyphos.observe import INTERNAL, is_hidden

Message = tuple[int, int]  # sender, sequence
MAX_BRANCHES = 64  # paths that lead to one message


@dataclass(frozen=True)
class Step:
    """One hop of a message: from a publish() until its callback is done with the message."""

    row: int  # of the reception
    publish_ns: int
    leave_ns: int  # the next publish(), or the end of the callback if it is the last
    parts: tuple[int, ...]  # by layers.LAYERS, with the sum leave − publish
    inferred: bool  # the next publish() was not in the callback, but later


@dataclass(frozen=True)
class Way:
    """The path of one message from its source to its end."""

    steps: tuple[Step, ...]

    @property
    def total_ns(self) -> int:
        return self.steps[-1].leave_ns - self.steps[0].publish_ns


class Flows:
    """The joined events.

    A reception belongs to the publish with its sender and sequence. A publish belongs to the
    reception in whose callback it was made. A publish outside a callback belongs to the last
    reception before it on each other channel of its node. This link is *inferred*. A message
    without a known publish is a source if its publisher is on another machine. Otherwise it is cut
    off: its beginning is unknown. If the stamps of a publish and its reception differ, they use
    different clocks, and are not joined. This happens with a container that shares our shared
    memory."""

    def __init__(self, found: Collection, *, hidden: bool = False) -> None:
        self.found = found
        shown = {
            key
            for key, end in found.ends.items()
            if hidden or not (is_hidden(end.channel) or end.channel.startswith(INTERNAL))
        }
        events = found.events
        keys = list(zip(found.owner.tolist(), events["endpoint"].tolist(), strict=True))
        known = np.fromiter((key in shown for key in keys), np.bool_, len(keys))
        received = (events["received"] != 0) & known
        self.publishes = np.flatnonzero((events["received"] == 0) & known)
        self.receptions = np.flatnonzero(received & (events["replayed"] == 0))
        self._keys = keys
        self._columns = {
            name: events[name].tolist()
            for name in (
                *("sender", "sequence", "publish", "callback", "end"),
                *("cause_sender", "cause_sequence", "cause_endpoint"),
            )
        }
        self.layers = layers_of(events)
        self._layer_rows: list[list[int]] = self.layers.tolist()
        self._join()

    def end(self, row: int) -> End:
        return self.found.ends[self._keys[row]]

    def message(self, row: int) -> Message:
        return self._columns["sender"][row], self._columns["sequence"][row]

    def column(self, name: str, row: int) -> int:
        value: int = self._columns[name][row]
        return value

    def publish_of(self, row: int) -> int | None:
        """The publish of a reception. None if it is unknown, or by another clock."""
        publish = self._published.get(self.message(row))
        return publish if publish is not None and self._one_clock(publish, row) else None

    def is_remote(self, row: int) -> bool:
        """Whether a received message is from another machine, as far as this machine knows."""
        publish = self._published.get(self.message(row))
        here = self._columns["sender"][row] in self._senders
        if publish is not None:
            here = self._one_clock(publish, row)
        return not here and self._keys[row][0] in self.found.uncertainty_ns

    def _one_clock(self, publish: int, reception: int) -> bool:
        """Whether both use the same clock. Stamps are converted between clocks, and else kept."""
        stamps = self._columns["publish"]
        return bool(stamps[publish] == stamps[reception])

    def parents(self, publish: int) -> list[tuple[int, bool]]:
        """The receptions that caused a publish, and whether that is inferred."""
        return self._parents[publish]

    def receptions_of(self, publish: int) -> list[int]:
        return self._heard.get(self.message(publish), [])

    @property
    def unheard(self) -> int:
        """The number of publishes without a reception: no subscriber, lost, or still in flight."""
        return sum(1 for row in self.publishes.tolist() if self.message(row) not in self._heard)

    def _join(self) -> None:
        self._published = {self.message(row): row for row in self.publishes.tolist()}
        self._senders = {sender for sender, _ in self._published}
        self._heard: dict[Message, list[int]] = defaultdict(list)
        by_place: dict[tuple[int, int, int, int], int] = {}
        for row in self.receptions.tolist():
            self._heard[self.message(row)].append(row)
            by_place[*self._keys[row], *self.message(row)] = row
        times = self._times_by_node()
        self._parents: dict[int, list[tuple[int, bool]]] = {}
        # Receptions with a publish in their callback whose channel has known receptions.
        self._used: set[int] = set()
        goes_on = self._heard_publishers()
        for row in self.publishes.tolist():
            parents = self._caused(row, by_place)
            if parents is None:
                parents = self._inferred(row, times)
            self._parents[row] = parents
            if self._keys[row] in goes_on:
                self._used.update(parent for parent, inferred in parents if not inferred)

    def _heard_publishers(self) -> set[tuple[int, int]]:
        """Publishers with a reception by the same clock. A path ends at a message without
        receivers, or whose receivers only another machine knows. It does not end at a single
        message that was lost or is still in flight."""
        return {
            self._keys[publish]
            for row in self.receptions.tolist()
            for publish in [self.publish_of(row)]
            if publish is not None
        }

    def _caused(
        self, row: int, by_place: dict[tuple[int, int, int, int], int]
    ) -> list[tuple[int, bool]] | None:
        """The causing reception. None if the publish was outside any callback."""
        cause = self._columns["cause_sender"][row], self._columns["cause_sequence"][row]
        if cause == (0, 0):
            return None
        place = self._keys[row][0], self._columns["cause_endpoint"][row]
        reception = by_place.get((*place, *cause))
        # Empty if the callback is not among the events, or is hidden.
        return [] if reception is None else [(reception, False)]

    def _times_by_node(
        self,
    ) -> dict[tuple[int, str], dict[tuple[int, int], tuple[list[int], list[int]]]]:
        """For each node and subscription: the start times of callbacks in order, and their rows."""
        gathered: dict[tuple[int, str], dict[tuple[int, int], list[tuple[int, int]]]] = {}
        for row in self.receptions.tolist():
            end = self.end(row)
            node = gathered.setdefault((end.participant, end.node), {})
            node.setdefault(self._keys[row], []).append((self._columns["callback"][row], row))
        return {
            node: {
                key: ([t for t, _ in ordered], [row for _, row in ordered])
                for key, found in subscriptions.items()
                for ordered in [sorted(found)]
            }
            for node, subscriptions in gathered.items()
        }

    def _inferred(
        self,
        row: int,
        times: dict[tuple[int, str], dict[tuple[int, int], tuple[list[int], list[int]]]],
    ) -> list[tuple[int, bool]]:
        end = self.end(row)
        at = self._columns["publish"][row]
        last = []
        for key, (begun, rows) in times.get((end.participant, end.node), {}).items():
            if self.found.ends[key].channel == end.channel:
                continue  # the node receives its own message
            before = bisect_right(begun, at)
            if before > 0:
                last.append((rows[before - 1], True))
        return last

    def ways(self) -> tuple[list[Way], int]:
        """The paths of all messages that reached their end, and the number of those cut off. A
        message that waits in a node for its timer has reached a certain end. The path that follows
        from it is another one."""
        found: list[Way] = []
        cut = 0
        for row in self.receptions.tolist():
            if row in self._used:
                continue
            for chain in self._back(row, self._columns["end"][row], False, (), True):
                if chain is None:
                    cut += 1
                else:
                    found.append(Way(chain))
        return found, cut

    def _back(
        self, row: int, leave_ns: int, inferred: bool, seen: tuple[End, ...], sure: bool
    ) -> list[tuple[Step, ...] | None]:
        """All chains of steps that end with this one. None for a chain with an unknown beginning.
        `seen` are the publishers of the later steps. `sure` means that no link so far is inferred.
        A loop of the graph is followed once, and not over an inferred link."""
        step = self._step(row, leave_ns, inferred)
        publish = self.publish_of(row)
        if publish is None:
            return [(step,)] if self.is_remote(row) else [None]
        end = self.end(publish)
        if end in seen and not sure:
            return []
        parents = [] if end in seen else self._parents[publish]
        if any((end.participant, end.node) == (e.participant, e.node) for e in seen):
            parents = [parent for parent in parents if not parent[1]]
        caused = self._columns["cause_sender"][publish] != 0
        chains: list[tuple[Step, ...] | None] = []
        if not caused or end in seen:
            chains.append((step,))  # it begins here without an inferred link
        elif not parents:
            return [None]
        for parent, guessed in parents:
            at = self._columns["publish"][publish]
            for chain in self._back(parent, at, guessed, (*seen, end), sure and not guessed):
                chains.append(None if chain is None else (*chain, step))
                if len(chains) == MAX_BRANCHES:
                    return chains
        return chains

    def _step(self, row: int, leave_ns: int, inferred: bool) -> Step:
        parts = self._layer_rows[row][:6]
        begun, ended = self._columns["callback"][row], self._columns["end"][row]
        busy = min(ended, leave_ns) - begun
        hold = leave_ns - begun - busy
        publish_ns = self._columns["publish"][row]
        return Step(row, publish_ns, leave_ns, (*parts, busy, hold), inferred)
