"""Keeps the last message after its callback: the message stays valid and occupies its slot."""

import sys

import hyphos
from hyphos.types import Bytes

node = hyphos.Node.open("sink", sys.argv)
kept: list[Bytes] = []


def take(data: Bytes) -> None:
    kept[:] = [data]


def tell() -> None:
    if kept:
        print(f"{kept[0].size} bytes, sum {int(kept[0].sum(dtype=int))}", flush=True)


node.subscribe("relayed", bytes, take)
node.every(tell, period_ms=200)
node.spin()
