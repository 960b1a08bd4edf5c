"""Loans a million bytes from the channel, fills them, and publishes them without a copy."""

import sys

import hyphos

node = hyphos.Node.open("source", sys.argv)
raw = node.publisher("raw", bytes)


def send() -> None:
    if raw.listeners == 0:
        return
    data = raw.loan(1_000_000)
    data[:] = 7
    raw.publish(data)


node.every(send, rate_hz=10)
node.spin()
