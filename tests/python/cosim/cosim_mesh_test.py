"""Layer 2, routes, routing daemons and probes of `hyphos cosim emulate`."""

from __future__ import annotations

import json
import shutil
import subprocess
from array import array
from pathlib import Path

import pytest
from helpers import PATIENCE_S, Start, wait_until
from hyphos import Error
from hyphos.cosim.emulate import INVALID
from hyphos.cosim.emulation import Described, Emulation, Ways
from hyphos.cosim.mesh import Routing, daemon_settings, need_daemon
from hyphos.cosim.probes import Track, report
from hyphos.lab.links import Host
from lab_places import COUNT, begin, need, program, run, things_named

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/cosim"

# A lag that no machine reaches, so that runs are valid on every machine.
PATIENT = "lag_p99_ms: 600000, lag_longest_ms: 600000"
# Each robot reaches its neighbours in the chain only.
CHAIN = """
robots:
  a: {at: [0, 0, 1]}
  b: {at: [100, 0, 1]}
  c: {at: [200, 0, 1]}
"""
# a reaches d over b, or over c.
DIAMOND = """
robots:
  a: {at: [0, 0, 0.5]}
  b: {at: [90, 60, 0.5], off_s: [OFF]}
  c: {at: [90, -60, 0.5]}
  d: {at: [180, 0, 0.5]}
"""
TABLE = "routing: {protocol: table, routes: {a: {c: b}, c: {default: b}}}\n"

needs_babeld = pytest.mark.skipif(shutil.which("babeld") is None, reason="apt install babeld")

ECHO6 = """
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("::", 7000))
print("up", flush=True)
while True:
    data, who = s.recvfrom(65536)
    s.sendto(data, who)
"""
# Repeats a request until the reply comes, and prints its sender.
ASK6 = """
import socket, sys
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.settimeout(0.5)
where = socket.getaddrinfo(sys.argv[1], 7000, socket.AF_INET6, socket.SOCK_DGRAM)[0][4]
while True:
    try:
        s.sendto(b"x", where)
        print(s.recvfrom(10)[1][0])
        break
    except OSError:
        pass
"""
# The same for IPv4.
ASK4 = ASK6.replace("AF_INET6", "AF_INET")
LINK_LOCAL = """
from pathlib import Path
for line in Path("/proc/net/if_inet6").read_text().splitlines():
    fields = line.split()
    if fields[5] == "radio0":
        print(fields[0], fields[3])
"""
EAR6 = """
import socket, struct
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("", 7003))
index = socket.if_nametoindex("radio0")
group = socket.inet_pton(socket.AF_INET6, "ff02::7265") + struct.pack("@I", index)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
print("up", flush=True)
print(s.recv(100).decode())
"""
SAY6 = """
import socket, time
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
index = socket.if_nametoindex("radio0")
for i in range(20):
    s.sendto(b"hello", ("ff02::7265", 7003, 0, index))
    time.sleep(0.05)
"""


def write(folder: Path, robots: str, more: str = "", realtime: str = "") -> Path:
    path = folder / "cosim.yaml"
    path.write_text(f"{robots}{more}realtime: {{{PATIENT}{realtime}}}\n")
    return path


def output(host: Host, *words: str) -> str:
    done = host.start(list(words), stdout=subprocess.PIPE, text=True)
    text: str = done.communicate(timeout=PATIENCE_S)[0]
    assert done.returncode == 0, text
    return text


def end(*programs: subprocess.Popen[str]) -> None:
    for one in programs:
        one.kill()
        one.communicate()


@need()
def test_robots_have_fixed_mac_addresses_and_find_each_other_by_arp(tmp_path: Path) -> None:
    with Emulation(write(tmp_path, CHAIN), Ways(seconds=1000)) as running:
        running.begin()
        macs = {name: output(host, "ip", "link", "show", "radio0") for name, host in
                running.hosts.items()}  # fmt: skip
        assert "link/ether 02:48:59:00:00:01" in macs["a"]
        assert "link/ether 02:48:59:00:00:03" in macs["c"]
        assert "NOARP" not in macs["a"]
        echo = begin(running["b"].place, ECHO6.replace("AF_INET6", "AF_INET").replace("::", ""))
        assert run(running["a"].place, ASK4, running["b"].address).strip() == running["b"].address
        assert "02:48:59:00:00:02" in output(running["a"], "ip", "neigh", "show", "10.231.77.2")
        end(echo)


