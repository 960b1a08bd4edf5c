"""A drone in MuJoCo that pymavlink flies over UDP, as with the simulation of an autopilot."""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from helpers import Start, wait_until
from hyphos import Error
from hyphos.cosim.emulation import Emulation, Ways
from lab_places import need

os.environ["MAVLINK20"] = "1"
mavutil = pytest.importorskip("pymavlink.mavutil", reason="pip install -r requirements.txt")

TREE = Path(__file__).resolve().parents[3]
MUJOCO = TREE / "build/release/cosim/hyphos-cosim-mujoco.so"

SCENARIO = """
duration_s: 300
physics: {simulator: PHYSICS, rate_hz: 500}
method: {name: adaptive, window_ms: 20, latency_budget_ms: 20}
robots:
  husky: {at: [5, 5, 0.5]}
  iris: {kind: uav, at: [0, 0, 0.06], mavlink: {autopilot: AUTOPILOT, remote: "127.0.0.1:PORT"}}
radio: {simulator: ideal}
traffic: {rate_hz: 1}
"""
# A lag that no machine reaches, so that the run is valid on every machine.
REAL_TIME = """
duration_s: 300
realtime: {lag_p99_ms: 600000, lag_longest_ms: 600000}
robots:
  husky: {at: [5, 5, 0.5]}
  iris: {kind: uav, at: [0, 0, 0.06], mavlink: {remote: "127.0.0.1:PORT", port: OWN}}
"""
ARM, TAKE_OFF, LAND, SET_MODE, INTERVAL = 400, 22, 21, 176, 511
OFFBOARD = 6 << 16
SO_RCVBUFFORCE = 33
ACCEPTED, DENIED, UNSUPPORTED = 0, 2, 3
ONLY_PLACE, ONLY_VELOCITY = 0b110111111000, 0b110111000111


class Drone:
    """The other side: pymavlink. Waits for messages, never for times."""

    def __init__(self, link: Any) -> None:
        self.link = link
        self.system = 0
        self.texts: list[str] = []
        self.mode = 0

    def wait(self, kind: str, fine: Callable[[Any], bool] = lambda _message: True) -> Any:
        deadline = time.monotonic() + 120  # only against a test that never ends
        while time.monotonic() < deadline:
            message = self.link.recv_match(blocking=True, timeout=1)
            if message is None:
                continue
            if message.get_type() == "STATUSTEXT":
                self.texts.append(message.text)
            if message.get_type() == "HEARTBEAT":
                self.mode = message.custom_mode
            if message.get_type() == kind and fine(message):
                return message
        raise AssertionError(f"no such {kind}")

    def command(self, number: int, *values: float) -> int:
        filled = [*values, *[0.0] * (7 - len(values))]
        self.link.mav.command_long_send(self.system, 1, number, 0, *filled)
        return int(self.wait("COMMAND_ACK", lambda m: m.command == number).result)

    def go(self, mask: int, place: tuple[float, ...], speed: tuple[float, ...] = (0, 0, 0)) -> None:
        self.link.mav.set_position_target_local_ned_send(
            0, self.system, 1, 1, mask, *place, *speed, 0, 0, 0, 0, 0
        )

    def enter_offboard(self, place: tuple[float, ...]) -> None:
        """PX4 accepts the mode within half a second after a set point."""

        def accepted() -> bool:
            self.go(ONLY_PLACE, place)
            return self.command(SET_MODE, 1, 6) == ACCEPTED

        wait_until(accepted, "OFFBOARD")
        self.mode = OFFBOARD

    def place(self) -> tuple[float, float, float]:
        at = self.wait("LOCAL_POSITION_NED")
        return at.x, at.y, at.z


def listen() -> tuple[Any, int]:
    link = mavutil.mavlink_connection("udpin:127.0.0.1:0", source_system=255)
    # Room for the telemetry of a minute, so that a stall of this program loses no reply.
    with suppress(OSError):  # only root exceeds the limit of the machine
        link.port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8_000_000)
    return link, link.port.getsockname()[1]


@pytest.fixture
def fly(hyphos_start: Start, tmp_path: Path) -> Iterator[Callable[[str, str], Drone]]:
    links = []

    def begin(physics: str, autopilot: str) -> Drone:
        if physics == "mujoco" and not MUJOCO.exists():
            pytest.skip("no MuJoCo adapter: run scripts/setup core cosim, make build")
        link, port = listen()
        links.append(link)
        text = SCENARIO.replace("PHYSICS", physics).replace("AUTOPILOT", autopilot)
        path = tmp_path / "drone.yaml"
        path.write_text(text.replace("PORT", str(port)))
        hyphos_start("cosim", "run", str(path))
        drone = Drone(link)
        beat = drone.wait("HEARTBEAT")
        assert beat.type == 2  # a quadrotor
        drone.system = beat.get_srcSystem()
        return drone

    yield begin
    for link in links:
        link.close()


