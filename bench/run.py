#!/usr/bin/env python3
"""Runs the benchmark programs, interleaved, and prints the tables.

It builds nothing: `cmake --build <dir> --target bench_all` does. A peer whose program is absent is
named with the packages that would make it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench_cases import SECTIONS, Case, all_cases
from bench_machine import PREFIX, Link, Load, LoadWatch, describe_machine, sweep, wait_until_quiet
from bench_report import Row, Run, markdown

RUN_LIMIT_S = 300


@dataclass(frozen=True)
class Contender:
    """One way in which one peer can carry a message: a row of the tables."""

    program: Path
    peer: str
    variant: str
    shapes: frozenset[str]
    max_size: int

    @property
    def name(self) -> str:
        return f"{self.peer}/{self.variant}" if self.variant else self.peer

    def takes(self, case: Case) -> bool:
        return case.shape in self.shapes and case.size <= self.max_size


def find_contenders(build: Path) -> tuple[list[Contender], list[str]]:
    """The programs in `build`, in the order of peers.json, and a line for each that is absent."""
    listing = build / "peers.json"
    if not listing.exists():
        sys.exit(
            f"{listing} does not exist: configure with -DHYPHOS_BUILD_BENCH=ON, or name the "
            "build's bench folder with --build"
        )
    contenders: list[Contender] = []
    absent: list[str] = []
    for entry in json.loads(listing.read_text()):
        program = build / f"bench_{entry['peer']}"
        if not program.exists():
            why = (
                "its program is not built (target bench_all)"
                if entry["found"]
                else (f"not installed ({entry['packages']})")
            )
            absent.append(f"{entry['peer']}: {why}")
            continue
        described = json.loads(
            subprocess.run([program, "--describe"], check=True, capture_output=True).stdout
        )
        contenders += [
            Contender(
                program,
                described["peer"],
                variant["name"],
                frozenset(variant["shapes"]),
                int(variant["max_size"]),
            )
            for variant in described["variants"]
        ]
    return contenders, absent


@contextlib.contextmanager
def program(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A peer program in its own process group, which does not outlive the block."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(f"/dev/shm/{PREFIX}{process.pid}", ignore_errors=True)


def run_once(command: list[str]) -> tuple[dict[str, Any] | None, str, Load]:
    """One run: the result, or why there is none, and what else the machine did."""
    watch = LoadWatch()
    with program(command) as process:
        try:
            out, err = process.communicate(timeout=RUN_LIMIT_S)
        except subprocess.TimeoutExpired:
            return None, f"no result within {RUN_LIMIT_S} s", watch.finish()
    load = watch.finish()
    lines = [line for line in out.splitlines() if line.startswith("{")]
    if process.returncode != 0 or not lines:
        why = err.strip().splitlines()[-1] if err.strip() else f"exit status {process.returncode}"
        return None, why.replace("|", "/"), load
    return json.loads(lines[-1]), "", load


def measure(
    rows: list[Row], contenders: dict[str, Contender], link: Link | None, args: argparse.Namespace
) -> None:
    """Repeats × cases × peers. Peers of one case run next to each other, in an order that rotates
    from repeat to repeat, so that drift of the machine falls on all of them alike."""
    begin = time.monotonic()
    total = len(rows) * args.repeats
    done = 0
    for repeat in range(args.repeats):
        for case in dict.fromkeys(row.case for row in rows):
            group = [row for row in rows if row.case == case]
            group = group[repeat % len(group) :] + group[: repeat % len(group)]
            for row in group:
                done += 1
                if row.failure:
                    continue
                contender = contenders[row.name]
                command = [str(contender.program), *case.arguments(args.seconds)]
                command += ["--variant", contender.variant]
                if case.shape == "net" and link:
                    command += link.arguments()
                for _attempt in range(1 + args.retries):
                    wait_until_quiet(args.patience)
                    result, why, load = run_once(command)
                    if result is None or not load.disturbed:
                        break
                if result is None:
                    row.failure = why
                else:
                    row.runs.append(Run(result, load))
                shown = why or f"p50 {result['p50_us']:.1f} us" if result else why
                note = " (disturbed)" if load.disturbed else ""
                print(
                    f"[{done}/{total}, {time.monotonic() - begin:.0f} s] {case.section} "
                    f"{case.label}: {row.name}: {shown}{note}",
                    file=sys.stderr,
                    flush=True,
                )


def parse_arguments() -> argparse.Namespace:
    names = ", ".join(section.name for section in SECTIONS)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default_build = Path(__file__).resolve().parent.parent / "build/bench/bench"
    parser.add_argument(
        "--build",
        type=Path,
        default=default_build,
        help="folder with the bench_* programs (default: %(default)s)",
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
        "--retries", type=int, default=0, help="times a disturbed run is done again (default: 0)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases, 1 s each, one repeat")
    parser.add_argument("--json", type=Path, default=None, help="write every run to this file")
    parser.add_argument("--out", type=Path, default=None, help="also write the tables to this file")
    args = parser.parse_args()
    if args.quick:
        args.repeats = 1
        args.seconds = args.seconds or 1.0
    return args


def choose(args: argparse.Namespace, contenders: list[Contender]) -> list[Row]:
    """The rows of the tables, case by case."""
    only = set(filter(None, args.only.split(",")))
    peers = set(filter(None, args.peers.split(",")))
    sizes = {int(size) for size in filter(None, args.sizes.split(","))}
    if unknown := only - {section.name for section in SECTIONS}:
        sys.exit(f"--only: no section {', '.join(sorted(unknown))}")
    cases = [
        case
        for case in all_cases()
        if (not only or case.section in only)
        and (not sizes or case.size in sizes)
        and (not args.quick or case.quick)
    ]
    return [
        Row(case, contender.name)
        for case in cases
        for contender in contenders
        if contender.takes(case) and (not peers or {contender.peer, contender.name} & peers)
    ]


def main() -> int:
    args = parse_arguments()
    sweep()
    contenders, absent = find_contenders(args.build.resolve())
    rows = choose(args, contenders)
    machine = describe_machine()
    link: Link | None = None
    if any(row.case.shape == "net" for row in rows):
        if why := Link.possible():
            absent.append(f"across a link: {why}")
            rows = [row for row in rows if row.case.shape != "net"]
        else:
            link = Link()
    if not rows:
        sys.exit("nothing to measure")
    with contextlib.suppress(KeyboardInterrupt):
        try:
            if link:
                link.up()
            measure(rows, {c.name: c for c in contenders}, link, args)
        finally:
            if link:
                link.down()
    command = shlex.join(["python3", "bench/run.py", *sys.argv[1:]])
    report = markdown(command, machine, [row for row in rows if row.runs or row.failure], absent)
    print(report)
    if args.out:
        args.out.write_text(report)
    if args.json:
        runs = [
            {
                "case": asdict(row.case),
                "row": row.name,
                "failure": row.failure,
                "runs": [
                    {**run.result, "foreign_load": run.load.foreign, "steal": run.load.steal}
                    for run in row.runs
                ],
            }
            for row in rows
        ]
        args.json.write_text(json.dumps({"machine": machine, "rows": runs}, indent=1))
    return 1 if any(row.failure for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