@need()
def test_ipv6_works_with_link_local_and_global_addresses_and_groups(tmp_path: Path) -> None:
    with Emulation(write(tmp_path, CHAIN), Ways(seconds=1000)) as running:
        running.begin()
        addresses = run(running["b"].place, LINK_LOCAL)
        assert "fd484859" not in addresses
        assert "fd485900007700000000000000000002 00" in addresses
        assert "fe80000000000000004859fffe000002 20" in addresses
        echo = begin(running["b"].place, ECHO6)
        ear = begin(running["b"].place, EAR6)
        for to in ("fd48:5900:77::2", "fe80::48:59ff:fe00:2%radio0"):
            said = run(running["a"].place, ASK6, to).strip()
            assert said.partition("%")[0] == to.partition("%")[0]
        run(running["a"].place, SAY6)
        assert ear.communicate(timeout=PATIENCE_S)[0] == "hello\n"
        end(echo)


@need()
def test_ipv6_can_be_left_out_and_the_mtu_lowered(tmp_path: Path) -> None:
    scenario = write(tmp_path, CHAIN, realtime=", subnet6: none, mtu: 600")
    with Emulation(scenario, Ways(seconds=1000)) as running:
        running.begin()
        assert run(running["b"].place, LINK_LOCAL) == ""
        assert "mtu 600" in output(running["b"], "ip", "link", "show", "radio0")


@need()
def test_packets_take_fixed_routes_over_a_relay(tmp_path: Path) -> None:
    with Emulation(write(tmp_path, CHAIN, TABLE), Ways(seconds=1000)) as running:
        running.begin()
        echoes = [begin(running["c"].place, ECHO6),
                  begin(running["c"].place, ECHO6.replace("AF_INET6", "AF_INET")
                        .replace("::", "").replace("7000", "7001"))]  # fmt: skip
        ask = ASK4.replace("7000", "7001")
        assert run(running["a"].place, ask, running["c"].address).strip() == running["c"].address
        assert run(running["a"].place, ASK6, "fd48:5900:77::3").strip() == "fd48:5900:77::3"
        end(*echoes)
        packets = running.end()["packets"]
    assert packets["copies"] == (
        packets["delivered"] + sum(packets["dropped"].values()) + packets["in_flight"]
    )


@need()
def test_a_route_added_by_hand_works_if_the_relay_forwards(tmp_path: Path) -> None:
    with Emulation(write(tmp_path, CHAIN), Ways(seconds=1000)) as running:
        running.begin()
        forward = "open('/proc/sys/net/ipv4/ip_forward', 'w').write('1')"
        run(running["b"].place, forward)
        for name, to in (("a", "c"), ("c", "a")):
            output(running[name], "ip", "route", "add", f"{running[to].address}/32", "via",
                   running["b"].address)  # fmt: skip
        echo = begin(running["c"].place, ECHO6.replace("AF_INET6", "AF_INET").replace("::", ""))
        assert run(running["a"].place, ASK4, running["c"].address).strip() == running["c"].address
        end(echo)


@need()
def test_a_removed_device_is_named_and_nothing_is_left(hyphos_start: Start, tmp_path: Path) -> None:
    robots = CHAIN.replace("[100, 0, 1]", "[100, 0, 1], run: [ip, link, del, radio0]")
    shown = hyphos_start("cosim", "emulate", str(write(tmp_path, robots)), "--for", "1000")
    code, _, err = shown.end()
    assert code == 1
    assert "the device 'radio0' of robot 'b' has disappeared" in " ".join(err.split())
    assert things_named(f"hyphos-lab-{shown.popen.pid}-") == []


