"""fuzz_recordings.py SECONDS [FIRST]: fuzzes the readers of recordings.

Each number from FIRST on gives one input, so the number alone reproduces it. The program exits
with 1 at the first fault, and leaves its input under build/fuzz/found/. A hang of 5 s, or 1 GiB of
memory more than at the start, is a fault.
"""

from __future__ import annotations

import resource
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python" / "support"))

from recording_fuzz import exercise, make_input  # noqa: E402

FOUND = ROOT / "build" / "fuzz" / "found"
PATIENCE_S = 5
MEMORY = 1 << 30


def too_long(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"no end within {PATIENCE_S} s")


def main() -> int:
    seconds = float(sys.argv[1])
    number = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % (1 << 40)
    signal.signal(signal.SIGALRM, too_long)
    end = time.monotonic() + seconds
    first = number
    memory = Path("/dev/shm")
    where = memory if memory.is_dir() else None
    with TemporaryDirectory(prefix="fuzz-recordings-", dir=where) as folder:
        exercise(number, Path(folder))  # imports all modules
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        while time.monotonic() < end:
            number += 1
            signal.alarm(PATIENCE_S)
            try:
                exercise(number, Path(folder))
                more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - used
                assert more < MEMORY, f"{more:,} bytes of memory"
            except Exception:  # noqa: BLE001 - any of them is a fault
                signal.alarm(0)
                traceback.print_exc()
                FOUND.mkdir(parents=True, exist_ok=True)
                path = make_input(number, Path(folder))
                kept = FOUND / f"fuzz_recordings-{number}{path.suffix}"
                (shutil.copytree if path.is_dir() else shutil.copy)(path, kept)
                print(f"input {number} is in {kept}; again: {sys.argv[0]} 1 {number - 1}")
                return 1
            signal.alarm(0)
    print(f"{number - first:,} inputs from {first} on, no fault")
    return 0


if __name__ == "__main__":
    sys.exit(main())
