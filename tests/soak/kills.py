"""kills.py KILLS [SEED]: kills clients of each gateway (SIGKILL) at random instants while they
publish and receive at full speed. A good client is served throughout. Killed clients leave nothing
in the gateway: no thread, no descriptor, no endpoint in the graph, no memory.
"""

from __future__ import annotations

import random
import sys
import time

from worlds import Echo, Gateway, Process, echoes, gateway, kinds, robot

# Measured after the allocator's caches have filled. The limit per killed client is smaller than any
# object of a client. A leak of one object per kill therefore exceeds it.
WARM = 0.25
MOST_KB_FOR_EACH = 4.0
# Memory that varies independently of the number of kills.
NOISE_KB = 3_000
# A queue that was once long keeps its memory. A leak by kills repeats in every try.
TRIES = 3


def storm(gate: Gateway) -> Process:
    if gate.kind == "ros2":  # kill the program itself, not a wrapper around it
        program, domain = gate.address.split(" ")
        return Process([program, domain, "storm", "rt/storm", "rt/beat"])
    return Process(gate.command("storm"))


def kill_many(gate: Gateway, good: Echo, kills: int, chance: random.Random) -> bool:
    """Returns True if the memory does not grow."""
    # The first client creates permanent state: the log channel, threads of the pool.
    first = storm(gate)
    gate.wait_for_end("storm", there=True)
    first.kill()
    gate.wait_for_end("storm", there=False)
    before = gate.census()
    warm_kb = 0
    for number in range(kills):
        if number == int(kills * WARM):
            warm_kb = gate.held().rss_kb
        client = storm(gate)
        time.sleep(chance.uniform(0, 0.3))
        client.kill()
        good.check()
    answers = good.answers
    gate.settle(before)
    good.process.wait_lines(len(good.process.lines) + 2)
    good.check()
    if good.answers <= answers:
        raise SystemExit(f"{good.name} is no longer served")
    grown_kb = gate.held().rss_kb - warm_kb
    print(
        f"{gate.kind:10} {kills} killed; the good client: {good.answers} replies in order, the "
        f"longest wait {good.worst_ms:.0f} ms; memory {grown_kb:+d} KB since kill "
        f"{int(kills * WARM)}; threads, descriptors, endpoints as before: {before}",
        flush=True,
    )
    return grown_kb <= NOISE_KB + MOST_KB_FOR_EACH * kills * (1 - WARM)


def main() -> None:
    kills = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    with robot(["good"]) as domain:
        for kind in kinds():
            with gateway(kind, domain) as gate, echoes([(gate, "good")], 100) as good:
                if not any(kill_many(gate, good[0], kills, chance) for _ in range(TRIES)):
                    raise SystemExit(f"{kind}: each killed client has left memory")


if __name__ == "__main__":
    main()