@need()
def test_a_full_radio_holds_frames_back_and_the_device_counts_its_drops(tmp_path: Path) -> None:
    # The radio is full when it has read more packets than it holds, and others wait. Before that,
    # packets would be lost if the radio, and not its channel, were too slow for a moment.
    flood = """
import socket, sys, time
from pathlib import Path
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def counter(column):
    return int(Path("/proc/net/dev").read_text().partition("radio0:")[2].split()[column])
def read():
    return counter(9) - before
def dropped():
    return counter(11)
before, sent = counter(9), 0
def is_full():
    global sent
    while sent - read() < 400:
        s.sendto(b"x" * 1000, (sys.argv[1], 7000))
        sent += 1
    first = read()
    while read() < first + 200 and sent > read():
        time.sleep(0.001)
    return sent - read() > 50
while not is_full():
    pass
while not dropped():
    for i in range(1000):
        s.sendto(b"x" * 1000, (sys.argv[1], 7000))
print(dropped())
"""
    scenario = write(tmp_path, CHAIN, "radio: {rate_mbit: 6}\n", ", hold_senders: false")
    with Emulation(scenario, Ways(seconds=1000)) as running:
        running.begin()
        echo = begin(running["b"].place, ECHO6.replace("AF_INET6", "AF_INET").replace("::", ""))
        run(running["a"].place, ASK4, running["b"].address)  # the address is known from now on
        shown = int(run(running["a"].place, flood, running["b"].address))
        end(echo)
        summary = running.end()
    assert summary["packets"]["device_full"] >= shown
    assert "queue_full" not in summary["packets"]["dropped"]
    assert summary["overrun"] == 0
    assert summary["valid"]


@need()
def test_a_sender_over_udp_is_blocked_until_the_radio_has_room(tmp_path: Path) -> None:
    pour = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1500):
    s.sendto(b"x" * 1000, (sys.argv[1], 7000))
for i in range(50):
    s.sendto(b"end", (sys.argv[1], 7000))