def test_a_px4_takes_off_flies_offboard_and_lands(fly: Callable[[str, str], Drone]) -> None:
    drone = fly("mujoco", "px4")
    assert drone.system == 2
    assert drone.command(TAKE_OFF, 0, 0, 0, 0, 0, 0, 3) == DENIED
    assert "arm first" in drone.texts[-1]
    assert drone.command(ARM, 1) == ACCEPTED
    assert drone.command(TAKE_OFF, 0, 0, 0, 0, 0, 0, 3) == ACCEPTED
    drone.wait("EXTENDED_SYS_STATE", lambda m: m.landed_state == 2)
    drone.wait("LOCAL_POSITION_NED", lambda m: abs(m.z + 3) < 0.3 and abs(m.vz) < 0.1)
    assert drone.command(SET_MODE, 1, 6) == DENIED  # no set points yet
    drone.enter_offboard((4, 2, -4))
    beat = drone.wait("HEARTBEAT")
    assert beat.autopilot == 12
    assert beat.base_mode & 128
    for _ in range(1000):
        drone.go(ONLY_PLACE, (4, 2, -4))
        if math.dist(drone.place(), (4, 2, -4)) < 0.3:
            break
        if drone.mode != OFFBOARD:  # on a busy machine half a second may pass without a set point
            drone.enter_offboard((4, 2, -4))
    else:
        pytest.fail("it does not arrive")
    assert drone.command(ARM, 0) == DENIED  # in flight
    assert drone.command(LAND) == ACCEPTED
    drone.wait("EXTENDED_SYS_STATE", lambda m: m.landed_state == 1)
    drone.wait("HEARTBEAT", lambda m: not m.base_mode & 128)
    assert abs(drone.place()[2]) < 0.1


def test_an_ardupilot_follows_velocities_in_guided(fly: Callable[[str, str], Drone]) -> None:
    drone = fly("kinematic", "ardupilot")
    assert drone.command(ARM, 1) == ACCEPTED
    assert drone.command(TAKE_OFF, 0, 0, 0, 0, 0, 0, 3) == DENIED
    assert drone.command(SET_MODE, 1, 4) == ACCEPTED
    assert drone.command(TAKE_OFF, 0, 0, 0, 0, 0, 0, 3) == ACCEPTED
    drone.wait("LOCAL_POSITION_NED", lambda m: abs(m.z + 3) < 0.3)
    assert drone.command(INTERVAL, 32, 50_000) == ACCEPTED
    for _ in range(1000):
        drone.go(ONLY_VELOCITY, (0, 0, 0), (2, 0, 0))
        if drone.place()[0] > 3:
            break
    else:
        pytest.fail("it does not come forward")
    drone.wait("LOCAL_POSITION_NED", lambda m: abs(m.vx) < 0.05)  # stops without commands
    assert drone.command(INTERVAL, 9999, 0) == UNSUPPORTED
    fix = drone.wait("GLOBAL_POSITION_INT")
    assert abs(fix.relative_alt / 1000 - 3) < 0.5
    drone.link.mav.mission_request_list_send(drone.system, 1)
    assert drone.wait("MISSION_COUNT").count == 0


@need()
def test_an_emulation_serves_a_drone_in_real_time(tmp_path: Path) -> None:
    link, port = listen()
    path = tmp_path / "drone.yaml"
    path.write_text(REAL_TIME.replace("PORT", str(port)).replace("OWN", "0"))
    try:
        with Emulation(path, Ways(seconds=1000)) as running:
            running.begin()
            drone = Drone(link)
            drone.system = drone.wait("HEARTBEAT").get_srcSystem()
            assert drone.system == 2
            assert drone.command(ARM, 1) == ACCEPTED
            assert drone.command(TAKE_OFF, 0, 0, 0, 0, 0, 0, 3) == ACCEPTED
            drone.wait("LOCAL_POSITION_NED", lambda m: abs(m.z + 3) < 0.3)
            assert drone.command(ARM, 0) == DENIED  # in flight
            summary = running.end()
    finally:
        link.close()
    assert summary["valid"]
    assert summary["mavlink"]["motions"] > 50
    assert summary["mavlink"]["in_part"] == []
    assert summary["bodies"] is None


@need()
def test_an_emulation_names_a_port_that_another_program_has(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        own = taken.getsockname()[1]
        path = tmp_path / "drone.yaml"
        path.write_text(REAL_TIME.replace("PORT", "14550").replace("OWN", str(own)))
        with pytest.raises(Error):
            Emulation(path, Ways(seconds=1000)).up()
    assert f"cannot bind UDP port {own}" in capfd.readouterr().err
