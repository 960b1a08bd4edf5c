"""Networks of namespaces: their effect on packets, and their complete removal."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from helpers import PATIENCE_S, wait_until
from hyphos import Error
from hyphos.lab import kernel
from hyphos.lab.links import Link, Network
from hyphos.lab.media import Tun, Veth, Wifi, link_program, medium_of
from lab_places import (
    ASK,
    COUNT,
    EAR,
    ECHO,
    begin,
    need,
    processes_with,
    program,
    run,
    things_named,
)

OWN = f"hyphos-lab-{os.getpid()}-"


def round_trips_ms(link: Network, count: int = 60) -> list[float]:
    echo = begin(link["b"].place, ECHO)
    out = run(link["a"].place, ASK, link["b"].address, str(count))
    echo.kill()
    echo.communicate()
    return [float(line) for line in out.splitlines()]


def flood(link: Network, count: int, size: int) -> tuple[int, int]:
    """Sends `count` datagrams, and then end marks until the receiver has one. Returns the number of
    datagrams that arrived before it, and the number of end marks sent."""
    receiver = begin(link["b"].place, COUNT)
    send = f"""
import select, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range({count}):
    s.sendto(bytes({size}), (sys.argv[1], 7000))
    if i % 20 == 0: time.sleep(0.001)
time.sleep(0.3)
ends = 0
while not select.select([sys.stdin], [], [], 0.02)[0]:
    s.sendto(b"end", (sys.argv[1], 7000))
    ends += 1
print(ends)
"""
    words, pipe = [*program(send), link["b"].address], subprocess.PIPE
    sender = link["a"].place.start(words, stdin=pipe, stdout=pipe, text=True)
    received = int(receiver.communicate(timeout=PATIENCE_S)[0])
    ends = int(sender.communicate(timeout=PATIENCE_S)[0])
    assert sender.returncode == 0
    return received, ends


def settled(link: Network) -> dict[str, Any]:
    """The counters, once each packet of `a` is delivered or dropped."""

    def whole() -> bool:
        one = link.counters()["hosts"]["a"]
        return bool(one["packets"] == one["delivered"] + sum(one["drops"].values()))

    wait_until(whole, "every packet to be delivered or dropped")
    return link.counters()


def goodput_mbit(link: Network, megabytes: float) -> float:
    """The rate of one TCP connection, from its start to its last byte at the receiver."""
    take = """
import socket, time
listening = socket.create_server(("0.0.0.0", 7001))
print("up", flush=True)
s, _ = listening.accept()
while s.recv(65536): pass
print(time.monotonic())
"""
    give = f"""
import socket, sys, time
print(time.monotonic())
s = socket.create_connection((sys.argv[1], 7001))
s.sendall(bytes({round(megabytes * 1e6)}))
"""
    receiver = begin(link["b"].place, take)
    began = float(run(link["a"].place, give, link["b"].address))
    return megabytes * 8 / (float(receiver.communicate(timeout=PATIENCE_S)[0]) - began)


def goodputs_mbit(link: Network, long: float, short: float) -> tuple[float, float]:
    """The rates of a transfer of `long` megabytes, and of the fastest of `short` ones. A stalled
    processor sends nothing, so only short transfers show the capacity of a link."""
    of_long = goodput_mbit(link, long)
    return of_long, max(goodput_mbit(link, short) for _ in range(10))


@need()
def test_a_delay_of_5_ms_gives_a_round_trip_of_10_ms() -> None:
    with Link(Tun(delay_ms=5)) as link:
        trips = round_trips_ms(link, 300)
    assert 10.0 <= min(trips) < 12.0  # the fastest, as the machine may stall others


@need()
def test_jitter_spreads_the_delay_within_its_bounds() -> None:
    with Link(Tun(delay_ms=6, jitter_ms=4)) as link:
        trips = round_trips_ms(link)
    assert min(trips) >= 4.0
    assert statistics.pstdev(trips) > 1.0  # 3.3 for the sum of two uniform ones


@need()
@pytest.mark.parametrize("medium", [Tun(rate_mbit=20), Veth(rate_mbit=20)], ids=["tun", "veth"])
def test_a_tcp_transfer_keeps_to_the_rate(medium: Tun | Veth) -> None:
    with Link(medium) as link:
        long, short = goodputs_mbit(link, 4, 0.4)
    # In a full segment 1448 of 1500 bytes belong to the program. tbf also lets a burst pass.
    assert long <= 20 * 1.01
    assert 20 * 0.8 < short <= 20 * 1.1


@need()
def test_lost_packets_are_counted() -> None:
    with Link(Tun(loss=0.1)) as link:
        # The queue of the device has room for all of them, and for the end marks of three seconds.
        received, sent_ends = flood(link, 1800, 200)
        counters = settled(link)
    one = counters["hosts"]["a"]
    assert one["device_overrun"] == 0
    assert one["packets"] == one["delivered"] + sum(one["drops"].values())
    # Within six standard deviations.
    assert abs(one["drops"]["loss"] - 0.1 * (1800 + sent_ends)) < 85
    ends = one["delivered"] - received
    assert 1 <= ends <= sent_ends
    assert counters["inside"] == 0


@need()
def test_a_full_queue_drops_and_counts() -> None:
    with Link(Tun(rate_mbit=1, queue_packets=10)) as link:
        received, _ = flood(link, 400, 1000)
        one = settled(link)["hosts"]["a"]
    assert one["drops"]["queue"] > 100
    assert received < 400
    assert one["packets"] == one["delivered"] + sum(one["drops"].values())


@need()
def test_packets_dropped_by_the_kernel_are_counted() -> None:
    send = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(4000):
    s.sendto(b"x", (sys.argv[1], 7000))
"""
    with Link(Tun()) as link:
        assert link._program is not None
        link._program.send_signal(signal.SIGSTOP)
        run(link["a"].place, send, link["b"].address)
        link._program.send_signal(signal.SIGCONT)

        def counted() -> int:
            one = link.counters()["hosts"]["a"]
            return int(one["packets"] + one["device_overrun"])

        wait_until(lambda: counted() >= 4000, "every packet to be read or counted as lost")
        one = link.counters()["hosts"]["a"]
    assert one["device_overrun"] > 1000
    assert one["packets"] + one["device_overrun"] == 4000


