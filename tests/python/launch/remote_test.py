"""`hyphos run` on other machines. A script named ssh replaces the real program. The last test uses
the real one where an sshd exists.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from claims import own_port
from helpers import Cli, Program, Start, alive, wait_until, write_program
from launched import NODES, RESTART, children_of, pid_of, runs, until_line
from launched import Robot as LocalRobot

# Accepts the arguments of ssh, and runs the remote words in a shell here.
SSH = """#!/bin/sh
while [ "$1" != "--" ]; do shift; done
[ "$2" = "nobody@far" ] && { echo "nobody@far: Permission denied (publickey)." >&2; exit 255; }
exec sh -c "$3"
"""


class Robot(LocalRobot):
    """A plan of two hosts. ssh reaches the host `far`, which has a separate folder."""

    def __init__(self, folder: Path, domain: str) -> None:
        super().__init__(folder, domain)
        self.there = folder / "there"
        self.there.mkdir()
        (self.there / "nodes.py").write_text(NODES)
        self.hyphos = write_program(
            folder / "hyphos", f'#!/bin/sh\nexec {sys.executable} -m hyphos "$@"\n'
        )

    def two_hosts(
        self, near: dict[str, tuple[str, str]], far: dict[str, tuple[str, str]], **host: str
    ) -> str:
        keys = {"address": "192.0.2.7", "ssh": "me@far", "command": str(self.hyphos)}
        keys |= {"workdir": str(self.there), "plan": "robot.yaml", **host}
        hosts = ", ".join(f"{key}: {value}" for key, value in keys.items())
        processes = {
            name: (kind, f"host: {where}" + (f", {more}" if more else ""))
            for where, some in (("near", near), ("far", far))
            for name, (kind, more) in some.items()
        }
        text = f"hosts:\n  near: {{address: 127.0.0.1}}\n  far: {{{hosts}}}\n"
        text += "channels:\n  count: {scope: machine}\n"
        self.plan(processes, text)
        shutil.copy(self.path, self.there)
        return str(self.path)


@pytest.fixture
def robot(tmp_path: Path, domain: str, monkeypatch: pytest.MonkeyPatch) -> Robot:
    programs = tmp_path / "bin"
    programs.mkdir()
    write_program(programs / "ssh", SSH)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return Robot(tmp_path, domain)


def run(start: Start, robot: Robot, plan: str, *words: str) -> Program:
    return start("run", plan, "--logs", str(robot.logs), *words)


def test_processes_of_both_machines_run_and_end_in_order(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.two_hosts(
        {"base": ("slow_to_stand", ""), "last": ("notes_its_birth", "after: middle")},
        {"middle": ("slow_to_stand", "after: base")},
    )
    program = run(hyphos_start, robot, plan)
    until_line(program, r"started middle \(pid \d+ on far\)")
    until_line(program, r"last +│ born")
    assert Path(f"/proc/{pid_of(robot, 'middle')}/cwd").resolve() == robot.there.resolve()
    code, out, err = program.stop()
    assert (code, err) == (0, ""), out
    times = [float(robot.log(name).split()[1]) for name in ("base", "middle", "last")]
    assert times == sorted(times)


def test_a_killed_remote_process_restarts(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.two_hosts({}, {"counter": ("Counter", RESTART)})
    program = run(hyphos_start, robot, plan)
    until_line(program, "started counter")
    os.kill(pid_of(robot, "counter"), signal.SIGKILL)
    until_line(program, "counter killed by SIGKILL, restarting in")
    until_line(program, "counter is back")
    assert program.stop()[0] == 0


def agent_of(program: Program) -> int:
    """The pid of the agent: the child of the launcher with "agent" in its command line."""
    for child in children_of(program.popen.pid):
        if b"agent" in Path(f"/proc/{child}/cmdline").read_bytes():
            return child
    raise AssertionError("there is no agent")


def test_losing_the_connection_ends_the_remote_processes(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.two_hosts({"near": ("quiet", "")}, {"counter": ("Counter", "")})
    program = run(hyphos_start, robot, plan)
    until_line(program, "started counter")
    pid = pid_of(robot, "counter")
    os.kill(agent_of(program), signal.SIGKILL)
    until_line(program, "counter lost: ssh ended with -9")
    wait_until(lambda: not alive(pid), "its end")
    assert program.end()[0] == 1


def test_a_killed_launcher_ends_the_remote_processes(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.two_hosts({}, {"counter": ("Counter", "")})
    program = run(hyphos_start, robot, plan)
    pid = pid_of(robot, "counter")
    program.signal(signal.SIGKILL)
    wait_until(lambda: not alive(pid), "its end")


def test_a_lost_machine_is_reached_again(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.two_hosts({}, {"counter": ("Counter", f"{RESTART}, max_backoff_ms: 4000")})
    program = run(hyphos_start, robot, plan)
    until_line(program, "started counter")
    wait_until(lambda: runs(robot, "counter") is not None, "the counter")
    os.kill(agent_of(program), signal.SIGKILL)
    until_line(program, "counter lost: ")
    until_line(program, "counter is back")
    assert program.stop()[0] == 0


def test_a_plan_that_differs_is_refused(hyphos_cli: Cli, robot: Robot) -> None:
    plan = robot.two_hosts({"near": ("quiet", "")}, {"far": ("quiet", "")})
    with (robot.there / "robot.yaml").open("a") as file:
        file.write("  more: {scope: machine}\n")
    code, out, err = hyphos_cli("run", plan)
    assert code == 1
    assert "its plan robot.yaml differs from the one here: copy the plan there" in err
    assert "started" not in out  # no process, on either machine


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ({"ssh": "nobody@far"}, "Permission denied (publickey)"),
        ({"command": "/gone/hyphos"}, "/gone/hyphos: not found"),
        ({"plan": "gone.yaml"}, "gone.yaml"),
        ({"workdir": "/gone"}, "can't cd to /gone"),
    ],
)
def test_an_agent_that_cannot_start_is_reported(
    hyphos_cli: Cli, robot: Robot, host: dict[str, str], message: str
) -> None:
    plan = robot.two_hosts({}, {"far": ("quiet", "")}, **host)
    code, _, err = hyphos_cli("run", plan)
    assert code == 1
    assert "host far (" in err
    assert message in err
    assert "test the command: ssh -T" in err


def test_live_shows_remote_processes(hyphos_start: Start, robot: Robot) -> None:
    plan = robot.two_hosts({}, {"counter": ("Counter", "")})
    program = run(hyphos_start, robot, plan, "--live", "--quiet")
    until_line(program, r"counter +running +\d+ +[\d.]+ % +[1-9][\d.]* MB +0 +far")
    until_line(program, r"far: count +(shm)? +[\d.]+ Hz")
    assert program.stop()[0] == 0


SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """A real sshd for this user, on a separate port: (port, private key)."""
    if not Path(SSHD).exists():
        pytest.skip("there is no sshd: apt install openssh-server")
    for name in ("host_key", "user_key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    shutil.copy(tmp_path / "user_key.pub", tmp_path / "authorized")
    port = own_port()
    Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    options = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": tmp_path / "host_key",
        "AuthorizedKeysFile": tmp_path / "authorized",
        "StrictModes": "no",
        "PidFile": "none",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
    }
    words = [SSHD, "-D", "-e", "-f", "/dev/null"]
    for key, value in options.items():
        words += ["-o", f"{key}={value}"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        heard = ""
        while "listening on" not in heard:
            heard = server.stderr.readline()
            if not heard:
                pytest.skip("sshd does not start here")
        try:
            yield port, tmp_path / "user_key"
        finally:
            server.terminate()


def test_a_plan_runs_over_a_real_sshd(
    hyphos_start: Start,
    tmp_path: Path,
    domain: str,
    sshd: tuple[int, Path],
) -> None:
    port, key = sshd
    robot = Robot(tmp_path, domain)
    # sshd passes no environment on, so the package path goes into the command.
    robot.hyphos.write_text(
        f"#!/bin/sh\nPYTHONPATH={os.pathsep.join(p for p in sys.path if p)} "
        f'exec {sys.executable} -m hyphos "$@"\n'
    )
    options = f'["-p", "{port}", "-i", {key}, "-o", "UserKnownHostsFile=/dev/null", "-o", '
    options += '"StrictHostKeyChecking=no", "-o", "IdentitiesOnly=yes"]'
    plan = robot.two_hosts(
        {"base": ("quiet", "")},
        {"counter": ("Counter", f"after: base, {RESTART}")},
        ssh=f"{getpass.getuser()}@127.0.0.1",
        ssh_options=options,
    )
    program = run(hyphos_start, robot, plan)
    until_line(program, r"started counter \(pid \d+ on far\)")
    os.kill(pid_of(robot, "counter"), signal.SIGKILL)
    until_line(program, "counter is back")
    pid = pid_of(robot, "counter")
    # Break the connection on sshd's side, as a pulled cable would.
    [client] = [
        child
        for child in children_of(program.popen.pid)
        if Path(f"/proc/{child}/comm").read_text().strip() == "ssh"
    ]
    os.kill(client, signal.SIGKILL)
    until_line(program, "counter lost: ")
    wait_until(lambda: not alive(pid), "its end")
    until_line(program, "counter is back")
    code, out, _ = program.stop()
    assert code == 0, out
    assert re.search(r"counter: restarted 2 times", out)
