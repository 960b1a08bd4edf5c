"""Tests of robots: in lock-step or in real time, with pytest or without.

    from hyphos.testing import Robot

    with Robot("robot.yaml") as robot:
        robot.expect("greeting", lambda m: m.data == "hello", within=5)

pytest loads the plug-in of this package for every test run, so names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyphos.testing.robot import Robot
    from hyphos.testing.stage import RobotError

_HOMES = {"Robot": "robot", "RobotError": "stage"}

__all__ = ["Robot", "RobotError"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hyphos.testing' has no attribute '{name}'")
    value = getattr(import_module(f"hyphos.testing.{home}"), name)
    globals()[name] = value
    return value
