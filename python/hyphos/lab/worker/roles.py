"""Source, hop and sink, as in lab/common/roles.hpp, which has more documentation."""

from __future__ import annotations

import ctypes
import itertools
import signal
import struct
import sys
import threading
import time
from typing import Any

from .options import Options
from .peer import Peer
from .schedule import Schedule
from .sheet import MEASURING, STOPPING, WARMING_UP, Sheet

HEADER = struct.Struct("<qIHH")  # stamp_ns, sequence, source, kind
MEASURED, WARMUP, BYE = 1, 2, 3
GIVE_UP_NS = 5_000_000_000
NO_PROGRESS_NS = 4_000_000_000
UNCAPPED_QUIET_NS = 500_000_000
LONGEST_DRAIN_NS = 20_000_000_000
WARM_UP_PATIENCE_NS = 500_000_000
PR_SET_TIMERSLACK = 29

now_ns = time.monotonic_ns


def sleep_until(due_ns: int) -> None:
    while (rest := due_ns - now_ns()) > 0:
        time.sleep(rest / 1e9)


class Role:
    """The work of one process."""

    def __init__(self, options: Options, peer: Peer, sheet: Sheet) -> None:
        self._o = options
        self._peer = peer
        self._sheet = sheet
        o = options
        self._schedule = Schedule(o.size, o.rate_hz, o.recorded, o.speed)
        self._next_stall_ns = 0
        self._given_up = 0  # uncapped: messages that no longer count as in flight
        self._one_at_a_time = threading.Lock()
        # The default timer slack of 50 µs would delay every tick of the schedule.
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
        signal.signal(
            signal.SIGUSR1, signal.SIG_IGN
        )  # the parent wakes waiting C++ processes with it

    def run(self) -> None:
        o = self._o
        if o.role == "hop":
            into = 2 * o.index if o.echoes else o.index
            self._peer.open_publisher(o.edge(into + 1))
            self._peer.open_subscriber(o.edge(into), self._hand_on)
            self._sheet.check_in()
        elif o.role == "sub":
            self._open_sink(o.edges - 1)
            self._sheet.check_in()
        else:
            self._peer.open_publisher(o.edge(2 * o.index if o.echoes else 0))
            if o.echoes:
                self._open_sink(2 * o.index + 1)
            self._sheet.check_in()
            self._send_all()
        self._sheet.wait_for(STOPPING)
        self._peer.close()

    def _hand_on(self, message: Any) -> None:
        self._work()
        self._peer.forward(message)

    def _open_sink(self, edge: int) -> None:
        self._peer.open_subscriber(self._o.edge(edge), self._heard)

    def _heard(self, message: Any) -> None:
        arrived = now_ns()
        with self._one_at_a_time:
            self._record(message, arrived)
            self._work()
            self._stall(arrived)

    def _flow_of(self, source: int) -> int:
        """The flow of a message. -1 if it is not of this process."""
        o = self._o
        if source >= o.sources:
            return -1
        if o.shape == "fanin":
            return source
        if o.echoes:
            return o.index if source == o.index else -1
        return o.index

    def _record(self, message: Any, arrived: int) -> None:
        o = self._o
        flow, sequence, kind, stamp = -1, 0, 0, 0
        if len(message) >= HEADER.size:
            stamp, sequence, source, kind = HEADER.unpack_from(message, 0)
            message[-1]  # read the last byte, as every peer does
            flow = self._flow_of(source)
        seen = self._sheet.head.flows[max(flow, 0)]
        known = flow >= 0 and sequence < o.count and kind in (MEASURED, WARMUP, BYE)
        if not known or len(message) != self._schedule.size(sequence):
            seen.corrupt += 1
        elif kind == WARMUP:
            seen.warm += 1
            if seen.warm == o.warmup:
                self._sheet.tell_parent()
        elif kind == MEASURED:
            column = self._sheet.latencies(flow)
            if column[sequence] != 0 and not o.uncapped:  # uncapped runs reuse slots
                seen.duplicates += 1
            column[sequence] = max(arrived - stamp, 1)
            seen.last_receive_ns = arrived
            seen.received += 1

    def _work(self) -> None:
        if self._o.work_us > 0:
            until = now_ns() + int(self._o.work_us * 1e3)
            while now_ns() < until:
                pass

    def _stall(self, now: int) -> None:
        o = self._o
        if o.stall_ms <= 0 or not self._sheet.reached(MEASURING):
            return
        every = int(o.stall_every_ms * 1e6)
        if self._next_stall_ns == 0:
            self._next_stall_ns = now + every // 2
        if now < self._next_stall_ns:
            return
        self._next_stall_ns += every
        sleep_until(now + int(o.stall_ms * 1e6))

    def _send(self, kind: int, sequence: int) -> int:
        """Sends a message. Returns its stamp."""
        stamp = now_ns()
        index = self._o.index

        def fill(out: Any) -> None:
            self._schedule.fill(out, sequence)
            HEADER.pack_into(out, 0, stamp, sequence, index, kind)

        self._peer.publish(self._schedule.size(sequence), fill)
        return stamp

    def _send_all(self) -> None:
        own = self._sheet.head.sources[self._o.index]
        self._sheet.wait_for(WARMING_UP)
        self._warm_up()
        own.warm = 1
        self._sheet.tell_parent()
        self._sheet.wait_for(MEASURING)
        if self._o.floods:
            self._send_back_to_back()
        else:
            self._send_on_schedule()
        self._drain()
        own.done = 1
        self._sheet.tell_parent()

    def _warm_up(self) -> None:
        period = int(max(self._schedule.period_ns, 1e7))
        tick = now_ns() + self._offset(period)
        limit = tick + self._o.longest_warm_up_ns
        patience, sent, sent_ns, heard = period, 0, 0, 0
        while heard < self._o.warmup and (heard == 0 or now_ns() < limit):
            if now_ns() > limit:
                raise SystemExit("a subscriber did not receive the warm-up")
            sleep_until(tick)
            tick += period
            before, heard = heard, min(self._totals("warm"))
            if sent > 0 and heard == before:
                if now_ns() - sent_ns < patience:
                    continue
                patience = max(period, min(2 * patience, WARM_UP_PATIENCE_NS))
            if heard >= self._o.warmup:
                break
            self._send(WARMUP, 0)
            sent_ns = now_ns()
            sent += 1
        self._settle("warm", sent, max(patience, 200_000_000), limit)

    def _offset(self, period: int) -> int:
        return period * self._o.index // self._o.sources

    def _send_on_schedule(self) -> None:
        index = self._o.index
        own = self._sheet.head.sources[index]
        costs, lateness = self._sheet.costs(index), self._sheet.lateness(index)
        period = self._schedule.period_ns
        begin = self._sheet.head.first_send_ns + self._offset(int(period))
        for i in range(self._o.count):
            due = begin + self._schedule.due(i)
            now = now_ns()
            if now < due:
                sleep_until(due)
            if now - due > GIVE_UP_NS:
                return
            stamp = self._send(MEASURED, i)
            costs[i] = max(now_ns() - stamp, 1)
            lateness[i] = stamp - due
            if stamp - due > period:
                own.late_sends += 1
            own.sent += 1

    def _send_back_to_back(self) -> None:
        own = self._sheet.head.sources[self._o.index]
        costs = self._sheet.costs(self._o.index)
        o = self._o
        end = self._sheet.head.first_send_ns + int(o.seconds * 1e9) if o.uncapped else sys.maxsize
        for i in itertools.count() if o.uncapped else range(o.count):
            if now_ns() >= end:
                return
            if o.uncapped:
                self._await_room()
            slot = i % o.count
            stamp = self._send(MEASURED, slot)
            costs[slot] = max(now_ns() - stamp, 1)
            own.sent += 1

    def _await_room(self) -> None:
        sent = self._sheet.head.sources[self._o.index].sent
        most = 4 if self._o.size >= 8 << 20 else 8
        seen, progress = sum(self._totals("received")), now_ns()
        while sent - self._given_up - seen >= most:
            sleep_until(now_ns() + 50_000)
            before, seen = seen, sum(self._totals("received"))
            if seen != before:
                progress = now_ns()
            if now_ns() - progress > UNCAPPED_QUIET_NS:
                self._given_up = sent - seen

    def _drain(self) -> None:
        sent = self._sheet.head.sources[self._o.index].sent
        waits = self._o.floods and not self._o.uncapped
        limit = sys.maxsize if waits else now_ns() + LONGEST_DRAIN_NS
        quiet = UNCAPPED_QUIET_NS if self._o.uncapped else NO_PROGRESS_NS
        self._settle("received", sent, quiet, limit)

    def _settle(self, field: str, sent: int, quiet: int, limit: int) -> None:
        """Waits until each flow has `sent` messages, or `quiet` ns pass without one, or `limit`."""
        flows = self._totals(field)
        expected = sent * len(flows)
        seen, progress = sum(flows), now_ns()
        while seen < expected and now_ns() - progress <= quiet and now_ns() < limit:
            sleep_until(now_ns() + 5_000_000)
            before, seen = seen, sum(self._totals(field))
            if seen != before:
                progress = now_ns()

    def _totals(self, field: str) -> list[int]:
        """The count `field` of each flow of this source."""
        o = self._o
        mine = range(o.flows) if o.sources == 1 else range(o.index, o.index + 1)
        return [getattr(self._sheet.head.flows[i], field) for i in mine]
