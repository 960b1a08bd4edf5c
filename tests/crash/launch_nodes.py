"""The robot of launch_crash.py: numbers go through a C++ plug-in and come back with proof of who
handled them."""

from __future__ import annotations

import os

import hyphos
from hyphos import MessageInfo
from hyphos.msgs import Int64, String

LIFE = 10**9  # above its count, each number has the pid of the source


class Source:
    """Counts; says once, on a latched channel, who it is."""

    def __init__(self, node: hyphos.Node) -> None:
        self.born = node.publisher("born", String)
        self.born.publish(String(data=str(os.getpid())))
        self.number = node.publisher("number", Int64)
        self.count = os.getpid() * LIFE
        node.every(self.tick, rate_hz=100)

    def tick(self) -> None:
        self.count += 1
        self.number.publish(Int64(data=self.count))


class Sink:
    """Repeats what comes out of the plug-in, with its own pid, that of the source it knows, and who
    sent it."""

    def __init__(self, node: hyphos.Node) -> None:
        self.seen = node.publisher("seen", String)
        self.born = "nobody"
        node.subscribe("born", String, self.on_born)
        node.subscribe("doubled", Int64, self.on_doubled)

    def on_born(self, born: String) -> None:
        self.born = born.data

    def on_doubled(self, doubled: Int64, info: MessageInfo) -> None:
        self.seen.publish(String(data=f"{os.getpid()} {self.born} {info.sender} {doubled.data}"))
