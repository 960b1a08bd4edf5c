#!/usr/bin/env python3
"""steady.py CODE FIRST... -- AGAIN...: runs FIRST, and repeats failures if the machine stalled.

CODE is the exit code of FIRST for failed tests. AGAIN runs the failed tests only. If FIRST ends
with CODE and a processor stalled meanwhile, then the result of AGAIN decides. Processors of a
virtual machine stall if its host is overloaded. The first failures stay in the output. Without a
stall, a failure is final.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

_LOOK_S = 0.02
_AWAY_S = 0.5  # two busy programs on one processor alternate within a tenth of that


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


def main() -> int:
    failed, words = int(sys.argv[1]), sys.argv[2:]
    cut = words.index("--")
    watch = Watch()
    code = subprocess.run(words[:cut], check=False).returncode
    away = watch.end()
    if code != failed or not away:
        return code
    stood = f"this machine stood still {len(away)} times, for up to {max(away):.1f} s"
    print(f"\nMeanwhile {stood}. The failed tests run once more, alone.\n", flush=True)
    code = subprocess.run(words[cut + 1 :], check=False).returncode
    if code == 0:
        print(f"The tests that failed first, above, passed alone: {stood}.")
    return code


if __name__ == "__main__":
    sys.exit(main())
