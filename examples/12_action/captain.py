"""Sends three goals: the first succeeds, the second is rejected, the third is canceled."""

import sys
import threading
from typing import Any

import hyphos

DriveTo = hyphos.Struct("example.DriveTo", [("metres", "f8")])
Driven = hyphos.Struct("example.Driven", [("metres", "f8")])

node = hyphos.Node.open("captain", sys.argv)
drive_to = node.action_client("drive_to", DriveTo, Driven, Driven)


def tell(driven: Any) -> None:
    print(f"at {driven.metres:.0f} m", flush=True)


result = drive_to.send(DriveTo(metres=2), tell).result()
print(result.state, f"{result.value.metres:.0f} m", flush=True)

try:
    drive_to.send(DriveTo(metres=-1)).accepted()
except hyphos.Error as error:
    print(error, flush=True)

# A goal that is canceled before it begins ends with an error instead of a state.
under_way = threading.Event()
far = drive_to.send(DriveTo(metres=1e6), lambda _: under_way.set())
under_way.wait()
far.cancel()
print(far.result().state, flush=True)
node.spin()
