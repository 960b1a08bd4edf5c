"""Settings of ROS 2 for the channels of a recording."""

from __future__ import annotations

from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability
from rosbags.interfaces import QosTime as Span

_FOREVER = Span(2147483647, 4294967295)


def latched_qos(*, depth: int = 1, latched: bool = True, reliable: bool = True) -> list[Qos]:
    return [
        Qos(
            QosHistory.KEEP_LAST,
            depth,
            QosReliability.RELIABLE if reliable else QosReliability.BEST_EFFORT,
            QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
            _FOREVER,
            _FOREVER,
            QosLiveliness.AUTOMATIC,
            _FOREVER,
            avoid_ros_namespace_conventions=False,
        )
    ]
