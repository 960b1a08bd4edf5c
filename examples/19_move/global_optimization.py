"""The Global Optimization of figure 5, which both robots have. It optimizes each message of
pre_channel, and publishes the result with the name of its robot on ba_channel.
"""

import sys

import hyphos
from hyphos.msgs import Int64, String


def optimize(node: hyphos.Node, robot: str) -> None:
    results = node.publisher("ba_channel", String)
    results.wait_for(1)  # robot 1 is connected, so it receives every result
    node.subscribe(
        "pre_channel", Int64, lambda pre: results.publish(String(data=f"{robot} {pre.data}"))
    )


if __name__ == "__main__":
    with hyphos.Node.open("global_optimization", sys.argv) as own:
        optimize(own, "robot2")
        own.spin()
