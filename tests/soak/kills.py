"""kills.py KILLS [SEED]: clients of each gateway are killed (SIGKILL) at random instants while they
publish and hear at full speed. A good client beside them is served all the while, and nothing of
those that died is left in the gateway: no thread, no descriptor, no end in the graph, no memory.
"""

from __future__ import annotations

import random
import sys
import time

from worlds import Echo, Gateway, Process, echoes, gateway, kinds, robot

# After the caches of the allocator have filled. What a client that is killed may leave: less than
# what any object of one would take, were it forgotten each time.
WARM = 0.25
MOST_KB_FOR_EACH = 4.0
# Memory that is in use or not, as it happens, whatever the number of kills.
NOISE_KB = 3_000
# A queue that once was long leaves its memory behind; what each kill leaves, it leaves every time.
TRIES = 3


def storm(gate: Gateway) -> Process:
    if gate.kind == "ros2":  # the one that speaks is to die, not one in front of it
        program, domain = gate.address.split(" ")
        return Process([program, domain, "storm", "rt/storm", "rt/beat"])
    return Process(gate.command("storm"))


def kill_many(gate: Gateway, good: Echo, kills: int, chance: random.Random) -> bool:
    """Whether the memory stays as it is."""
    # The first brings what stays: the channel of the log, threads of the pool.
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
        raise SystemExit(f"{good.name} is not served any more")
    grown_kb = gate.held().rss_kb - warm_kb
    print(
        f"{gate.kind:10} {kills} killed; the good client: {good.answers} answers in order, the "
        f"longest wait {good.worst_ms:.0f} ms; memory {grown_kb:+d} KB since kill "
        f"{int(kills * WARM)}; threads, descriptors, ends as before: {before}",
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
                    raise SystemExit(f"{kind}: each client that was killed has left memory")


if __name__ == "__main__":
    main()
