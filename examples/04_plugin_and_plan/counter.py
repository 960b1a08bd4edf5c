"""A node in Python. `hyphos run` creates it as robot.yaml describes."""

import hyphos
from hyphos.msgs import Int64


class Counter:
    def __init__(self, node: hyphos.Node) -> None:
        self.number = node.publisher("number", Int64)
        self.count = 0
        node.subscribe("doubled", Int64, self.on_doubled)
        node.every(self.send, rate_hz=node.param("rate_hz", 10.0))

    def send(self) -> None:
        if self.number.listeners > 0:
            self.count += 1
            self.number.publish(Int64(data=self.count))

    def on_doubled(self, doubled: Int64) -> None:
        print(f"doubled: {doubled.data}", flush=True)
