"""`hyphos cosim emulate`: real programs over a simulated radio, in real time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import PATIENCE_S, OnTerminalStart, Start, wait_until
from hyphos import Error
from hyphos.cosim import emulation
from hyphos.cosim.emulate import INVALID
from hyphos.cosim.emulation import Emulation, Ways
from hyphos.lab import kernel
from lab_places import EAR, ECHO, begin, need, program, run, things_named

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "examples/cosim/emulate.yaml"
NS3 = TREE / "build/release/cosim/hyphos-cosim-ns3.so"
OWN = f"hyphos-lab-{os.getpid()}-"

# A lag that no machine reaches, so that runs are valid on every machine.
PATIENT = "realtime: {lag_p99_ms: 600000, lag_longest_ms: 600000}\n"
ROBOTS = """
robots:
  a: {at: [0, 0, 1]}
  b: {at: [10, 0, 1]}
  c: {at: [0, 10, 1]}
"""

# Prints the round trips of datagrams of the given size, in milliseconds. Lost and late replies are
# left out.
ASK = """
import itertools, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(2)
came = 0
for number in itertools.count():
    if came == int(sys.argv[2]):
        break
    sent = str(number).ljust(int(sys.argv[3])).encode()
    began = time.perf_counter()
    s.sendto(sent, (sys.argv[1], 7000))
    try:
        while s.recv(2000) != sent:
            pass
    except TimeoutError:
        continue
    print((time.perf_counter() - began) * 1e3)
    came += 1
    time.sleep(0.002)
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "cosim.yaml"
    path.write_text(PATIENT + ROBOTS)
    return path


def nothing_left(part: str = OWN) -> None:
    wait_until(lambda: not things_named(part), "the reaper to remove everything")


CHATTER = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("sending", flush=True)
while True:
    s.sendto(b"x", (sys.argv[1], 7000))
    time.sleep(0.01)
"""


def child_of(pid: int) -> int:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return int(text.split()[0])


def child_named(name: str, pid: int) -> int:
    """The first child of a process that runs this program. The kernel truncates the name."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(int(c) for c in children if Path(f"/proc/{c}/comm").read_text().strip() == name)


def radio_of(running: Emulation) -> subprocess.Popen[bytes]:
    assert running._radio is not None
    return running._radio


@need()
@pytest.mark.parametrize(
    "radio",
    [
        "analytic",
        pytest.param(
            "ns3", marks=pytest.mark.skipif(not NS3.exists(), reason="scripts/setup core cosim")
        ),
    ],
)
def test_a_datagram_takes_its_airtime_and_arrives_complete(radio: str, tmp_path: Path) -> None:
    scenario = tmp_path / "cosim.yaml"
    scenario.write_text(f"{PATIENT}{ROBOTS}radio: {{simulator: {radio}}}\n")
    with Emulation(scenario, Ways(seconds=1000)) as running:
        running.begin()
        echo = begin(running["b"].place, ECHO)
        out = run(running["a"].place, ASK, running["b"].address, "50", "1000")
        echo.kill()
        echo.communicate()
        summary = running.end()
    trips = [float(line) for line in out.splitlines()]
    # Per direction: 20 µs of preamble, and 1,000 + 64 bytes at 6 Mbit/s.
    assert min(trips) >= 2 * (0.020 + 1064 * 8 / 6e3)
    assert summary["packets"]["delivered"] >= 100
    assert summary["valid"]
    assert summary["radio"] == radio
    assert summary["kind"] == "real-time emulation"
    nothing_left()


@need()
def test_a_datagram_to_everyone_reaches_every_robot(scenario: Path) -> None:
    # Frames to everyone are not repeated: two colliding frames are lost.
    say = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(20):
    s.sendto(b"hello", ("239.255.72.89", 7002))
    time.sleep(0.05)
