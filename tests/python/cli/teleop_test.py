"""hyphos teleop, by a pseudo terminal."""

from __future__ import annotations

import hyphos
from helpers import Cli, Inbox, OnTerminalStart, repeating, wait_until
from hyphos.msgs import Twist
from hyphos.tools.teleop import Driver, Speeds, split_keys


def driven(driver: Driver, now: float) -> tuple[float, float, float] | None:
    twist = driver.twist(now)
    return None if twist is None else (twist.linear.x, twist.linear.y, twist.angular.z)


def test_a_held_key_drives_and_a_released_one_stops() -> None:
    driver = Driver(Speeds(0.5, 1.0))
    assert driven(driver, 0) is None
    driver.press(b"\x1b[A", 0)
    assert driven(driver, 0.5) == (0.5, 0, 0)
    driver.press(b"\x1b[A", 0.5)
    assert driven(driver, 1.0) == (0.5, 0, 0)
    assert driven(driver, 1.3) is None
    driver.press(b"e", 2)
    assert driven(driver, 2) == (0.5, 0, -1)
    driver.press(b" ", 2.1)
    assert driven(driver, 2.1) is None


def test_speeds_change_in_steps() -> None:
    driver = Driver(Speeds(1.0, 2.0))
    for _ in range(3):
        driver.press(b"+", 0)
    driver.press(b"-", 0)
    assert round(driver.speeds.forward, 6) == 1.21
    assert round(driver.speeds.turn, 6) == 2.42


def test_arrows_and_letters_of_one_read_are_separated() -> None:
    assert split_keys(b"\x1b[Aw\x1b[C ") == [b"\x1b[A", b"w", b"\x1b[C", b" "]
    assert split_keys(b"\x1b") == [b"\x1b"]
    assert split_keys(b"") == []


def test_keys_of_a_terminal_drive_the_robot(hyphos_terminal: OnTerminalStart, domain: str) -> None:
    with hyphos.Node.open("robot", domain=domain) as node:
        inbox = Inbox()
        node.subscribe("cmd_vel", Twist, inbox)
        program = hyphos_terminal("teleop", "--speed", "0.3", "-d", domain)
        program.read_until("1 subscriber")
        # Only the newest command is kept, so the key is held until the robot has received one.
        with repeating(lambda: program.type("w")):
            program.read_until("+0.30 m/s")
            wait_until(lambda: any(t.linear.x == 0.3 for t in inbox.items), "the speed")
        program.shown = ""
        program.read_until("+0.00 m/s")
        wait_until(lambda: inbox.items[-1].linear.x == 0, "the stop")
        program.type("\x03")
        assert program.end() == 0


def test_without_a_terminal_the_error_has_the_remedy(hyphos_cli: Cli, domain: str) -> None:
    code, _, err = hyphos_cli("teleop", "-d", domain)
    assert code == 1
    assert "standard input is none" in err
    assert "joystick" in err
