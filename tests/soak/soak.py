"""soak.py SECONDS [RATE_HZ]: eight clients of all gateways communicate through one robot, in both
directions. Every message must come back once and in order. Prints the change of memory of each
gateway, by a straight line through its samples. Fails if a gateway grows by 1 MB per hour or more.

Short runs cannot show this slope. Below half an hour, the test bounds the growth itself.
"""

from __future__ import annotations

import math
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise

from worlds import Echo, Gateway, echoes, gateway, kinds, robot

CLIENTS = 8
MOST_MB_AN_HOUR = 1.0
# The time in which caches fill: of the allocator, of types, of connections.
WARM_UP = 0.2
# The limit for a run that is too short for a slope.
MOST_GROWTH_KB = 2_000
LONG_S = 1800
# A queue that was once long keeps its memory. A leak by messages repeats in every try.
TRIES = 3


@dataclass
class Samples:
    seconds: list[float] = field(default_factory=list)
    kb: list[float] = field(default_factory=list)

    def add(self, seconds: float, kb: float) -> None:
        self.seconds.append(seconds)
        self.kb.append(kb)

    def line(self) -> tuple[float, float]:
        """MB per hour by least squares, and its standard error. Nearby samples carry little new
        information, so n is reduced to the number of effectively independent samples (first-order
        autocorrelation).
        """
        n = len(self.kb)
        mean_t, mean_y = sum(self.seconds) / n, sum(self.kb) / n
        spread = sum((t - mean_t) ** 2 for t in self.seconds)
        pairs = list(zip(self.seconds, self.kb, strict=True))
        slope = sum((t - mean_t) * (y - mean_y) for t, y in pairs) / spread
        rest = [y - mean_y - slope * (t - mean_t) for t, y in pairs]
        total = sum(r * r for r in rest)
        if total == 0:
            return slope * 3.6, 0.0
        near = sum(a * b for a, b in pairwise(rest)) / total
        near = min(max(near, 0.0), 0.99)
        independent = max(n * (1 - near) / (1 + near), 3.0)
        error = math.sqrt(total / (independent - 2) / spread * (n / independent))
        return slope * 3.6, error * 3.6


def watch(gates: list[Gateway], good: list[Echo], seconds: float) -> dict[str, Samples]:
    samples = {gate.kind: Samples() for gate in gates}
    step = max(0.5, min(10.0, seconds / 240))
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < seconds:
        if passed >= seconds * WARM_UP:
            for gate in gates:
                samples[gate.kind].add(passed, gate.held().rss_kb)
        for one in good:
            one.check()
        time.sleep(step)
    return samples


def judge(gate: Gateway, samples: Samples, seconds: float) -> bool:
    slope, error = samples.line()
    grown = samples.kb[-1] - samples.kb[0]
    held = gate.held()
    print(
        f"{gate.kind:10} {samples.kb[-1] / 1000:.1f} MB, {slope:+.2f} ± {2 * error:.2f} MB/h over "
        f"{len(samples.kb)} samples in {samples.seconds[-1] - samples.seconds[0]:.0f} s "
        f"({grown:+.0f} KB); {held.threads} threads, {held.descriptors} descriptors",
        flush=True,
    )
    return slope < MOST_MB_AN_HOUR if seconds >= LONG_S else grown < MOST_GROWTH_KB


def main() -> None:
    seconds = float(sys.argv[1])
    rate_hz = float(sys.argv[2]) if len(sys.argv) > 2 else 50.0
    names = [f"c{number}" for number in range(CLIENTS)]
    with ExitStack() as stack:
        domain = stack.enter_context(robot(names))
        gates = [stack.enter_context(gateway(kind, domain)) for kind in kinds()]
        wanted = [(gates[at % len(gates)], name) for at, name in enumerate(names)]
        good = stack.enter_context(echoes(wanted, rate_hz))
        for _ in range(1 if seconds >= LONG_S else TRIES):
            samples = watch(gates, good, seconds)
            for one in good:
                print(f"{one.name:14} {one.answers} round trips, the longest {one.worst_ms:.0f} ms")
            grown = [gate.kind for gate in gates if not judge(gate, samples[gate.kind], seconds)]
            if not grown:
                break
    if grown:
        raise SystemExit(f"memory grows in {', '.join(grown)}")


if __name__ == "__main__":
    main()
