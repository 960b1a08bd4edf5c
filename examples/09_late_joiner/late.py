"""The late joiner in Python."""

import sys

import hyphos
from hyphos.msgs import Empty, String

node = hyphos.Node.open("late", sys.argv)
latched = hyphos.Policy(latched=True)
go_on = node.publisher("go_on", Empty, policy=latched)


def on_place(place: String, info: hyphos.MessageInfo) -> None:
    print(f"{place.data}, {'as before' if info.replayed else 'new'}", flush=True)
    if info.replayed:
        go_on.publish(Empty())


node.subscribe("place", String, on_place, policy=latched)
node.spin()