"""
    with Emulation(write(tmp_path, CHAIN), Ways(seconds=1000)) as running:
        running.begin()
        count = begin(running["b"].place, COUNT)
        # The kernel keeps few packets while it does not know a MAC address.
        output(running["a"], "ip", "neigh", "replace", running["b"].address, "lladdr",
               "02:48:59:00:00:02", "dev", "radio0")  # fmt: skip
        run(running["a"].place, pour, running["b"].address)
        assert int(count.communicate(timeout=PATIENCE_S)[0]) == 1500
        packets = running.end()["packets"]
    assert packets["device_full"] == 0
    assert "queue_full" not in packets["dropped"]


@need()
@needs_babeld
def test_a_daemon_finds_the_way_and_heals_it(hyphos_start: Start, tmp_path: Path) -> None:
    scenario = write(
        tmp_path, "duration_s: 14\n" + DIAMOND.replace("OFF", "8"),
        "routing: {protocol: babel, hello_s: 0.2}\n", ", probes: [[a, d], [b, d]], probe_ms: 50",
    )  # fmt: skip
    code, out, err = hyphos_start(
        "cosim", "emulate", str(scenario), "--json", "run.json", "--quiet"
    ).end()
    assert code in (0, INVALID), err
    found = json.loads((tmp_path / "run.json").read_text())
    assert found["routing"] == "babel"
    assert found["daemons"] == dict.fromkeys("abcd")
    probe = found["probes"][0]
    assert (probe["from"], probe["to"]) == ("a", "d")
    assert probe["answered"] > 20
    healing = probe["healing"][0]
    assert (healing["robot"], healing["off_s"]) == ("b", 8.0)
    assert 0 < healing["after_ms"] < 6000
    assert found["probes"][1]["healing"] == []  # b itself is off
    assert "heal       b went off at 8.000 s: a → d answers" in out
    assert found["packets"]["dropped"]["node_off"] > 0


# Kills the daemon of robot b, and waits for its end.
KILLER = """
import os, pathlib
own = f"hyphos-lab-{os.getppid()}-".encode()
def words(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
def daemons():
    return [p for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()
            and words(p).startswith(b"babeld") and own in words(p)
            and b"/b/settings" in words(p)]
def has_ended(process):
    try:  # not before its parent can see it
        return (process / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
while not (found := daemons()):
    pass
os.kill(int(found[0].name), 9)
while not has_ended(found[0]):
    pass
"""


@need()
@needs_babeld
def test_a_daemon_that_dies_is_named_and_nothing_is_left(
    hyphos_start: Start, tmp_path: Path
) -> None:
    scenario = write(tmp_path, CHAIN, "routing: {protocol: babel}\n")
    shown = hyphos_start("cosim", "emulate", str(scenario), "--for", "1000", "--", *program(KILLER))
    code, out, err = shown.end()
    assert "the routing daemon of b (babeld) was killed by signal 9" in " ".join(err.split())
    assert "the routing daemon of b, killed by signal 9" in out
    assert code in (1, INVALID)
    wait_until(lambda: not things_named(f"hyphos-lab-{shown.popen.pid}-"), "the clean-up")


def test_a_missing_daemon_is_an_error_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    need_daemon(Routing("table"))
    with pytest.raises(Error, match="`babeld` is missing") as caught:
        need_daemon(Routing("babel"))
    assert caught.value.advice == "apt install babeld"


def test_the_settings_of_a_daemon_have_its_interval_and_its_own_files() -> None:
    text = daemon_settings("radio0", 0.5, Path("/tmp/x"))
    assert "interface radio0 type wireless hello-interval 0.50 update-interval 2.00" in text
    assert "pid-file /tmp/x/pid" in text


def test_the_example_heals_in_lock_step_after_both_outages(
    hyphos_start: Start, tmp_path: Path
) -> None:
    code, out, err = hyphos_start(
        "cosim", "run", str(EXAMPLES / "aodv.yaml"), "--json", "run.json"
    ).end()
    assert code == 0, err
    assert "searches found a route" in out
    found = json.loads((tmp_path / "run.json").read_text())
    assert found["routing"]["protocol"] == "aodv"
    robots = {robot["name"]: robot for robot in found["routing"]["robots"]}
    assert robots["north"]["relayed"] + robots["south"]["relayed"] > 800
    healing = [(h["robot"], h["flow"]) for h in found["healing"]]
    assert healing == [("north", "state"), ("north", "rtt"), ("south", "state"), ("south", "rtt")]
    assert all(0 < h["after_ms"] < 3000 for h in found["healing"])


def test_the_examples_describe_one_mesh() -> None:
    described = Described.of(EXAMPLES / "mesh.yaml")
    assert described.routing.protocol == "babel"
    assert described.probes == (("base", "scout"),)
    assert [robot.off_s for robot in described.robots] == [(), (20.0, 40.0), (45.0,), ()]


def _track(replies: list[int | None], every_ms: int = 100) -> Track:
    """Datagrams that were answered after some milliseconds, or not."""
    track = Track("a", "d")
    track.sent_ns = array("q", [i * every_ms * 1_000_000 for i in range(len(replies))])
    track.replied_ns = array(
        "q",
        [
            0 if r is None else s + r * 1_000_000
            for s, r in zip(track.sent_ns, replies, strict=True)
        ],
    )
    return track


def test_a_probe_reports_outages_and_the_time_until_they_heal() -> None:
    track = _track([2] * 10 + [None] * 12 + [4] * 20)
    found = report(track, 0, 5.2, {"b": [0.95], "a": [0.1], "c": [4.9]})
    assert (found["sent"], found["answered"]) == (42, 30)
    assert (found["p50_ms"], found["p99_ms"], found["longest_ms"]) == (4.0, 4.0, 4.0)
    assert found["outages"] == [{"begin_s": 1.0, "lasts_s": 1.204, "lost": 12}]
    # Robot a is an end of the probe, and no datagram was sent after 4.9 s.
    assert found["healing"] == [{"robot": "b", "off_s": 0.95, "lost": 12, "after_ms": 1254.0}]


def test_a_probe_that_is_never_answered_again_says_so() -> None:
    found = report(_track([2] * 5 + [None] * 30), 0, 10, {"b": [0.5, 1.0, 2.0]})
    assert found["outages"] == [{"begin_s": 0.5, "lasts_s": None, "lost": 30}]
    assert [h["after_ms"] for h in found["healing"]] == [None, None]
    silent = report(_track([None] * 5), 0, 10, {})
    assert (silent["answered"], silent["p50_ms"]) == (0, None)
    assert report(Track("a", "d"), 0, 10, {"b": [1]})["healing"] == []
    # Two lost datagrams are no outage, and the last second is left out.
    few = report(_track([2] * 5 + [None] * 2 + [2] * 5 + [None] * 9), 0, 2.0, {})
    assert few["outages"] == []