"""
    with Emulation(scenario, Ways(seconds=1000)) as running:
        running.begin()
        ears = [begin(running[name].place, EAR) for name in ("b", "c")]
        run(running["a"].place, say)
        assert [ear.communicate(timeout=PATIENCE_S)[0] for ear in ears] == ["hello\n"] * 2


@need()
def test_robots_are_connected_only_by_the_radio(scenario: Path) -> None:
    look = "import os; print(sorted(os.listdir('/dev/shm')), end='')"
    with Emulation(scenario) as running:
        run(running["a"].place, "open('/dev/shm/mine', 'w').close()")
        assert run(running["a"].place, look) == "['mine']"
        assert run(running["b"].place, look) == "[]"


@need()
def test_a_run_with_a_stopped_radio_is_invalid_with_a_reason(tmp_path: Path) -> None:
    scenario = tmp_path / "cosim.yaml"
    scenario.write_text(ROBOTS)
    with Emulation(scenario, Ways(seconds=1000)) as running:
        running.begin()
        wait_until(lambda: running.watch(1) is not None, "the clock to run")
        radio_of(running).send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        radio_of(running).send_signal(signal.SIGCONT)
        summary = running.end()
    assert not summary["valid"]
    assert summary["lag"]["longest_ms"] >= 250
    assert any("the longest lag of a window was" in why for why in summary["invalid_because"])


@need()
def test_an_invalid_run_has_its_own_exit_code_and_is_marked(
    hyphos_start: Start, tmp_path: Path
) -> None:
    scenario = tmp_path / "cosim.yaml"
    # A limit of a microsecond, which no wake-up meets.
    scenario.write_text("realtime: {lag_p99_ms: 0.001}\n" + ROBOTS)
    code, out, err = hyphos_start(
        "cosim", "emulate", str(scenario), "--for", "1",
        "--json", "run.json", "--trace", "trace.txt",
    ).end()  # fmt: skip
    assert code == INVALID, err
    assert out.splitlines()[0].endswith("INVALID")
    assert "the lag of 99 % of the windows was" in out
    found = json.loads((tmp_path / "run.json").read_text())
    assert found["kind"] == "real-time emulation"
    assert not found["valid"]
    assert found["windows"] == 1000
    assert (tmp_path / "trace.txt").read_text().startswith("# real-time emulation")


@need()
def test_a_command_on_a_robot_gets_addresses_and_sets_the_exit_code(
    hyphos_start: Start, scenario: Path
) -> None:
    say = "import socket, sys; print(socket.if_nameindex()[-1][1], sys.argv[1:]); sys.exit(7)"
    code, out, err = hyphos_start(
        "cosim", "emulate", str(scenario), "--on", "b", "--quiet",
        "--", sys.executable, "-c", say, "{c}", "to={a}:1",
    ).end()  # fmt: skip
    assert code == 7, err
    assert out.splitlines()[0] == "radio0 ['10.231.77.3', 'to=10.231.77.1:1']"
    assert "real time" in out.splitlines()[1]
    assert "ended      the command with code 7" in out


@need()
def test_scenario_programs_start_in_its_folder_and_report_their_end(
    hyphos_start: Start, tmp_path: Path
) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "team/word").write_text("word of b\n")
    path = tmp_path / "team/cosim.yaml"
    path.write_text(
        PATIENT + ROBOTS.replace("b: {", "b: {run: [cat, word], ")
        .replace("c: {", "c: {run: [sh, -c, 'echo bad >&2; exit 4'], ")
    )  # fmt: skip
    code, out, err = hyphos_start("cosim", "emulate", str(path), "--for", "1000").end()
    assert code == 1
    assert "b: word of b\n" in out
    assert "c: bad\n" in out
    assert "the program of c ended with code 4" in err
    assert "nsenter --net=/run/netns/hyphos-lab-" in err


@need()
def test_programs_running_at_the_end_are_ended_without_failure(
    hyphos_start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "cosim.yaml"
    path.write_text(PATIENT + ROBOTS.replace("b: {", "b: {run: [sleep, '1000'], "))
    code, out, err = hyphos_start("cosim", "emulate", str(path), "--for", "0.2").end()
    assert code == 0, err
    assert "ended" not in out


@need()
def test_hyphos_nodes_of_one_plan_communicate_over_the_radio(hyphos_start: Start) -> None:
    shown = hyphos_start("cosim", "emulate", str(EXAMPLE), "--for", "1000")
    while " beat " not in shown.line():
        pass
    shown.signal(signal.SIGINT)
    code, out, _ = shown.end()
    assert code in (130, INVALID)
    assert "real time" in out
    assert "delivered" in out
    nothing_left(f"hyphos-lab-{shown.popen.pid}-")


@need()
def test_ctrl_c_ends_a_valid_run_with_its_summary_and_130(
    hyphos_terminal: OnTerminalStart, scenario: Path
) -> None:
    shown = hyphos_terminal("cosim", "emulate", str(scenario), "--for", "1000")
    shown.read_until("s in real time")
    shown.type("\x03")
    shown.read_until("robots over the analytic radio: valid")
    assert shown.end() == 130
    nothing_left(f"hyphos-lab-{shown.popen.pid}-")


@need()
@pytest.mark.parametrize(
    ("number", "why"),
    [(signal.SIGKILL, "was killed by signal 9"), (signal.SIGSTOP, "did not reply for 5000 ms")],
)
def test_a_dead_or_hanging_simulator_ends_the_run_cleanly(
    hyphos_start: Start, scenario: Path, number: signal.Signals, why: str
) -> None:
    shown = hyphos_start(
        "cosim", "emulate", str(scenario), "--radio-process", "--for", "1000",
        "--", *program(CHATTER), "{b}",
    )  # fmt: skip
    assert shown.line() == "sending"
    simulator = child_of(child_named("hyphos-cosim-em", shown.popen.pid))
    os.kill(simulator, number)
    code, _, err = shown.end()
    assert code == 1
    assert f"the radio (process {simulator}) {why}" in err
    assert "the emulation ended with code 1" in err
    nothing_left(f"hyphos-lab-{shown.popen.pid}-")
    assert kernel.start_of(simulator) is None


@need()
def test_a_killed_emulation_is_reported_and_leaves_nothing(
    hyphos_start: Start, scenario: Path
) -> None:
    shown = hyphos_start(
        "cosim", "emulate", str(scenario), "--for", "1000", "--", *program(CHATTER), "{b}"
    )
    assert shown.line() == "sending"
    os.kill(child_named("hyphos-cosim-em", shown.popen.pid), signal.SIGKILL)
    code, _, err = shown.end()
    assert code == 1
    assert "the emulation was killed by signal 9" in err
    nothing_left(f"hyphos-lab-{shown.popen.pid}-")


@need()
def test_a_hanging_emulation_is_killed(monkeypatch: pytest.MonkeyPatch, scenario: Path) -> None:
    monkeypatch.setattr(emulation, "_GRACE_S", 0.5)
    with Emulation(scenario, Ways(seconds=1000)) as running:
        running.begin()
        radio = radio_of(running)
        radio.send_signal(signal.SIGSTOP)
        with pytest.raises(Error, match="did not end within"):
            running.end()
    assert radio.returncode == -signal.SIGKILL
    nothing_left()


@need()
def test_an_emulation_killed_at_any_instant_leaves_nothing() -> None:
    script = Path(__file__).parents[2] / "crash/cosim_kill.py"
    done = subprocess.run(
        [sys.executable, str(script), "6"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@need()
def test_garbage_from_a_robot_is_counted_and_harmless(scenario: Path) -> None:
    garbage = """
