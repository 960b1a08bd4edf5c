"""The Global Optimization of figure 5, which both robots have. It optimizes each message of
pre_channel, and publishes the result with the name of its robot on ba_channel.
"""

import sys

import hyphos
from hyphos.msgs import Int64, String


class GlobalOptimization:
    def __init__(self, node: hyphos.Node, robot: str = "robot2") -> None:
        self.robot = robot
        self.results = node.publisher("ba_channel", String)
        self.results.wait_for(1)  # robot 1 is connected, so it receives every result
        node.subscribe("pre_channel", Int64, self.optimize)

    def optimize(self, pre: Int64) -> None:
        self.results.publish(String(data=f"{self.robot} {pre.data}"))


if __name__ == "__main__":
    with hyphos.Node.open("global_optimization", sys.argv) as own:
        GlobalOptimization(own)
        own.spin()
