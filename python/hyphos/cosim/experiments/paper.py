"""The measurements of Dey et al.: tables II to IV, section VI and section VII.C of "A Reliable and
Low Latency Synchronizing Middleware for Co-simulation of a Heterogeneous Multi-Robot Systems".
"""

from __future__ import annotations

from hyphos.cosim.cell import Parameters

DISTANCES = (20, 40, 60, 80, 100)

# By table, sight and transport: for each distance the average delay in s, which is "the sum of all
# delays experienced during the transmission of 10 seconds of accelerometric data", and loss in %.
_Column = tuple[tuple[float, float], ...]
_II: dict[tuple[str, str], _Column] = {
    ("LOS", "tcp"): ((0.01, 0), (0.1, 0), (0.4, 0), (0.4, 10), (0.6, 10)),
    ("NLOS", "tcp"): ((0.2, 0), (0.5, 10), (0.8, 10), (1.0, 20), (1.0, 30)),
}
_III: dict[tuple[str, str], _Column] = {
    ("LOS", "tcp"): ((0.1, 0), (0.2, 10), (0.2, 10), (0.5, 20), (0.6, 30)),
    ("NLOS", "tcp"): ((0.5, 0), (0.7, 20), (0.8, 20), (1.3, 60), (1.6, 90)),
}
_IV: dict[tuple[str, str], _Column] = {
    ("LOS", "udp"): ((0.01, 0), (0.08, 0), (0.42, 10), (0.46, 30), (0.5, 40)),
    ("LOS", "tcp"): ((0.01, 0), (0.1, 0), (0.48, 10), (0.6, 10), (0.8, 20)),
    ("NLOS", "udp"): ((0.18, 10), (0.4, 30), (0.54, 50), (0.96, 60), (1.0, 60)),
    ("NLOS", "tcp"): ((0.2, 10), (0.5, 10), (0.8, 30), (1.0, 40), (1.4, 50)),
}
# By robots and architecture.
TABLES = {
    ("ugv-ugv", "masterless"): ("II", _II),
    ("ugv-uav", "masterless"): ("III", _III),
    ("ugv-ugv", "master"): ("IV", _IV),
}
_METRICS = ("delay_sum_s", "loss_percent")


def table(parameters: Parameters, metric: str) -> float | None:
    """The paper's figure for the parameters of a cell. None if the paper has none."""
    if metric not in _METRICS or parameters.get("distance_m") not in DISTANCES:
        return None
    key = str(parameters.get("robots")), str(parameters.get("architecture"))
    column = TABLES.get(key, ("", {}))[1].get(
        (str(parameters.get("sight")), str(parameters.get("transport")))
    )
    if column is None:
        return None
    return column[DISTANCES.index(int(parameters["distance_m"]))][_METRICS.index(metric)]


# Section VI: a file of 293,797 bytes. Delay by ping, and duration of the transfer, in ms.
FILE_BYTES = 293_797
FILES = {
    ("masterless", "udp"): (13.0, 468.0),
    ("masterless", "tcp"): (4.5, 931.5),
    ("master", "udp"): (16.0, 576.0),
    ("master", "tcp"): (5.0, 1035.0),
}
FILE_PACKETS = {"udp": 36, "tcp": 207}

# Section VII.C: 100 pings of 64 bytes in EMANE, mean in ms. Node 10 at its first position, and
# moved by 100 in longitude, latitude and altitude.
PINGS = {"near": 5.377, "moved": 54.309}
