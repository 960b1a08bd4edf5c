#!/usr/bin/env python3
"""Publishing a 10 MB NumPy image, compared with the same call in C++.

Both copy the pixels from ordinary memory into shared memory, for a C++ subscriber in another
process, in alternating runs. `loan` is the Python case without that copy: the image is computed in
the shared memory.

    PYTHONPATH=<build>/python python3 bench/python_publish.py --micro <build>/bench/bench_micro
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import hyphos
import numpy as np
from hyphos.msgs import Image

WIDTH, HEIGHT = 2500, 1000
WARM_UP, MESSAGES = 20, 200


def cpp(micro: Path) -> float:
    """The median duration of the C++ call, in microseconds."""
    out = subprocess.run([micro, "--only", "image"], check=True, capture_output=True, text=True)
    found = re.search(r"([0-9.]+) us median", out.stdout)
    if found is None:
        sys.exit(f"{micro} said: {out.stdout}{out.stderr}")
    return float(found[1])


def median_us(publish: Callable[[], object]) -> float:
    took = []
    for i in range(WARM_UP + MESSAGES):
        time.sleep(0.005)
        begin = time.perf_counter_ns()
        publish()
        if i >= WARM_UP:
            took.append(time.perf_counter_ns() - begin)
    return statistics.median(took) / 1e3


def python(micro: Path, round_: int) -> tuple[float, float]:
    """The median duration of publish(array) and of publish(loan), in microseconds."""
    domain = f"pub{os.getpid()}x{round_}"
    command = [str(micro), "--only", "image_listener", "--domain", domain]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as listener:
        node = hyphos.Node.open("camera", domain=domain)
        publisher = node.publisher("sample", hyphos.Attached[Image])
        give_up = time.monotonic() + 30
        while publisher.listeners == 0:
            if time.monotonic() > give_up:
                listener.kill()
                sys.exit(
                    f"{micro} does not subscribe: use the program of the same build as the package"
                )
            time.sleep(0.001)
        pixels = np.full((HEIGHT, WIDTH, 4), 7, np.uint8)

        def head() -> Image:
            image = Image(width=WIDTH, height=HEIGHT, encoding="rgba8", step=4 * WIDTH)
            image.header.frame_id = "camera"
            return image

        def from_array() -> None:
            publisher.publish(head(), pixels)

        def from_loan() -> None:
            publisher.publish(head(), publisher.loan(pixels.nbytes))

        copied, loaned = median_us(from_array), median_us(from_loan)
        assert listener.stdin is not None
        listener.stdin.close()
        node.close()
    return copied, loaned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--micro", type=Path, required=True, help="the program bench_micro")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    in_cpp, in_python, lent = [], [], []
    for round_ in range(args.rounds):
        in_cpp.append(cpp(args.micro))
        copied, loaned = python(args.micro, round_)
        in_python.append(copied)
        lent.append(loaned)
        print(f"C++ {in_cpp[-1]:.0f} us, Python {copied:.0f} us, loaned {loaned:.0f} us")
    ratio = statistics.median(in_python) / statistics.median(in_cpp)
    print(
        f"median: C++ {statistics.median(in_cpp):.0f} us, "
        f"Python {statistics.median(in_python):.0f} us (x {ratio:.2f}), "
        f"loaned {statistics.median(lent):.0f} us"
    )


if __name__ == "__main__":
    main()
