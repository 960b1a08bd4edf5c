"""Definitions of common ROS packages that `rosbags` lacks, for machines without ROS.

Each is a list of fields and constants, which the interfaces of ROS document. A test compares their
sums with published ones (tests/python/ros/ros_common_test.py).
"""

from __future__ import annotations

from hyphos.ros.common import control, geography, motion, navigation, services, tutorials
from hyphos.ros.definition import Flavour

_FAMILIES = (services, control, navigation, geography, motion, tutorials)


def definitions(flavour: Flavour) -> dict[str, str]:
    """Texts by "package/folder/Name"."""
    found: dict[str, str] = {}
    for family in _FAMILIES:
        found.update(family.BOTH)
        found.update(family.ROS1 if flavour is Flavour.ROS1 else family.ROS2)
    return found
