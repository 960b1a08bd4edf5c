"""Robot 1 of figure 5. Its own Global Optimization and that of robot 2 take turns: the optimization
moves after every 60 messages, while earlier messages are on the way.
"""

import sys
from collections import Counter
from threading import Condition

import hyphos
from global_optimization import GlobalOptimization
from hyphos.msgs import Int64, String

TURN = 60
TURNS = 10


def main() -> int:
    runtime = hyphos.Runtime.open(sys.argv)
    slam = runtime.node("slam")
    results: Counter[int] = Counter()
    made_by: dict[int, str] = {}
    changed = Condition()

    def on_result(result: String) -> None:
        robot, number = result.data.split()
        with changed:
            results[int(number)] += 1
            made_by[int(number)] = robot
            changed.notify()

    slam.subscribe("ba_channel", String, on_result)
    pre = slam.publisher("pre_channel", Int64)
    own = runtime.node("global_optimization")  # a dropped node would close
    GlobalOptimization(own, "robot1")
    pre.wait_for(1)  # the optimization of robot 2
    runtime.ready()

    for number in range(1, TURN * TURNS + 1):
        if number % TURN == 1:
            here = number % (2 * TURN) != 1
            runtime.open_channel_only("pre_channel", "inside" if here else "outside")
        pre.publish(Int64(data=number))

    with changed:
        complete = changed.wait_for(lambda: len(results) == TURN * TURNS, timeout=60)
        for first in range(1, TURN * TURNS + 1, TURN):
            numbers = range(first, first + TURN)
            robots = Counter(made_by.get(number, "no robot") for number in numbers)
            counts = ", ".join(f"{count} by {robot}" for robot, count in sorted(robots.items()))
            print(f"messages {first:3} to {first + TURN - 1:3}: {counts}")
        doubled = sum(count - 1 for count in results.values())
        print(f"{TURN * TURNS} messages, {len(results)} results, {doubled} doubled")
    runtime.close()
    return 0 if complete and doubled == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
