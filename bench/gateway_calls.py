#!/usr/bin/env python3
"""Measures service calls through the gateways, alone and beside a robot that does nothing.

Each row runs in turns with the others. The client waits for each reply before the next call. The
columns after the rates are of the gateway's process, for one call: its system calls (with strace),
its page faults, and the bytes that it read with read() and its relatives.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import xmlrpc.client
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyphos.lab.machine import describe_machine

ROOT = Path(__file__).resolve().parent.parent
BARS = {"rosbridge": 5000, "ros_tcp": 5000, "ros1": 3000}
RATIO = 0.9


@dataclass
class Cost:
    system_calls: float = float("nan")
    faults: float = float("nan")
    bytes_read: float = float("nan")


@dataclass
class Place:
    """A gateway in a domain with or without the idle robot."""

    protocol: str
    idle: bool
    pid: int
    port: int
    rates: list[float] = field(default_factory=list)
    p50_us: list[float] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)


@contextmanager
def running(*words: str | Path, lines: int = 1) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A program that has printed this number of lines, and the first of them."""
    program = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        printed = [program.stdout.readline() for _ in range(lines)]
        if not printed[-1]:
            sys.exit(f"{words[0]} ended with {program.wait()}")
        yield program, printed[0].strip()
    finally:
        program.send_signal(signal.SIGTERM)
        program.wait()


def port_of(protocol: str, address: str) -> int:
    """The port for calls. A client of ROS 1 gets it from the master."""
    if protocol != "ros1":
        return int(address.rpartition(":")[2])
    master = xmlrpc.client.ServerProxy(address)
    while True:
        reply: Any = master.lookupService("/bench", "/echo")
        code, _, uri = reply
        if code == 1:
            return int(re.sub(r"^.*:|/$", "", str(uri)))


def call(program: Path, place: Place, seconds: float) -> dict[str, float]:
    words = [str(program), "call", place.protocol, str(place.port), str(seconds)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _faults(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[7])


def _read(pid: int) -> int:
    return int(Path(f"/proc/{pid}/io").read_text().split("rchar: ")[1].split()[0])


def cost_of(program: Path, place: Place, seconds: float, folder: Path) -> Cost:
    faults, read = _faults(place.pid), _read(place.pid)
    calls = call(program, place, seconds)["calls"] + 100  # with the first ones, see the client
    cost = Cost(
        faults=(_faults(place.pid) - faults) / calls, bytes_read=(_read(place.pid) - read) / calls
    )
    if not shutil.which("strace"):
        return cost
    counts = folder / "strace"
    words = ["strace", "-f", "-c", "-o", str(counts), "-p", str(place.pid)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr is not None
        strace.stderr.readline()  # it is attached
        calls = call(program, place, seconds)["calls"] + 100
        strace.send_signal(signal.SIGINT)
    total = counts.read_text().splitlines()[-1].split()
    cost.system_calls = next(int(word) for word in total[3:] if word.isdigit()) / calls
    return cost


def types_in(folder: Path) -> Path:
    services = folder / "bench_msgs/srv"
    services.mkdir(parents=True)
    (services / "Echo.srv").write_text("int64 a\n---\nint64 b\n")
    return services.parent


def table(places: list[Place]) -> str:
    head = ["gateway", "beside", "calls/s", "p50 µs", "of alone", "system calls", "faults", "bytes"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for place in places:
        rate = statistics.median(place.rates)
        alone = statistics.median(
            next(p.rates for p in places if p.protocol == place.protocol and not p.idle)
        )
        cells = [
            place.protocol,
            "idle robot" if place.idle else "nothing",
            f"{rate:,.0f}",
            f"{statistics.median(place.p50_us):.0f}",
            f"{rate / alone:.2f}",
            f"{place.cost.system_calls:.1f}",
            f"{place.cost.faults:.2f}",
            f"{place.cost.bytes_read:.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def missed(places: list[Place]) -> list[str]:
    """The bars that were missed."""
    found = []
    for place in places:
        rate = statistics.median(place.rates)
        if rate < BARS[place.protocol]:
            beside = " beside the idle robot" if place.idle else ""
            found.append(f"{place.protocol}{beside}: {rate:,.0f}/s < {BARS[place.protocol]:,}/s")
    for idle in (place for place in places if place.idle):
        alone = next(p for p in places if p.protocol == idle.protocol and not p.idle)
        ratio = statistics.median(idle.rates) / statistics.median(alone.rates)
        if ratio < RATIO:
            found.append(f"{idle.protocol}: {ratio:.2f} of the rate alone < {RATIO}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=Path, default=ROOT / "build/bench", help="build folder")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a run")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each row")
    parser.add_argument("--processes", type=int, default=20, help="processes of the idle robot")
    parser.add_argument("--publishers", type=int, default=60, help="publishers of each")
    parser.add_argument("--only", default=",".join(BARS), help="gateways, comma-separated")
    args = parser.parse_args()
    program = args.programs / "bench/bench_gateway_calls"
    places: list[Place] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ros = types_in(folder)
        for idle in (False, True):
            domain = f"bench{'b' if idle else 'a'}{folder.name[-6:]}".replace("_", "-")
            stack.enter_context(running(program, "serve", domain))
            if idle:
                load = ("idle", domain, str(args.processes), str(args.publishers))
                stack.enter_context(running(program, *load, lines=args.processes))
            for protocol in args.only.split(","):
                words = ("-m", "hyphos", "gateway", protocol, "--port", "0", "-d", domain)
                master = ("--master", "--set", "master_port=0") if protocol == "ros1" else ()
                started = running(sys.executable, *words, "--ros", ros, *master)
                gateway, line = stack.enter_context(started)
                port = port_of(protocol, line)
                places.append(Place(protocol, idle, gateway.pid, port))
        places.sort(key=lambda place: (list(BARS).index(place.protocol), place.idle))
        for place in places:
            place.cost = cost_of(program, place, args.seconds / 2, folder)
        for _ in range(args.repeats):
            for place in places:
                found = call(program, place, args.seconds)
                place.rates.append(found["per_s"])
                place.p50_us.append(found["p50_us"])
    print(", ".join(f"{name}: {value}" for name, value in describe_machine().items()))
    print(f"{args.processes} processes of {args.publishers} publishers, one client at a time\n")
    print(table(places))
    misses = missed(places)
    print("\n" + ("\n".join(misses) if misses else "every bar is met"))
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
