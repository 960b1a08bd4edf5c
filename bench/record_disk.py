#!/usr/bin/env python3
"""The write speed of `hyphos record`, compared with the speed of the disk.

The measurements alternate on the same file system. First `dd` writes zeros in blocks of 1 MB and
syncs. Then a publisher sends 1 MB messages of noise at fractions of that speed, and the recorder
writes them, syncs and ends. Then 100-byte messages follow at several rates. The recorder's own
counters, read back from the file, give the losses. A rate counts as kept if nothing was lost and
the file is on the disk within the duration of the messages plus a tenth.

    PYTHONPATH=<build>/python python3 bench/record_disk.py --source <build>/bench/record_source \\
        --folder /data
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from hyphos.recording.mcap_file import McapSource

MB = 1_000_000


@dataclass
class Result:
    """One run of the recorder."""

    asked: float  # messages/s
    sent: int
    written: int
    lost: dict[str, int]
    seconds: float  # from the first message until the file was closed and synced
    bytes: int
    late_ms: float
    cpu_s: float  # of the recorder

    @property
    def kept(self) -> bool:
        return self.sent == self.written and self.seconds < 1.1 * self.sent / self.asked


def dd(folder: Path, megabytes: int) -> float:
    """Bytes per second of a sequential write of `megabytes`, including the sync to disk."""
    path = folder / "dd.bin"
    words = ["dd", "if=/dev/zero", f"of={path}", "bs=1000000", f"count={megabytes}"]
    started = time.monotonic()
    subprocess.run([*words, "conv=fdatasync"], check=True, capture_output=True)
    seconds = time.monotonic() - started
    path.unlink()
    return megabytes * MB / seconds


def record(options: argparse.Namespace, size: int, rate: float, count: int, how: str) -> Result:
    path = options.folder / "run.mcap"
    domain = f"bench{os.getpid()}"
    words = [sys.executable, "-m", "hyphos", "record", "--quiet", "--sync", "--overwrite"]
    words += ["--compression", how, "-d", domain, "-o", str(path)]
    recorder = subprocess.Popen(words)
    source = subprocess.Popen(
        [
            str(options.source),
            *f"--domain {domain} --size {size} --rate {round(rate)} --count {count}".split(),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert source.stdout is not None
    sent = json.loads(source.stdout.readline())
    recorder.send_signal(signal.SIGINT)
    before = time.monotonic()
    _, _, usage = os.wait4(recorder.pid, 0)
    seconds = sent["seconds"] + time.monotonic() - before
    source.communicate()
    file = McapSource(path)
    tally = json.loads(file.summary["blob"])
    lost = {name: tally[name] for name in ("missing", "drop_queue", "drop_disk") if tally[name]}
    size_on_disk = path.stat().st_size
    path.unlink()
    return Result(
        rate,
        sent["sent"],
        tally["written"],
        lost,
        seconds,
        size_on_disk,
        sent["late_ms"],
        usage.ru_utime + usage.ru_stime,
    )


def line(result: Result, floor: float | None) -> str:
    speed = result.bytes / result.seconds
    beside = f", {speed / floor:.2f} of dd" if floor else ""
    lost = ", ".join(f"{count} {why}" for why, count in result.lost.items()) or "nothing lost"
    return (
        f"{'kept' if result.kept else 'not kept':8} {result.asked:9,.0f} msg/s: "
        f"{result.written:,} of {result.sent:,} written, {lost}; {speed / MB:,.0f} MB/s with sync"
        f"{beside}; recorder {result.cpu_s / result.seconds * 100:.0f} % CPU; "
        f"publisher up to {result.late_ms:.0f} ms late"
    )


def machine(folder: Path) -> str:
    info = Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", info)
    kind = subprocess.run(
        ["stat", "-f", "-c", "%T", str(folder)], check=True, capture_output=True, text=True
    ).stdout.strip()
    return f"{os.cpu_count()} × {name[1] if name else '?'}, {kind}, {os.uname().release}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", type=Path, required=True, help="the program record_source")
    parser.add_argument(
        "--folder", type=Path, required=True, help="folder on the disk to be measured"
    )
    parser.add_argument("--megabytes", type=int, default=4000, help="megabytes per run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compression", default="none")
    parser.add_argument("--fractions", default="0.8,0.9,1.0", help="fractions of the speed of dd")
    parser.add_argument(
        "--rates",
        default="50000,100000,200000",
        help="rates of 100-byte messages, in messages per second",
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(options.folder).free < 2 * options.megabytes * MB:
        sys.exit(f"{options.folder}: less than twice {options.megabytes} MB free")
    print(machine(options.folder))
    for number in range(options.rounds):
        print(f"round {number + 1}")
        for fraction in map(float, options.fractions.split(",")):
            floor = dd(options.folder, options.megabytes)
            print(f"  dd: {floor / MB:,.0f} MB/s")
            rate = fraction * floor / MB
            result = record(options, MB, rate, options.megabytes, options.compression)
            print(f"  1 MB   {line(result, floor)}", flush=True)
        for rate in map(float, options.rates.split(",")):
            result = record(options, 100, rate, round(10 * rate), "zstd")
            print(f"  100 B  {line(result, None)}", flush=True)


if __name__ == "__main__":
    main()
