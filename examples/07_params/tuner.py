"""Reads and sets the parameters of another node, which may run in any process."""

import sys

import hyphos

node = hyphos.Node.open("tuner", sys.argv)
cruise = node.remote_params("cruise")
values = cruise.wait(timeout_ms=20_000)
speed = values.find("speed")
assert speed is not None, "the example declares it"
print(f"speed {values['speed']} {speed.unit}, {speed.allowed}")
try:
    cruise.set({"speed": 1.5})
except hyphos.Error as error:
    print(f"refused: {error.message}")
cruise.set({"speed": 1.5, "limit": 2.0, "mode": "brisk"})  # sets all of them, or none
print(f"speed {cruise['speed']}, limit {cruise['limit']}, mode {cruise['mode']}", flush=True)
