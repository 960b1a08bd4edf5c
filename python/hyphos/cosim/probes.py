"""Measures the connection between robots of an emulation, and the time until it heals.

A probe sends a datagram of 64 bytes at a fixed rate from one robot to another, which returns it.
Both ends are sockets of this program in the network namespaces of the robots, so the datagrams take
the routes of the robots and cross the radio.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hyphos.lab import kernel
from hyphos.lab.links import Host
from hyphos.lab.reaper import NETNS

PORT = 7077
_BYTES = 64
_HEAD = struct.Struct("!4sIQ")  # mark, probe, number
_MARK = b"hyph"
_LEAST_OUTAGE = 3  # unanswered datagrams in a row
_MOST_OUTAGES = 50
_LATE_S = 1.0  # time for the last replies


@dataclass
class Track:
    """The datagrams of one probe: times on the monotonic clock, 0 without a reply."""

    source: str
    target: str
    sent_ns: array[int] = field(default_factory=lambda: array("q"))
    replied_ns: array[int] = field(default_factory=lambda: array("q"))


def socket_on(host: Host, port: int) -> socket.socket:
    """A UDP socket of this process on a robot."""
    made: list[socket.socket] = []

    def make() -> None:
        kernel.enter_network(str(NETNS / host.namespace))
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        made.append(one)
        one.bind(("", port))

    try:
        kernel.in_a_thread(make)
    except OSError:
        for one in made:
            one.close()
        raise
    return made[0]


class Probes:
    """Runs in a thread of its own between start() and stop()."""

    def __init__(
        self, pairs: Sequence[tuple[str, str]], interval_s: float, hosts: Mapping[str, Host]
    ) -> None:
        self.interval_s = interval_s
        self.tracks = [Track(source, target) for source, target in pairs]
        self._addresses = {name: hosts[name].address for pair in pairs for name in pair}
        self._sockets: dict[str, socket.socket] = {}
        try:
            for name in self._addresses:
                self._sockets[name] = socket_on(hosts[name], PORT)
        except OSError:
            self.close()
            raise
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the measurement. Call it before the network is removed."""
        self._wake.close()
        if self._thread.is_alive():
            self._thread.join()
        self._woken.close()
        self.close()

    def close(self) -> None:
        for one in self._sockets.values():
            one.close()
        self._sockets.clear()

    def _run(self) -> None:
        poll = select.poll()
        by_file = {one.fileno(): name for name, one in self._sockets.items()}
        for file in by_file:
            poll.register(file, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        start = time.monotonic_ns()
        # Probes of one interval are spread over it, so that they do not collide.
        due = [
            (start + round(self.interval_s * 1e9 * i / len(self.tracks)), i)
            for i in range(len(self.tracks))
        ]
        while True:
            now = time.monotonic_ns()
            for place, (at, probe) in enumerate(due):
                if at <= now:
                    self._send(probe, now)
                    # No burst after a pause of the machine.
                    behind = (now - at) // round(self.interval_s * 1e9) + 1
                    due[place] = (at + behind * round(self.interval_s * 1e9), probe)
            wait_ms = max(0.0, (min(due)[0] - time.monotonic_ns()) / 1e6)
            for file, _event in poll.poll(wait_ms):
                if file == self._woken.fileno():
                    return
                self._read(by_file[file])

    def _send(self, probe: int, now: int) -> None:
        track = self.tracks[probe]
        number = len(track.sent_ns)
        track.sent_ns.append(now)
        track.replied_ns.append(0)
        datagram = _HEAD.pack(_MARK, probe, number).ljust(_BYTES, b"?")
        with suppress(OSError):  # without a route it is lost
            self._sockets[track.source].sendto(datagram, (self._addresses[track.target], PORT))

    def _read(self, name: str) -> None:
        """Returns the requests that came to a robot, and records the replies."""
        while True:
            try:
                datagram, sender = self._sockets[name].recvfrom(2048)
            except BlockingIOError:
                return
            except OSError:
                continue  # the report of an earlier datagram that could not be delivered
            if len(datagram) != _BYTES:
                continue
            mark, probe, number = _HEAD.unpack_from(datagram)
            if mark != _MARK or probe >= len(self.tracks):
                continue
            kind, track = datagram[_HEAD.size : _HEAD.size + 1], self.tracks[probe]
            if kind == b"?" and name == track.target:
                with suppress(OSError):
                    self._sockets[name].sendto(datagram.replace(b"?", b"!"), sender)
            elif kind == b"!" and name == track.source and number < len(track.sent_ns):
                track.replied_ns[number] = track.replied_ns[number] or time.monotonic_ns()


def report(
    track: Track, origin_ns: int, end_s: float, off_s: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    """The results of a probe. `off_s` has the times at which radios go off, on, off and so on."""
    # Replies to the last datagrams may still be on their way.
    last = origin_ns + round((end_s - _LATE_S) * 1e9)
    sent = [s for s in track.sent_ns if s <= last]
    replied = list(track.replied_ns[: len(sent)])
    trips = sorted(r - s for s, r in zip(sent, replied, strict=True) if r)
    return {
        "from": track.source,
        "to": track.target,
        "sent": len(sent),
        "answered": len(trips),
        "p50_ms": _rank(trips, 0.5),
        "p99_ms": _rank(trips, 0.99),
        "longest_ms": _rank(trips, 1.0),
        "outages": list(_outages(sent, replied, origin_ns))[:_MOST_OUTAGES],
        "healing": [
            _healing(robot, at, sent, replied, origin_ns)
            for robot, times in off_s.items()
            if robot not in (track.source, track.target)
            for at in times[::2]
            if sent and sent[-1] >= origin_ns + round(at * 1e9)
        ],
    }


def _rank(ordered: Sequence[int], share: float) -> float | None:
    if not ordered:
        return None
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] / 1e6


def _outages(
    sent: Sequence[int], replied: Sequence[int], origin_ns: int
) -> Iterator[dict[str, Any]]:
    """Runs of unanswered datagrams, each from its first datagram to the next reply."""
    first = None
    for place in range(len(sent) + 1):
        if place < len(sent) and not replied[place]:
            first = place if first is None else first
            continue
        if first is not None and place - first >= _LEAST_OUTAGE:
            over = place < len(sent)
            yield {
                "begin_s": round((sent[first] - origin_ns) / 1e9, 6),
                "lasts_s": round((replied[place] - sent[first]) / 1e9, 6) if over else None,
                "lost": place - first,
            }
        first = None


def _healing(
    robot: str, at_s: float, sent: Sequence[int], replied: Sequence[int], origin_ns: int
) -> dict[str, Any]:
    """The datagrams lost after a radio went off, until the first that was answered."""
    off = origin_ns + round(at_s * 1e9)
    lost = 0
    for send, reply in zip(sent, replied, strict=True):
        if send < off:
            continue
        if reply:
            after = round((reply - off) / 1e6, 3)
            return {"robot": robot, "off_s": at_s, "lost": lost, "after_ms": after}
        lost += 1
    return {"robot": robot, "off_s": at_s, "lost": lost, "after_ms": None}
