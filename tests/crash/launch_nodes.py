"""The robot of launch_crash.py: numbers pass through a C++ plug-in and return with the identity of
each process that handled them."""

from __future__ import annotations

import os

import hyphos
from hyphos import MessageInfo
from hyphos.msgs import Int64, String

LIFE = 10**9  # each number is the pid of the source times LIFE plus its count


class Source:
    """Counts, and publishes its pid once on a latched channel."""

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
    """Republishes the output of the plug-in with its own pid, the pid of the known source, and the
    sender."""

    def __init__(self, node: hyphos.Node) -> None:
        self.seen = node.publisher("seen", String)
        self.born = "nobody"
        node.subscribe("born", String, self.on_born)
        node.subscribe("doubled", Int64, self.on_doubled)

    def on_born(self, born: String) -> None:
        self.born = born.data

    def on_doubled(self, doubled: Int64, info: MessageInfo) -> None:
        self.seen.publish(String(data=f"{os.getpid()} {self.born} {info.sender} {doubled.data}"))
