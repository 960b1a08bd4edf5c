#!/usr/bin/env python3
"""The cost of an idle Hyphos: size of the library, CPU and memory of an idle graph.

python3 bench/footprint.py <build>
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

PROCESSES = 3
# Provided by the distribution: the C and C++ runtimes, and the libraries that the core is built on,
# with their dependencies.
DISTRIBUTION = re.compile(r"/(usr/)?lib(64)?/")


def stripped_size(library: Path) -> int:
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", "-o", copy.name, str(library)], check=True)
        return Path(copy.name).stat().st_size


def needed(library: Path) -> dict[str, Path]:
    """Every shared library that the loader loads with it, by name."""
    out = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    return {name: Path(path).resolve() for name, path in re.findall(r"(\S+) => (/\S+) \(", out)}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_time_ns(pid: int) -> int:
    """Exact if the kernel provides schedstat: ticks are too coarse for this measurement."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total


def pss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def idle(micro: Path, seconds: float) -> None:
    command = [str(micro), "--only", "idle", "--domain", f"idle{os.getpid()}"]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(1)
        before = sum(run_time_ns(p.pid) for p in processes)
        ticks = sum(cpu_seconds(p.pid) for p in processes)
        time.sleep(seconds)
        used = (sum(run_time_ns(p.pid) for p in processes) - before) / 1e9
        ticks = sum(cpu_seconds(p.pid) for p in processes) - ticks
        memory = sum(pss_mb(p.pid) for p in processes)
        share, coarse = 100 * used / seconds, 100 * ticks / seconds
        print(
            f"idle, {PROCESSES} connected processes, {seconds:.0f} s: {share:.4f} % of one CPU "
            f"(by ticks {coarse:.2f} %), {memory:.1f} MB in total"
        )
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    library = (args.build / "libhyphos.so").resolve()
    own = stripped_size(library)
    print(f"libhyphos.so, stripped: {own / 1e6:.2f} MB")
    others = needed(library)
    outside = {name: path for name, path in others.items() if not DISTRIBUTION.match(str(path))}
    print(f"required and not from the distribution: {', '.join(outside) or 'nothing'}")
    direct = re.compile(r"lib(tbb|zmq|protobuf|yaml-cpp)\b")
    core = {name: path.stat().st_size for name, path in others.items() if direct.match(name)}
    sizes = ", ".join(f"{name} {size / 1e6:.2f}" for name, size in sorted(core.items()))
    print(f"with the libraries below it ({sizes}): {(own + sum(core.values())) / 1e6:.2f} MB")
    idle(args.build / "bench/bench_micro", args.seconds)


if __name__ == "__main__":
    main()
