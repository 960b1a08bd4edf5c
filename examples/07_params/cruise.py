"""The same parameters in Python."""

import sys

import hyphos

node = hyphos.Node.open("cruise", sys.argv)
params = node.params()
speed = params.declare("speed", 0.5, unit="m/s", description="how fast to go", range=(0, 2))
limit = params.declare("limit", 1.0, unit="m/s", range=(0, 2))
params.declare("mode", "calm", choices=["calm", "brisk"])


def within_limit(next: hyphos.ParamSet) -> str | None:
    return None if next["speed"] <= next["limit"] else "speed is above limit"


params.check(within_limit)
speed.watch(lambda now: print(f"speed is {now:.1f} now", flush=True))
node.every(lambda: speed.value * 0.01, period_ms=10)  # reading a parameter is cheap
node.spin()
