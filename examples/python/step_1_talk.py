"""Step 1: two nodes in one process. A timer publishes, a callback prints, Ctrl-C ends the program.

Run the program twice side by side: the second one also receives the messages of the first. The two
programs find each other through shared memory.
"""

import sys

import hyphos
from hyphos.msgs import Float64

runtime = hyphos.Runtime.open(sys.argv)
sensor = runtime.node("sensor")
display = runtime.node("display")

temperature = sensor.publisher("temperature", Float64)
display.subscribe("temperature", Float64, lambda value: print(f"{value.data} °C", flush=True))
sensor.every(lambda: temperature.publish(Float64(data=21.5)), rate_hz=10)

runtime.spin()
