"""Accuracy of the links on this machine: `hyphos lab selftest --links`.

Each figure is measured inside the hosts, as programs see it: one-way delays by CLOCK_MONOTONIC
stamps in datagrams, rates by the arriving bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hyphos.lab.limits import Limits, cores_available
from hyphos.lab.links import Link, Network
from hyphos.lab.media import Medium, Tun, Veth, Wifi
from hyphos.lab.reaper import Reaper

# The two programs. `how` is a dictionary. The receiver prints its results as JSON.
_SEND = """
import json, socket, struct, sys, time
how = json.loads(sys.argv[1])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((how["address"], 7000))
rest, begin = bytes(how["bytes"] - 8), time.monotonic_ns() + 10_000_000
period, end, number = how["period_ns"], begin + how["seconds"] * 10**9, 0
while (now := time.monotonic_ns()) < end:
    if period and (ahead := begin + number * period - now) > 0:
        time.sleep(ahead * 1e-9)
    try:
        s.send(struct.pack("=q", time.monotonic_ns()) + rest)
    except OSError:
        pass  # the device is full
    number += 1
time.sleep(0.3)
print(number)
"""
_RECEIVE = """
import json, os, socket, struct, sys, time
if sys.argv[1] == "punctual":
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 64_000_000)  # SO_RCVBUFFORCE
s.bind(("0.0.0.0", 7000))
print("up", flush=True)
delays, size, first, last = [], 0, 0, 0
s.settimeout(60)
try:
    while True:
        data = s.recv(65536)
        last = time.monotonic_ns()
        first = first or last
        delays.append(last - struct.unpack_from("=q", data)[0])
        size += len(data) + 28
        s.settimeout(1)
except TimeoutError:
    pass
