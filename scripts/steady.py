#!/usr/bin/env python3
"""steady.py [--rerun REPEATED] CODE FAILED FIRST... -- AGAIN...: runs tests and reports stalls.

Runs FIRST, and reports how often a processor of this machine stalled meanwhile. Processors of a
virtual machine stall if its host is overloaded. The exit code is that of FIRST.

With --rerun, failed tests get one second chance, and only after a stall. CODE is the exit code of
FIRST for failed tests, FAILED is the file in which ctest or pytest lists them, and AGAIN runs them
once more. Then the result of AGAIN decides. REPEATED collects the names of all repeated tests. If
it would get more than two names, no test is repeated.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

_LOOK_S = 0.02
_AWAY_S = 0.5  # two busy programs on one processor alternate within a tenth of that
_MOST_REPEATED = 2


class Watch:
    """One thread per processor, which records how late it wakes up."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._away: list[float] = []
        processors = sorted(os.sched_getaffinity(0))
        self._threads = [threading.Thread(target=self._look, args=(cpu,)) for cpu in processors]
        for thread in self._threads:
            thread.start()

    def _look(self, cpu: int) -> None:
        os.sched_setaffinity(threading.get_native_id(), {cpu})
        while not self._done.is_set():
            due = time.monotonic() + _LOOK_S
            time.sleep(_LOOK_S)
            late = time.monotonic() - due
            if late >= _AWAY_S:
                with self._lock:
                    self._away.append(late)

    def end(self) -> list[float]:
        """The duration of each stall of a processor in seconds."""
        self._done.set()
        for thread in self._threads:
            thread.join()
        return self._away


def failed_tests(file: Path) -> list[str]:
    """The names in `lastfailed` of pytest, which is JSON, or in LastTestsFailed.log of ctest."""
    text = file.read_text()
    if text.startswith("{"):
        return sorted(json.loads(text))
    return [line.partition(":")[2] for line in text.splitlines()]


def may_repeat(names: list[str], repeated: Path) -> bool:
    """Adds the names to the repeated tests, unless these would be too many."""
    earlier = repeated.read_text().splitlines() if repeated.exists() else []
    if len(earlier) + len(names) > _MOST_REPEATED:
        print(
            f"{len(names)} tests failed. A run repeats at most {_MOST_REPEATED}, so none of them."
        )
        return False
    repeated.parent.mkdir(parents=True, exist_ok=True)
    repeated.write_text("".join(f"{name}\n" for name in (*earlier, *names)))
    return True


def main(words: list[str]) -> int:
    repeated = None
    if words[0] == "--rerun":
        repeated, words = Path(words[1]), words[2:]
    failed_code, failed_file, words = int(words[0]), Path(words[1]), words[2:]
    cut = words.index("--")
    watch = Watch()
    code = subprocess.run(words[:cut], check=False).returncode
    away = watch.end()
    if not away:
        return code
    print(f"\nThis machine stood still {len(away)} times, for up to {max(away):.1f} s.", flush=True)
    if code != failed_code or repeated is None:
        return code
    names = failed_tests(failed_file)
    if not names or not may_repeat(names, repeated):
        return code
    print("The failed tests run once more, alone.\n", flush=True)
    code = subprocess.run(words[cut + 1 :], check=False).returncode
    result = "passed" if code == 0 else f"the repetition ended with {code}"
    for name in names:
        print(f"repeated after a stall: {name} ({result})")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