import random, socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("radio0", 0))
numbers = random.Random(1)
heads = {
    "group": bytes([1]) + bytes(5) + bytes([1]) + bytes(5),  # from a group address
    "nobody": bytes([2, 1, 1, 1, 1, 1]) + bytes([2, 72, 89, 0, 0, 1]),
    "all": bytes([255] * 6) + bytes([2, 72, 89, 0, 0, 1]),
}
for i in range(600):
    head = heads[["group", "nobody", "all"][i % 3]]
    s.send(head + numbers.randbytes(numbers.choice([2, 3, 20, 46, 1400])))
"""
    with Emulation(scenario, Ways(seconds=1000)) as running:
        running.begin()
        run(running["a"].place, garbage)
        echo = begin(running["b"].place, ECHO)
        run(running["a"].place, ASK, running["b"].address, "1", "10")
        echo.kill()
        echo.communicate()
        packets = running.end()["packets"]
    assert packets["malformed"] == 200
    assert packets["to_nobody"] == 200
    assert packets["packets"] >= 200
    assert packets["copies"] == (
        packets["delivered"] + sum(packets["dropped"].values()) + packets["in_flight"]
    )


@need()
def test_invalid_requests_are_refused_and_leave_nothing(
    hyphos_start: Start, scenario: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(ROBOTS + "realtime: {subnet: here}\n")
    tcp = tmp_path / "tcp.yaml"
    tcp.write_text(ROBOTS + "radio: {simulator: ns3, transport: tcp}\n")
    aodv = tmp_path / "aodv.yaml"
    aodv.write_text(ROBOTS + "routing: {protocol: aodv}\n")
    for words, why in (
        ([str(wrong)], "wrong.yaml:6:20: realtime.subnet: expected an IPv4 network"),
        ([str(tcp)], "real programs use the TCP of the kernel"),
        ([str(aodv)], "in real time use babel or table"),
        ([str(scenario), "--on", "d"], "unknown robot 'd'"),
        ([str(scenario), "--trace", "/nowhere/trace"], "/nowhere/trace"),
    ):
        shown = hyphos_start("cosim", "emulate", *words)
        code, _, err = shown.end()
        assert code == 1, err
        assert why in " ".join(err.split()), err
        assert things_named(f"hyphos-lab-{shown.popen.pid}-") == []


def test_missing_privileges_give_an_error_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, scenario: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Error, match="needs root") as caught:
        Emulation(scenario).up()
    assert "sudo" in caught.value.advice
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def refuse() -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(kernel, "try_namespaces", refuse)
    with pytest.raises(Error, match="cannot be created here") as caught:
        Emulation(scenario).up()
    assert "--privileged" in caught.value.advice