@need()
def test_wifi_is_half_duplex_with_about_half_of_its_rate() -> None:
    with Link(Wifi(rate_mbit=12)) as link:
        long, short = goodputs_mbit(link, 2, 0.3)
        hosts = link.counters()["hosts"]
    # TCP's acknowledgements use the same channel.
    assert 4 < short < 10
    assert long < 10
    assert hosts["a"]["attempts"] > 1000
    assert hosts["b"]["attempts"] > 100
    assert hosts["a"]["collisions"] + hosts["b"]["collisions"] > 0


@need()
@pytest.mark.parametrize("medium", [Tun(delay_ms=1), Veth()], ids=["tun", "veth"])
def test_a_multicast_packet_reaches_all_hosts_of_a_star(medium: Tun | Veth) -> None:
    say = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"hello", ("239.255.72.89", 7002))
"""
    with Network(medium, ["base", "one", "two"]) as net:
        ears = [begin(net[name].place, EAR) for name in ("one", "two")]
        run(net["base"].place, say)
        assert [ear.communicate(timeout=PATIENCE_S)[0] for ear in ears] == ["hello\n"] * 2
        if isinstance(medium, Tun):
            assert net.counters()["hosts"]["base"]["delivered"] >= 2


@need()
def test_each_cable_of_a_star_has_its_own_rate() -> None:
    """Three hosts send to three others at once. A shared cable would give each a third."""
    send = """
import socket, sys, time
print(time.monotonic(), flush=True)
s = socket.create_connection((sys.argv[1], 7001))
s.sendall(bytes(1_000_000))
s.shutdown(socket.SHUT_WR)
s.recv(1)
"""
    take = """
import socket, time
listening = socket.create_server(("0.0.0.0", 7001))
print("up", flush=True)
s, _ = listening.accept()
while s.recv(65536): pass
print(time.monotonic())
"""
    with Network(Veth(rate_mbit=20), list("abcdef")) as net:

        def took_s() -> list[float]:
            ears = [begin(net[name].place, take) for name in "def"]
            mouths = [
                net[near].place.start(
                    [*program(send), net[far].address], stdout=subprocess.PIPE, text=True
                )
                for near, far in zip("abc", "def", strict=True)
            ]
            ended = [float(ear.communicate(timeout=PATIENCE_S)[0]) for ear in ears]
            began = [float(mouth.communicate(timeout=PATIENCE_S)[0]) for mouth in mouths]
            return [end - begin for begin, end in zip(began, ended, strict=True)]

        # 0.4 s for each alone, 1.2 s if they shared one cable.
        rounds = [took_s() for _ in range(5)]
        assert min(map(min, rounds)) >= 0.4 * 0.9
        assert min(map(max, rounds)) < 0.8  # the fastest, as the machine may stall others
        assert len(things_named(OWN)) == 7  # six hosts and the switch
    assert things_named(OWN) == []


@need()
@pytest.mark.parametrize("medium", [Veth(), Tun(), Wifi()], ids=["veth", "tun", "wifi"])
def test_a_link_leaves_nothing_behind(medium: Tun | Veth | Wifi) -> None:
    with Link(medium) as link:
        assert len(things_named(OWN)) == 2
        left_running = begin(link["b"].place, ECHO)
    assert things_named(OWN) == []
    assert left_running.wait(PATIENCE_S) == -signal.SIGTERM
    left_running.communicate()


@need()
def test_the_first_ip_netns_add_hides_no_network() -> None:
    script = """
import subprocess
from pathlib import Path
from hyphos.lab import kernel
from hyphos.lab.links import Link
from hyphos.lab.media import Veth

kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
kernel.mount("none", "/run", "tmpfs")
with Link(Veth()) as link:
    subprocess.run(["ip", "netns", "add", "other"], check=True)
    print(sorted(path.name[-2:] for path in Path("/run/netns").iterdir()))
with Link(Veth()):
    pass
print([path.name for path in Path("/run/netns").iterdir()])
"""
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['-a', '-b', 'er']\n['other']\n", done.stderr


@need()
def test_a_failed_set_up_leaves_nothing() -> None:
    with pytest.raises(Error, match="--loss") as caught:
        Link(Tun(loss=7)).up()
    assert caught.value.where == "hyphos-link"
    assert things_named(OWN) == []


TOOL = """
import sys, time
from hyphos.lab.links import Link
from hyphos.lab.media import Tun
from hyphos.lab.limits import Limits
link, limits = Link(Tun()).up(), Limits(cores=1, shm_mb=1).up()
link["a"].start(["sleep", "1000"], limits.place)
# A daemon that tries to escape into its own session.
link["b"].start(["setsid", "-f", "sleep", "1000"]).wait()
print("up", flush=True)
time.sleep(1000)
"""


@need()
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_program_ended_by_a_signal_leaves_nothing(number: signal.Signals) -> None:
    mark = f"HYPHOS_TEST_MARK={os.getpid()}-{number}-"
    name, _, value = mark.partition("=")
    tool = subprocess.Popen(
        [sys.executable, "-c", TOOL], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, name: value},
    )  # fmt: skip
    assert tool.stdout is not None
    assert tool.stdout.readline() == "up\n"
    part = f"hyphos-lab-{tool.pid}-"
    assert len(things_named(part)) == 4
    # The environment of a process that is just executing a program is not readable.
    wait_until(lambda: len(list(processes_with(mark))) >= 4, "its processes")
    while tool.poll() is None:  # Python may see SIGINT only after the sleep that it precedes
        tool.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            tool.wait(5)
    tool.stdout.close()
    wait_until(lambda: not things_named(part), "the reaper to remove everything")
    wait_until(lambda: not list(processes_with(mark)), "all processes to end")


@need()
def test_a_program_killed_at_any_instant_leaves_nothing() -> None:
    script = Path(__file__).parents[2] / "crash/lab_kill.py"
    done = subprocess.run(
        [sys.executable, str(script), "6"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@need()
def test_hyphos_link_ends_with_its_parent() -> None:
    with Link(Veth()) as link:  # for its namespaces
        words = [link_program(), "--device", "other0"]
        for host in link.hosts.values():
            words += ["--host", f"{host.namespace}={host.address}/24"]
        start = f"import subprocess, time; subprocess.Popen({words!r}); time.sleep(1000)"
        parent = subprocess.Popen(program(start), stdout=subprocess.PIPE, text=True)
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        parent.kill()
        # Its last output and the end of the pipe show that it has ended.
        assert '"inside":0' in parent.communicate(timeout=PATIENCE_S)[0]


@need()
def test_a_network_reports_the_end_of_its_program() -> None:
    with Link(Tun()) as link:
        assert link._program is not None
        link._program.kill()
        link._program.wait()
        with pytest.raises(Error, match="exit code -9"):
            link.counters()


@need()
def test_a_missing_program_is_named() -> None:
    with Link(Veth()) as link:
        done = link["a"].start(["no-such-program"], stderr=subprocess.PIPE, text=True)
        said = done.communicate(timeout=PATIENCE_S)[1]
    assert done.returncode == 127
    assert said == "hyphos lab: no-such-program: No such file or directory\n"


def test_an_impossible_network_is_refused_before_set_up() -> None:
    for medium, hosts, why in (
        (Veth(), [f"h{number}" for number in range(65)], "at most 64 hosts"),
        (Tun(), ["a"], "two or more hosts"),
        (Tun(), ["a", "a"], "hosts with different names"),
        (Tun(), ["a", "../b"], "not a valid host name"),
    ):
        with pytest.raises(Error, match=why):
            Network(medium, hosts)
    with pytest.raises(Error, match="too few addresses"):
        Network(Tun(), ["a", "b", "c"], subnet="10.0.0.0/30")


def test_a_medium_is_made_from_the_keys_of_a_file() -> None:
    assert medium_of("tun", {"delay_ms": 5}) == Tun(delay_ms=5)
    with pytest.raises(Error, match="did you mean 'delay_ms'") as caught:
        medium_of("tun", {"dealy_ms": 5}, "lab.yaml:3")
    assert caught.value.where == "lab.yaml:3"
    with pytest.raises(Error, match="veth, tun, wifi"):
        medium_of("lan", {})


def test_a_missing_requirement_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Error, match="needs root") as caught:
        Link(Tun()).up()
    assert "sudo" in caught.value.advice
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(kernel, "try_namespaces", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(Error, match="`ip` is missing") as caught:
        Link(Veth()).up()
    assert "iproute2" in caught.value.advice
