#!/usr/bin/env python3
"""Measures Hyphos together with the floors and the other middlewares, and prints the tables.

It builds nothing: `make bench` does. For a peer without its program, it lists the packages that the
program needs.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

from bench_cases import LINK, SECTIONS, Entry, all_entries
from bench_report import Line, markdown
from hyphos.lab.case import Case
from hyphos.lab.machine import describe_machine
from hyphos.lab.media import Veth
from hyphos.lab.peers import Peer, find_peers
from hyphos.lab.results import Results, Run
from hyphos.lab.runner import Rules, Runner, Wish, side_by_side
from hyphos.lab.stage import Stage
from hyphos.tools.waiting import on_signals

ROOT = Path(__file__).resolve().parent.parent


def parse_arguments() -> argparse.Namespace:
    names = ", ".join(section.name for section in SECTIONS)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--programs",
        type=Path,
        default=ROOT / "build/bench/lab",
        help="folder with the peers' programs (default: %(default)s)",
    )
    parser.add_argument("--only", default="", help=f"sections, comma-separated, of: {names}")
    parser.add_argument("--peers", default="", help="rows, comma-separated, e.g. futex,zmq/ipc,zmq")
    parser.add_argument("--sizes", default="", help="message sizes in bytes, comma-separated")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each row (default: 3)")
    parser.add_argument("--seconds", type=float, default=None, help="length of each measurement")
    parser.add_argument(
        "--patience",
        type=float,
        default=0.0,
        help="seconds to wait for a quiet machine before each run (default: 0)",
    )
    parser.add_argument(
        "--retries", type=int, default=0, help="repetitions of a disturbed run (default: 0)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases, 1 s each, one repeat")
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / "build/bench/runs",
        help="folder for all runs, which replaces earlier runs (default: %(default)s)",
    )
    parser.add_argument("--out", type=Path, default=None, help="also write the tables to this file")
    args = parser.parse_args()
    if args.quick:
        args.repeats = 1
        args.seconds = args.seconds or 1.0
    return args


def choose(args: argparse.Namespace) -> list[Entry]:
    only = set(filter(None, args.only.split(",")))
    sizes = {int(size) for size in filter(None, args.sizes.split(","))}
    if unknown := only - {section.name for section in SECTIONS}:
        sys.exit(f"--only: unknown section {', '.join(sorted(unknown))}")
    return [
        entry.lasting(args.seconds)
        for entry in all_entries()
        if (not only or entry.section in only)
        and (not sizes or entry.case.size in sizes)
        and (not args.quick or entry.quick)
    ]


def all_wishes(entries: list[Entry], peers: list[Peer], repeats: int) -> list[Wish]:
    return [
        wish
        for repeat in range(repeats)
        for entry in entries
        for wish in side_by_side(entry.case, peers, repeat)
    ]


def open_results(folder: Path, machine: dict[str, str]) -> Results:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "runs.jsonl").unlink(missing_ok=True)
    (folder / "machine.json").write_text(json.dumps(machine, indent=1))
    return Results(folder)


def main() -> int:
    args = parse_arguments()
    found = find_peers(args.programs.resolve())
    absent = [f"{name}: {remedy}" for name, remedy in found.absent.items()]
    peers = found.choose(list(filter(None, args.peers.split(",")))) or found.present
    entries = choose(args)
    machine = describe_machine()
    stage = Stage({LINK: Veth(rate_mbit=1000)})
    for lack in dict.fromkeys(filter(None, (stage.why_not(entry.case) for entry in entries))):
        absent.append(f"across a link: {lack}")
    entries = [entry for entry in entries if not stage.why_not(entry.case)]
    todo = all_wishes(entries, peers, args.repeats)
    if not todo:
        sys.exit("nothing to measure")
    sections: dict[Case, Entry] = {entry.case: entry for entry in entries}
    results = open_results(args.results, machine)
    begin = time.monotonic()

    def told(run: Run, done: int, total: int) -> None:
        shown = run.failure or f"p50 {run.result['p50_us']:.1f} us" if run.result else run.failure
        note = " (disturbed)" if run.load.disturbed else ""
        entry = sections[run.case]
        print(
            f"[{done}/{total}, {time.monotonic() - begin:.0f} s] {entry.section} {entry.label}: "
            f"{run.peer}: {shown}{note}",
            file=sys.stderr,
            flush=True,
        )

    runner = Runner(results, Rules(args.patience, args.retries), stage)
    with on_signals(lambda _number: runner.stop()):
        runner.measure(todo, told)
    rows = {(row.case, row.peer): row for row in results.rows()}
    lines = [
        Line(entry, row)
        for entry in entries
        for peer in peers
        if (row := rows.get((entry.case, peer.name)))
    ]
    command = shlex.join(["python3", "bench/run.py", *sys.argv[1:]])
    report = markdown(command, machine, lines, absent)
    print(report)
    if args.out:
        args.out.write_text(report)
    return 1 if any(line.row.failure for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
