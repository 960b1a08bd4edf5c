"""Why a row of tables II to IV differs from the paper: one sentence from the figures of the row."""

from __future__ import annotations

import math

from hyphos.cosim.cell import Parameters
from hyphos.cosim.experiments import paper
from hyphos.cosim.experiments.say import plain
from hyphos.cosim.results import Results, Row
from hyphos.cosim.runs import DELAY_PARTS

_NEAR_POINTS = 10.0  # percent points of loss: the paper rounds to ten
_NEAR_FACTOR = 2.0  # of delays


def _value(row: Row, metric: str) -> float:
    return row.estimate(metric).value


def _largest_part(row: Row) -> str:
    """The largest part of the delay, with its share."""
    parts = {part: _value(row, f"{part}_ms") for part in DELAY_PARTS}
    whole = math.fsum(value for value in parts.values() if not math.isnan(value))
    known = {part: value for part, value in parts.items() if not math.isnan(value)}
    if not known or whole <= 0:
        return ""
    part, value = max(known.items(), key=lambda one: one[1])
    return f"{part} is {100 * value / whole:.0f} % of the delay"


def _loss(row: Row, told: float, parameters: Parameters) -> str:
    transport, sight = parameters["transport"], parameters["sight"]
    here = _value(row, "loss_percent")
    if abs(here - told) <= _NEAR_POINTS:
        return "loss as in the paper"
    if here < told:
        if sight == "NLOS" and parameters["architecture"] == "master":
            return "less loss: the master is a drone here, and its path passes above the ridge"
        if transport == "tcp":
            return "less loss: TCP had 2 s to repeat, the paper's evaluation ended earlier"
        reason = "seven attempts and a lower rate still succeed at this distance"
        return f"less loss: {reason}"
    if sight == "NLOS":
        return "more loss: ridge and trees take more than the paper's unnamed obstacle"
    return "more loss: fading and interference at low antennas, which the paper does not name"


def _delay(row: Row, told: float, transport: str) -> str:
    here = _value(row, "delay_sum_s")
    if math.isnan(here):
        return "no message arrived, so there is no delay"
    if told / _NEAR_FACTOR <= here <= told * _NEAR_FACTOR:
        return "delay as in the paper"
    largest = _largest_part(row)
    if here < told:
        return f"shorter delay: the paper's grows with distance, here {largest}"
    if transport == "tcp" and largest.startswith("retransmission"):
        return f"longer delay: messages wait for repeated ones ({largest})"
    return f"longer delay: {plain(here)} ms a message, of which {largest}"


def why(results: Results, parameters: Parameters) -> str:
    row = results.row(**parameters)
    if row is None or not row.values("loss_percent"):
        return "not run"
    transport = str(parameters["transport"])
    delay = paper.table(parameters, "delay_sum_s")
    loss = paper.table(parameters, "loss_percent")
    if delay is None or loss is None:
        largest = _largest_part(row)
        return "no figure in the paper" + (f"; {largest}" if largest else "")
    text = f"{_loss(row, loss, parameters)}; {_delay(row, delay, transport)}"
    return text[0].upper() + text[1:] + "."
