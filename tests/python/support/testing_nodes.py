"""Nodes and plans for the tests of hyphos.testing."""

from __future__ import annotations

from pathlib import Path

NODES = """
import os
from hyphos.msgs import Int64, String

class Counter:
    "Publishes 1, 2, 3, ... ten times a second."
    def __init__(self, node):
        self.pub = node.publisher("count", Int64)
        self.count = node.param("first", 1)
        node.every(self.tick, rate_hz=10)
    def tick(self):
        self.pub.publish(Int64(data=self.count))
        self.count += 1

class Doubler:
    def __init__(self, node):
        self.pub = node.publisher("doubled", Int64)
        node.subscribe("count", Int64, self.on_count)
    def on_count(self, count):
        self.pub.publish(Int64(data=2 * count.data))

class Fragile(Doubler):
    "Cannot double 3, or the first number after it."
    failed = False
    def on_count(self, count):
        if count.data >= 3 and not self.failed:
            self.failed = True
            raise ValueError(f"cannot double {count.data}")
        super().on_count(count)

class BadTimer:
    def __init__(self, node):
        node.every(self.tick, rate_hz=100)
    def tick(self):
        raise KeyError("no such key")

class Once(BadTimer):
    "Ends its process after its exception."
    def __init__(self, node):
        self.node, self.calls = node, 0
        super().__init__(node)
    def tick(self):
        self.calls += 1
        if self.calls == 1:
            super().tick()
        self.node.runtime.request_stop()

class Mortal:
    "Publishes its pid, and ends its process when it is told to."
    def __init__(self, node):
        self.pub = node.publisher("alive", Int64)
        node.every(lambda: self.pub.publish(Int64(data=os.getpid())), rate_hz=20)
        node.subscribe("end", Int64, lambda end: os._exit(end.data))

def greeter(node):
    print("starting")
    print("hello you", flush=True)

def broken(node):
    raise RuntimeError("the motor driver is missing")
"""

PLAN = """
hyphos: 1
processes:
  source: {nodes: [counter]}
  sink: {nodes: [doubler]}
nodes:
  counter: {python: "nodes.py:Counter"}
  doubler: {python: "nodes.py:Doubler"}
channels:
  count: {type: hyphos.msgs.Int64, publishers: [counter], subscribers: [doubler]}
  doubled: {type: hyphos.msgs.Int64, publishers: [doubler], subscribers: []}
"""


def write_robot(folder: Path, plan: str = PLAN) -> Path:
    (folder / "nodes.py").write_text(NODES)
    path = folder / "robot.yaml"
    path.write_text(plan)
    return path