delays.sort()
print(json.dumps({"received": len(delays), "seconds": (last - first) / 1e9,
      "mbit": (size - size / max(1, len(delays))) * 8e3 / max(1, last - first),
      "p50_ms": delays[len(delays) // 2] / 1e6, "p99_ms": delays[len(delays) * 99 // 100] / 1e6}))
"""
_ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 7001))
print("up", flush=True)
while True:
    data, who = s.recvfrom(65536)
    s.sendto(data, who)
"""
# Sends on schedule regardless of replies, and prints the round trips.
_ASK = """
import json, socket, struct, sys, threading, time
how = json.loads(sys.argv[1])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((how["address"], 7001))
s.settimeout(1)
trips, begin = [], time.monotonic_ns() + 10_000_000
def hear():
    try:
        while True:
            sent = struct.unpack_from("=q", s.recv(65536))[0]
            trips.append(time.monotonic_ns() - sent)
    except TimeoutError:
        pass
thread = threading.Thread(target=hear)
thread.start()
for number in range(how["count"]):
    if (ahead := begin + number * how["period_ns"] - time.monotonic_ns()) > 0:
        time.sleep(ahead * 1e-9)
    s.send(struct.pack("=q", time.monotonic_ns()) + bytes(how["bytes"] - 8))
thread.join()
trips.sort()
print(json.dumps({"back": len(trips), "p50_ms": trips[len(trips) // 2] / 1e6,
                  "p95_ms": trips[len(trips) * 95 // 100] / 1e6}))
"""
_SPIN = """
import sys, time
began, used = time.monotonic(), time.process_time()
while time.monotonic() - began < float(sys.argv[1]): pass
print((time.process_time() - used) / (time.monotonic() - began))
"""


def _python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-S", "-c", code, *arguments]


@contextmanager
def _receiver(link: Network, how: str) -> Iterator[subprocess.Popen[str]]:
    words = _python(_RECEIVE, how)
    with link["b"].start(words, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout is not None
        receiver.stdout.readline()
        try:
            yield receiver
        finally:
            receiver.kill()


def _send(link: Network, sender: str, seconds: float, size: int, period_ns: int) -> Any:
    how = {
        "address": link["b"].address,
        "bytes": size,
        "seconds": seconds,
        "period_ns": period_ns,
    }
    words = _python(_SEND, json.dumps(how))
    return link[sender].start(words, stdout=subprocess.PIPE, text=True)


def _one_way(
    medium: Medium, reaper: Reaper, seconds: float, size: int, period_ns: int, how: str = "as usual"
) -> dict[str, float]:
    with Link(medium, reaper=reaper) as link, _receiver(link, how) as receiver:
        sent = int(_send(link, "a", seconds, size, period_ns).communicate()[0])
        assert receiver.stdout is not None
        return {**json.loads(receiver.stdout.readline()), "sent": sent}


def _delays(reaper: Reaper, seconds: float) -> Iterator[str]:
    # The receiver is in the real-time class like hyphos-link. Otherwise its wait for a busy CPU
    # would count as delay of the link.
    floor = _one_way(Veth(), reaper, seconds, 64, 2_000_000, "punctual")
    yield f"veth, below its rate: p50 {floor['p50_ms']:.3f} ms, p99 {floor['p99_ms']:.3f} ms"
    for delay_ms in (0, 1, 5, 20):
        medium = Tun(delay_ms=delay_ms)
        seen = _one_way(medium, reaper, seconds, 64, 2_000_000, "punctual")
        yield (
            f"tun, delay {delay_ms} ms: {seen['p50_ms'] - delay_ms:+.3f} ms (median), "
            f"{seen['p99_ms'] - delay_ms:+.3f} ms (p99) of {seen['received']} packets"
        )


def _rates(reaper: Reaper, seconds: float) -> Iterator[str]:
    for medium in (Tun(rate_mbit=1), Tun(rate_mbit=10), Tun(rate_mbit=100), Veth(rate_mbit=100)):
        assert medium.rate_mbit is not None
        # Full packets with 1472 bytes each, a third more than the rate.
        period_ns = round(1500 * 8e3 / (medium.rate_mbit * 1.33))
        seen = _one_way(medium, reaper, seconds, 1472, period_ns)
        error = seen["mbit"] / medium.rate_mbit - 1
        kind = type(medium).__name__.lower()
        yield f"{kind}, rate {medium.rate_mbit} Mbit/s: {100 * error:+.2f} %"


def _capacity(reaper: Reaper, seconds: float) -> Iterator[str]:
    for size in (64, 1472):
        with Network(Tun(queue_packets=100_000), ["a", "b"], reaper=reaper) as link:
            with _receiver(link, "as usual"):
                _send(link, "a", seconds, size, 0).communicate()
            one = link.counters()["hosts"]["a"]
        lost = sum(one["drops"].values()) + one["device_overrun"]
        yield (
            f"tun, {size} bytes: {one['delivered'] / seconds:,.0f} packets/s at the full speed of "
            f"a Python program, {lost} lost of {one['packets'] + one['device_overrun']}"
        )


def _wifi(reaper: Reaper, seconds: float) -> Iterator[str]:
    for rate in (6, 54):
        seen = _one_way(Wifi(rate_mbit=rate), reaper, seconds, 1472, round(1500 * 8e3 / rate))
        yield f"wifi, rate {rate} Mbit/s, one sender: {seen['mbit']:.2f} Mbit/s of full packets"


def _echo_trips(link: Network, hertz: int, count: int) -> dict[str, float]:
    how = {
        "address": link["b"].address,
        "bytes": 4096,
        "count": count,
        "period_ns": round(1e9 / hertz),
    }
    with link["b"].start(_python(_ECHO), stdout=subprocess.PIPE) as echo:
        assert echo.stdout is not None
        echo.stdout.readline()
        words = _python(_ASK, json.dumps(how))
        ask = link["a"].start(words, stdout=subprocess.PIPE, text=True)
        seen: dict[str, float] = json.loads(ask.communicate()[0])
        echo.kill()
    return seen


def _knee(reaper: Reaper, seconds: float) -> Iterator[str]:
    for rate in (36, 54):
        for hertz in (100, 200, 300, 400, 500):
            count = round(seconds * hertz)
            with Link(Wifi(rate_mbit=rate), reaper=reaper) as link:
                seen = _echo_trips(link, hertz, count)
            yield (
                f"wifi, rate {rate} Mbit/s, 4096 bytes there and back at {hertz} Hz: "
                f"p50 {seen['p50_ms']:.2f} ms, p95 {seen['p95_ms']:.2f} ms, "
                f"{seen['back']} of {count} back"
            )


def _quota(reaper: Reaper, seconds: float) -> Iterator[str]:
    yield f"cores available here: {cores_available():g}"
    for cores in (0.25, 0.5, 1):
        with Limits(cores=cores, reaper=reaper) as limits:
            words = _python(_SPIN, str(seconds))
            running = limits.place.start(words, stdout=subprocess.PIPE, text=True)
            used = float(running.communicate()[0])
        yield f"quota of {cores} cores: a spinning process used {used:.3f}"


def measure(seconds: float) -> None:
    """Prints each figure as it is measured, `seconds` for each. Raises Error without root."""
    reaper = Reaper()
    try:
        for part in (_delays, _rates, _capacity, _wifi, _knee, _quota):
            for line in part(reaper, seconds):
                print(line, flush=True)
    finally:
        reaper.close()
