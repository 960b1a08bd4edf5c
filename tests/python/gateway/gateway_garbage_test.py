"""Garbage at the ports of running gateways, while a valid client is served."""

from __future__ import annotations

import random
import re
import socket
import struct
import xmlrpc.client
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import seeds
from ros2_gateway import needs_ros2
from rosbridge_probe import needs_gateway
from worlds import Gateway, echoes, gateway, robot

pytestmark = needs_gateway

ROUNDS = 300
HANDSHAKE = dict(seeds.rosbridge_frames())["handshake"]


def spoiled(data: bytes, chance: random.Random) -> bytes:
    """The data with some bytes changed, removed, doubled or cut off."""
    made = bytearray(data)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(made) + 1)
        match chance.randrange(4):
            case 0:
                made[at:at] = chance.randbytes(chance.randrange(1, 9))
            case 1:
                del made[at : at + chance.randrange(1, 9)]
            case 2 if at < len(made):
                made[at] ^= 1 << chance.randrange(8)
            case _:
                made = made[:at] + made[at:] * chance.choice((0, 2))
    return bytes(made)


def http(body: bytes) -> bytes:
    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def ros_tcp_starts() -> list[bytes]:
    return [bytes(8) + data for _, data in seeds.ros_tcp()]


def rosbridge_starts() -> list[bytes]:
    frames = [data for _, data in seeds.rosbridge_frames()]
    for _, data in seeds.rosbridge_session():
        frames += [
            bytes([0x81, 0xFE]) + struct.pack("!H", len(line)) + bytes(4) + line
            for line in data.split(b"\0")
        ]
    return frames + [HANDSHAKE + frame for frame in frames]


def ros1_starts() -> list[bytes]:
    calls = [http(data[1:]) for name, data in seeds.ros1() if name.startswith("call_")]
    headers = [data[1:] for name, data in seeds.ros1() if name == "header"]
    return calls + [struct.pack("<I", len(data)) + data for data in headers]


STARTS: dict[str, Callable[[], list[bytes]]] = {
    "ros_tcp": ros_tcp_starts,
    "rosbridge": rosbridge_starts,
    "ros1": ros1_starts,
}


def ports_of(gate: Gateway) -> list[int]:
    if gate.kind != "ros1":
        return [int(gate.address.rpartition(":")[2])]
    with xmlrpc.client.ServerProxy(gate.address) as master:
        answer: Any = master.lookupNode("/test", "/hyphos")
    uri = answer[2]
    with xmlrpc.client.ServerProxy(uri) as node:
        answer = node.requestTopic("/test", "/beat", [["TCPROS"]])
    where = answer[2]
    return [int(re.search(r":(\d+)", url)[1]) for url in (gate.address, uri)] + [where[2]]  # type: ignore[index]


def send(port: int, data: bytes, *, reads: bool) -> None:
    with socket.create_connection(("127.0.0.1", port), 60) as client, suppress(OSError):
        client.sendall(data)
        if reads:
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass


def udp_ports(pid: int) -> Iterator[int]:
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in the meantime
            if match := re.match(r"socket:\[(\d+)\]", str(link.readlink())):
                inodes.add(match[1])
    for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
        words = line.split()
        if words[9] in inodes:
            yield int(words[1].split(":")[1], 16)


@pytest.mark.parametrize("kind", sorted(STARTS))
def test_garbage_disturbs_no_client_and_leaves_nothing(kind: str) -> None:
    chance = random.Random(20)
    starts = STARTS[kind]()
    with (
        robot(["good"]) as domain,
        gateway(kind, domain) as gate,
        echoes([(gate, "good")], 100) as (good,),
    ):
        ports = ports_of(gate)
        before = gate.census()
        for _ in range(ROUNDS):
            data = spoiled(chance.choice(starts), chance)
            send(chance.choice(ports), data, reads=chance.random() < 0.5)
            good.check()
        gate.settle(before)
        good.process.wait_lines(len(good.process.lines) + 2)


@needs_ros2
def test_garbage_among_dds_packets_disturbs_no_program() -> None:
    chance = random.Random(20)
    with (
        robot(["good"]) as domain,
        gateway("ros2", domain) as gate,
        echoes([(gate, "good")], 100) as (good,),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        ports = list(udp_ports(gate.process.popen.pid))
        assert ports
        for _ in range(ROUNDS):
            packet = b"RTPS\2\3\1\x0f" + chance.randbytes(chance.randrange(200))
            sender.sendto(packet, ("127.0.0.1", chance.choice(ports)))
            good.check()
        good.process.wait_lines(len(good.process.lines) + 2)
