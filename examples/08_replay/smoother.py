"""A sensor, and a filter that deserves a regression test."""

import hyphos
from hyphos.msgs import Float64


class Sensor:
    """Measures 1, 2, 3, ... once the filter and the recorder are subscribed."""

    def __init__(self, node: hyphos.Node) -> None:
        self.range = node.publisher("range", Float64)
        self.value = 0
        node.every(self.measure, rate_hz=50)

    def measure(self) -> None:
        if self.value or self.range.listeners >= 2:
            self.value += 1
            self.range.publish(Float64(data=self.value))


class Filter:
    def __init__(self, node: hyphos.Node) -> None:
        self.weight = node.param("weight", 0.5)
        self.value = 0.0
        self.refusals = hyphos.Refusals(node)
        self.smooth = node.publisher("smooth", Float64)
        node.subscribe("range", Float64, self.on_range)

    def on_range(self, measured: Float64) -> None:
        # A single NaN would stay in the value for ever.
        if self.refusals.refuse("range", "" if abs(measured.data) < 1e9 else "it is invalid"):
            return
        self.value += self.weight * (measured.data - self.value)
        self.smooth.publish(Float64(data=self.value))
