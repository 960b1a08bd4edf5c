"""Kills an emulation with SIGKILL at random times. Checks after every kill that no process,
namespace, device, mount or folder is left, and measures the time until then. The victim is in turn
the program itself, the program with its reaper, and the simulated radio.

    cosim_kill.py KILLS [SEED]
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from pathlib import Path

from lab_kill import kill_once, repeated

LATEST_S = 2.0  # of a kill. By then a program is in its second or third round
RADIO = "hyphos-cosim-em"  # as truncated by the kernel

SCENARIO = """
robots:
  a: {at: [0, 0, 1], run: [sleep, "1000"]}
  b: {at: [9, 0, 1], run: [sh, -c, "setsid -f sleep 1000; sleep 1000 & sleep 1000"]}
"""
MESH = """
routing: {protocol: babel}
realtime: {probes: [[a, b]]}
"""  # a routing daemon on each robot, if it is installed

TOOL = """
import random
from pathlib import Path
from hyphos.cosim.emulate import Wanted, emulate
from hyphos.cosim.emulation import Ways
print("up", flush=True)
while True:
    ways = Ways(seconds={seconds}, radio_process=True)
    emulate(Wanted(Path({scenario!r}), ways, quiet=True, json=Path("/dev/null")))
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, "cosim.yaml")
        scenario.write_text(SCENARIO + (MESH if shutil.which("babeld") else ""))

        def kill(turn: int, numbers: random.Random) -> tuple[float, int]:
            # If the radio is killed, the emulation must still run to notice it.
            victim = RADIO if turn % 3 == 2 else None
            seconds = "1000" if victim else "random.uniform(0.01, 0.3)"
            code = TOOL.format(scenario=str(scenario), seconds=seconds)
            words = [sys.executable, "-c", code]
            return kill_once(turn, numbers.uniform(0, LATEST_S), turn % 3 == 1, words, victim)

        return repeated(kill, "namespaces, mounts and folders")


if __name__ == "__main__":
    sys.exit(main())
