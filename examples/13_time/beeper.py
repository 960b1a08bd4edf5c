"""The beeper in Python."""

import sys

import hyphos

node = hyphos.Node.open("beeper", sys.argv)
node.every(lambda: print(f"beep at {node.clock.elapsed_s():.0f} s", flush=True), period_ms=1000)
node.on_clock_jump(
    lambda jump: print(f"the time was set to {jump.after_ns / 1e9:.0f} s", flush=True)
)
node.spin()
