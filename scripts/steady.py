#!/usr/bin/env python3
"""steady.py CODE FIRST... -- AGAIN...: runs FIRST and watches whether the machine stood still.

If FIRST ends with CODE, "tests have failed", and a processor was away meanwhile, as those of a
virtual machine are whose host is overloaded, then AGAIN, the failed tests alone, decides. What
failed at first stays in the output. On a machine that was there all the time a failure is final.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

_LOOK_S = 0.02
_AWAY_S = 0.5  # two busy programs on one processor hand it on within a tenth of that


class Watch:
    """One thread on each processor, which notes how much too late it wakes up."""

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
        """Seconds of each time that a processor was away."""
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
    print(f"\nMeanwhile {stood}: what has failed is run once more, alone.\n", flush=True)
    code = subprocess.run(words[cut + 1 :], check=False).returncode
    if code == 0:
        print(f"What failed at first, above, passed alone: {stood}.")
    return code


if __name__ == "__main__":
    sys.exit(main())
