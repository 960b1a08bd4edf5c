"""hyphos teleop: drives a robot by the keys of a terminal."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hyphos._errors import Error
from hyphos._hyphos import Policy
from hyphos.msgs import Twist
from hyphos.publisher import Publisher
from hyphos.tools.join import open_tool
from hyphos.tools.terminal import key_presses, read_keys
from hyphos.tools.waiting import Stop, stoppable

_PERIOD_S = 0.05
# A terminal reports no release of a key. The pause before a held key repeats is at most 0.66 s.
_HELD_S = 0.7
_FACTOR = 1.1
_MOST_BYTES = 64  # of keys in one period
# Forward, left, turn left.
_KEYS = {
    b"\x1b[A": (1, 0, 0),
    b"\x1b[B": (-1, 0, 0),
    b"\x1b[D": (0, 0, 1),
    b"\x1b[C": (0, 0, -1),
    b"w": (1, 0, 0),
    b"s": (-1, 0, 0),
    b"a": (0, 0, 1),
    b"d": (0, 0, -1),
    b"q": (1, 0, 1),
    b"e": (1, 0, -1),
    b"j": (0, 1, 0),
    b"l": (0, -1, 0),
}
_HELP = """arrows or w a s d: drive and turn     q e: curves     j l: sideways
+ -: faster, slower     space: stop     Ctrl-C: stop and end
"""


@dataclass
class Speeds:
    """The full speed in m/s and in rad/s."""

    forward: float
    turn: float


def split_keys(data: bytes) -> list[bytes]:
    """The keys in what a terminal has sent. An arrow is three bytes."""
    keys = []
    while data:
        size = 3 if data.startswith(b"\x1b[") else 1
        keys.append(data[:size])
        data = data[size:]
    return keys


class Driver:
    """The movement that the keys ask for. Times are in seconds."""

    def __init__(self, speeds: Speeds) -> None:
        self.speeds = speeds
        self._move = (0, 0, 0)
        self._until = 0.0

    def press(self, key: bytes, now: float) -> None:
        if key in _KEYS:
            self._move, self._until = _KEYS[key], now + _HELD_S
        elif key in (b"+", b"="):
            self._scale(_FACTOR)
        elif key == b"-":
            self._scale(1 / _FACTOR)
        else:
            self._until = now

    def _scale(self, factor: float) -> None:
        self.speeds = Speeds(self.speeds.forward * factor, self.speeds.turn * factor)

    def twist(self, now: float) -> Twist | None:
        """The speed, or None if no key is held."""
        if now >= self._until:
            return None
        forward, left, turn = self._move
        made = Twist()
        made.linear.x = forward * self.speeds.forward
        made.linear.y = left * self.speeds.forward
        made.angular.z = turn * self.speeds.turn
        return made


def teleop(channel: str, speeds: Speeds, domain: str) -> int:
    """Publishes speeds while a key is held, and one zero after its release, until Ctrl-C."""
    with stoppable() as stop, key_presses() as keys:
        if keys is None:
            raise Error(
                "unsupported",
                "the keys come from a terminal, and standard input is none",
                advice="run it in a terminal, or use the built-in nodes joystick and teleop",
            )
        node = open_tool("teleop", domain)
        try:
            publisher = node.publisher(channel, Twist, policy=Policy(depth=1))
            print(_HELP, end="", flush=True)
            _drive(keys, Driver(speeds), stop, publisher)
        finally:
            node.close()
    return 0


def _drive(keys: int, driver: Driver, stop: Stop, publisher: Publisher[Twist]) -> None:
    driving = False
    try:
        while not stop.now:
            for key in split_keys(read_keys(keys, _PERIOD_S, _MOST_BYTES)):
                driver.press(key, time.monotonic())
            twist = driver.twist(time.monotonic())
            if twist is not None:
                publisher.publish(twist)
            elif driving:
                publisher.publish(Twist())
            driving = twist is not None
            _show(publisher, driver, twist)
    finally:
        if driving:
            publisher.publish(Twist())
        print()


def _show(publisher: Publisher[Twist], driver: Driver, twist: Twist | None) -> None:
    now = twist or Twist()
    listeners = publisher.listeners
    to = f"{listeners} subscribers" if listeners != 1 else "1 subscriber"
    line = (
        f"{now.linear.x:+.2f} m/s {now.angular.z:+.2f} rad/s   full speed "
        f"{driver.speeds.forward:.2f} m/s {driver.speeds.turn:.2f} rad/s   {to}"
    )
    print(f"\r{line:<78}", end="", flush=True)
