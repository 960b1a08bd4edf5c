"""A leader that counts ten times a second, and a follower that prints each received number. Neither
of them depends on the simulated radio.
"""

import time

import hyphos
from hyphos.msgs import Int64


class Leader:
    def __init__(self, node: hyphos.Node) -> None:
        self.beat = node.publisher("beat", Int64)
        self.count = 0
        node.every(self.tick, rate_hz=10)

    def tick(self) -> None:
        self.count += 1
        self.beat.publish(Int64(data=self.count))


class Follower:
    def __init__(self, node: hyphos.Node) -> None:
        self.last = time.monotonic()
        node.subscribe("beat", Int64, self.on_beat)

    def on_beat(self, beat: Int64) -> None:
        now = time.monotonic()
        if now - self.last > 0.5:
            print(f"nothing for {now - self.last:.1f} s", flush=True)
        if beat.data % 10 == 0:
            print(f"beat {beat.data}", flush=True)
        self.last = now
