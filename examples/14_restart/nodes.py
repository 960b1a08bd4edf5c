"""Two nodes that may be killed. A latched channel gives the restarted one its state back."""

import os

import hyphos
from hyphos.msgs import Int64, String


class Counter:
    def __init__(self, node: hyphos.Node) -> None:
        self.born = node.publisher("born", String)
        self.born.publish(String(data=f"counter {os.getpid()}"))  # latched, for late subscribers
        self.number = node.publisher("count", Int64)
        self.count = 0
        node.every(self.tick, rate_hz=20)

    def tick(self) -> None:
        self.count += 1
        self.number.publish(Int64(data=self.count))


class Listener:
    def __init__(self, node: hyphos.Node) -> None:
        self.source = ""
        node.subscribe("born", String, self.on_born)
        node.subscribe("count", Int64, self.on_count)

    def on_born(self, born: String) -> None:
        self.source = born.data

    def on_count(self, count: Int64) -> None:
        if self.source and count.data % 10 == 0:
            print(f"{os.getpid()} receives from {self.source}: {count.data}", flush=True)
