"""The command line tool, run as a program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import hyphos
import numpy as np
import pytest
from helpers import Cli, Inbox, OnTerminalStart, Start, wait_until, write_program
from hyphos import Attached, _hyphos
from hyphos.msgs import Image, LaserScan, Twist
from hyphos.observe import duration
from hyphos.tools import doctor_cosim, native
from hyphos.tools.doctor import all_checks
from hyphos.tools.echo import hexdump

PLAN = """hyphos: 1
robot: tester
processes: {main: {nodes: [a]}}
nodes: {a: {python: "nodes:A"}}
channels: {scan: {type: hyphos.msgs.LaserScan, publishers: [a], depth: 3}}
"""


@pytest.fixture
def robot(domain: str) -> Iterator[hyphos.Node]:
    """A robot that publishes a scan and an image a hundred times a second, and subscribes to the
    scan.
    """
    with hyphos.Node.open("robot", domain=domain) as node:
        scan = node.publisher("scan", LaserScan)
        camera = node.publisher("front/camera", Attached[Image])
        raw = node.publisher("raw", bytes)
        heard = Inbox()
        node.subscribe("scan", LaserScan, heard)
        message = LaserScan(ranges=range(100), range_max=30)
        pixels = np.arange(1200, dtype=np.uint8).reshape(20, 20, 3)

        def tick() -> None:
            scan.publish(message)
            camera.publish(hyphos.numpy_to_image(pixels))
            raw.publish(b"raw \x00\x01 bytes")

        node.every(tick, rate_hz=100)
        heard.wait(2)  # the first message is counted at both endpoints
        yield node


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["run", "--help"],
        ["plan", "--help"],
        ["channel", "echo", "--help"],
        ["channel", "pub", "--help"],
        ["node", "--help"],
        ["shm", "--help"],
        ["tf", "--help"],
        ["tf", "pub", "--help"],
        ["doctor", "--help"],
        ["record", "--help"],
        ["replay", "--help"],
        ["msg", "import", "--help"],
        ["msg", "show", "--help"],
    ],
)
def test_help_is_available(hyphos_cli: Cli, words: list[str]) -> None:
    code, out, err = hyphos_cli(*words)
    assert (code, err) == (0, "")
    assert "Usage" in out


def test_help_loads_nothing_heavy(python: Start) -> None:
    program = python(
        """
import sys
from hyphos.cli import main
main.make_app()
heavy = {"numpy", "google.protobuf", "mcap", "rosbags", "yaml", "hyphos._hyphos", "pydantic"}
print(sorted(heavy & set(sys.modules)))
"""
    )
    assert program.end() == (0, "[]\n", "")


def test_plan_prints_text_json_and_dot(hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(PLAN)
    code, out, _ = hyphos_cli("plan", str(file))
    assert code == 0
    assert "scan" in out
    code, out, _ = hyphos_cli("plan", str(file), "--json", "--set", "channels.scan.depth=9")
    assert json.loads(out)["channels"][0]["depth"] == 9
    code, out, _ = hyphos_cli("plan", str(file), str(file), "--dot")
    assert code == 0
    assert out.count("digraph") == 2


def test_plan_draws_an_svg(hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(PLAN)
    code, _, err = hyphos_cli("plan", str(file), "--svg", str(tmp_path / "out/robot.svg"))
    assert code == 0, err
    assert "<svg" in (tmp_path / "out/robot.svg").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "absent.yaml"], "absent.yaml"),
        (["run", "absent.yaml"], "absent.yaml"),
        (["replay", "absent.mcap"], "no such file"),
        (["channel", "pub", "n", "LaserScn"], "did you mean 'hyphos.msgs.LaserScan'"),
        (["channel", "pub", "n", "Twist", "{linaer: 1}"], "fields: linear, angular"),
        (["channel", "pub", "n", "Twist", "{linear"], "neither YAML nor JSON"),
        (["channel", "pub", "n", "bytes", "xyz", "--hex"], "not hexadecimal"),
        (["channel", "info", "n"], "no Hyphos process runs"),
        (["node", "info", "n"], "no Hyphos process runs in domain"),
        (["record", "--compression", "rar"], "zstd, lz4 or none"),
    ],
)
def test_mistakes_end_in_one_sentence(
    hyphos_cli: Cli, domain: str, words: list[str], message: str
) -> None:
    takes_domain = words[0] not in ("plan", "run")
    code, _, err = hyphos_cli(*words, *(["--domain", domain] if takes_domain else []))
    assert code == 1
    assert message in err
    assert "Traceback" not in err


def test_wrong_usage_and_failures_have_different_exit_codes(hyphos_cli: Cli) -> None:
    code, _, err = hyphos_cli("channel", "hz")
    assert code == 2
    assert "Missing argument" in err
    code, _, err = hyphos_cli("channel", "pub", "n", "Twist", "--rate", "-1")
    assert code == 2
    assert "--rate" in err
    assert "too small" in err


def test_plan_errors_name_file_line_and_remedy(hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(PLAN.replace("depth: 3", "dept: 3"))
    code, _, err = hyphos_cli("plan", str(file))
    assert code == 1
    assert "robot.yaml:5" in err
    assert "did you mean 'depth'" in err


@pytest.mark.usefixtures("robot")
def test_channel_list_shows_the_running_channels(hyphos_cli: Cli, domain: str) -> None:
    _, out, _ = hyphos_cli("channel", "list", "-d", domain, "--json")
    found = {row["name"]: row for row in json.loads(out)}
    assert set(found) == {"scan", "front/camera", "raw"}
    scan = found["scan"]
    assert (scan["type_name"], scan["publishers"], scan["subscribers"]) == (
        "hyphos.msgs.LaserScan",
        1,
        1,
    )
    assert found["front/camera"]["encoding"] == "attached"
    _, out, _ = hyphos_cli("channel", "list", "-d", domain)
    assert "hyphos.msgs.Image + buffers" in out


@pytest.mark.usefixtures("robot")
def test_channel_info_and_node_info(hyphos_cli: Cli, domain: str) -> None:
    _, out, _ = hyphos_cli("channel", "info", "scan", "-d", domain, "--json")
    ends = {end["publishes"]: end for end in json.loads(out)}
    assert ends[True]["counters"]["sent"] > 0
    assert ends[False]["latency_ns"]["count"] > 0
    assert ends[True]["policy"]["depth"] == 10
    code, out, _ = hyphos_cli("channel", "info", "scan", "-d", domain)
    assert code == 0
    assert "publish → callback" in out
    code, out, _ = hyphos_cli("node", "list", "-d", domain, "--json")
    assert [row["node"] for row in json.loads(out)] == ["robot"]
    code, out, _ = hyphos_cli("node", "info", "robot", "-d", domain)
    assert "front/camera" in out


@pytest.mark.usefixtures("robot")
@pytest.mark.parametrize("command", ["hz", "bw", "delay"])
def test_hz_bw_and_delay_print_a_line_per_window(
    hyphos_cli: Cli, domain: str, command: str
) -> None:
    code, out, err = hyphos_cli("channel", command, "scan", "-d", domain, "-n", "2", "-w", "0.05")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 2


@pytest.mark.usefixtures("robot")
@pytest.mark.parametrize(
    ("command", "flowing"),
    [
        ("hz", r"[\d.]*[1-9][\d.]* Hz  \([1-9][\d,]* sent, [\d,]+ dropped\)"),
        ("bw", r"[\d.]*[1-9][\d.]* (MB/s|Hz, but nothing is encoded).*"),
        ("delay", r"robot  .*p50 .*p99 .*\([1-9][\d,]* messages\)"),
    ],
)
def test_hz_bw_and_delay_read_the_counters(
    hyphos_start: Start, domain: str, command: str, flowing: str
) -> None:
    program = hyphos_start("channel", command, "scan", "-d", domain, "-w", "0.1")
    # A window in which this machine stalled has no message. The next ones have.
    wait_until(lambda: re.fullmatch(flowing, program.line()) is not None, "a line with messages")
    code, _, err = program.stop()
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("robot")
def test_delay_needs_a_subscriber(hyphos_cli: Cli, domain: str) -> None:
    _, out, _ = hyphos_cli("channel", "delay", "raw", "-d", domain, "-n", "1", "-w", "0.1")
    assert "no subscriber" in out


@pytest.mark.usefixtures("robot")
def test_ctrl_c_ends_hz_without_an_error(hyphos_start: Start, domain: str) -> None:
    program = hyphos_start("channel", "hz", "scan", "-d", domain, "-w", "0.1")
    assert "Hz" in program.line()
    code, _, err = program.stop()
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("robot")
def test_echo_prints_yaml_json_and_bytes(hyphos_cli: Cli, domain: str) -> None:
    code, out, _ = hyphos_cli("channel", "echo", "scan", "-d", domain, "-n", "1", "--meta")
    assert code == 0
    assert "range_max: 30.0" in out
    assert "90 more" in out
    assert "sequence:" in out
    _, out, _ = hyphos_cli("channel", "echo", "scan", "-d", domain, "-n", "2", "--json")
    assert [len(json.loads(line)["ranges"]) for line in out.splitlines()] == [100, 100]
    _, out, _ = hyphos_cli("channel", "echo", "front/camera", "-d", domain, "-n", "1")
    assert "encoding: rgb8" in out
    assert "buffer 0: 1,200 bytes" in out
    _, out, _ = hyphos_cli("channel", "echo", "raw", "-d", domain, "-n", "1")
    assert "raw .. bytes" in out


def test_echo_writes_numbers_as_numbers(hyphos_cli: Cli, domain: str) -> None:
    message = LaserScan(ranges=[float("inf"), float("nan"), 1.5])
    message.header.stamp_ns = 2**60
    with hyphos.Node.open("robot", domain=domain) as node:
        scan = node.publisher("scan", LaserScan)
        node.every(lambda: scan.publish(message), rate_hz=50)
        _, out, _ = hyphos_cli("channel", "echo", "scan", "-d", domain, "-n", "1")
        assert f"stamp_ns: {2**60}" in out
        assert "ranges: [.inf, .nan, 1.5]" in out
        _, out, _ = hyphos_cli("channel", "echo", "scan", "-d", domain, "-n", "1", "--json")
        assert json.loads(out)["ranges"] == ["Infinity", "NaN", 1.5]


def test_echo_gives_up_after_its_timeout(hyphos_cli: Cli, domain: str) -> None:
    code, _, err = hyphos_cli("channel", "echo", "scan", "-d", domain, "--timeout", "0.1")
    assert code == 1
    assert "no message arrived on 'scan'" in err


def test_pub_reaches_a_subscriber(hyphos_cli: Cli, domain: str, inbox: Inbox) -> None:
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("cmd_vel", Twist, inbox)
        words = ("channel", "pub", "cmd_vel", "Twist", "{linear: {x: 0.5}}", "-d", domain)
        code, _, err = hyphos_cli(*words, "--rate", "50", "--count", "3", "--wait", "60")
        assert code == 0, err
        assert [twist.linear.x for twist in inbox.wait(3)] == [0.5] * 3


def test_pub_attaches_files_and_sends_bytes(hyphos_cli: Cli, domain: str, tmp_path: Path) -> None:
    pixels = tmp_path / "pixels"
    pixels.write_bytes(b"\x01\x02")
    images, raw = Inbox(), Inbox()
    with hyphos.Node.open("hearer", domain=domain) as node:
        node.subscribe("camera", Attached[Image], images)
        node.subscribe("raw", bytes, lambda view: raw(bytes(view)))
        value = "{width: 2, height: 1, encoding: mono8, step: 2}"
        late = ("--wait", "60", "-d", domain)
        hyphos_cli("channel", "pub", "camera", "Image", value, "-b", str(pixels), *late)
        [image] = images.wait(1)
        assert hyphos.image_to_numpy(image).tolist() == [[1, 2]]
        hyphos_cli("channel", "pub", "raw", "bytes", "4869", "--hex", *late)
        assert raw.wait(1) == [b"Hi"]


def test_own_types_come_from_a_proto_folder(
    hyphos_start: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    protos = tmp_path / "protos"
    protos.mkdir()
    (protos / "mine.proto").write_text(
        'syntax = "proto3"; package mine; message Note { string text = 1; int32 n = 2; }'
    )
    own = ("-I", str(protos), "-d", domain)
    words = ("channel", "pub", "note", "mine.Note", "{text: hi, n: 4}", "--rate", "20", *own)
    talker = hyphos_start(*words)
    code, out, err = hyphos_cli("channel", "echo", "note", "-n", "1", "--timeout", "60", *own)
    assert code == 0, err
    assert "text: hi" in out
    # The publisher announces the type of its options.
    _, out, _ = hyphos_cli("channel", "echo", "note", "-n", "1", "--timeout", "60", "-d", domain)
    assert "text: hi" in out
    assert talker.stop()[0] == 0


def test_repeated_publishing_reports_at_once(hyphos_terminal: OnTerminalStart, domain: str) -> None:
    words = ("channel", "pub", "note", "String", "{data: hi}", "--rate", "50", "--wait", "0")
    talker = hyphos_terminal(*words, "-d", domain)
    talker.read_until("publishing on note at 50 Hz, Ctrl-C ends it")
    talker.read_until(" published, 0 subscribers")
    assert "no subscriber" not in talker.shown  # only the final report contains it
    talker.type("\x03")
    talker.read_until(", no subscriber")
    assert talker.end() == 0


def test_a_count_is_reported_before_and_after(hyphos_cli: Cli, domain: str) -> None:
    words = ("channel", "pub", "note", "String", "{data: hi}", "--wait", "0", "-d", domain)
    code, out, err = hyphos_cli(*words, "--rate", "100", "-n", "3")
    assert (code, out) == (0, "")
    assert err == (
        "publishing 3 messages on note at 100 Hz, Ctrl-C ends it\n"
        "published 3 on note, no subscriber\n"
    )
    _, _, err = hyphos_cli(*words)
    assert err == "published 1 on note, no subscriber\n"


@pytest.mark.usefixtures("robot")
def test_shm_list_and_clean(hyphos_cli: Cli, python: Start, domain: str) -> None:
    victim = python(
        "import sys, time, hyphos; n = hyphos.Node.open('victim', domain=sys.argv[1]); "
        "print('ready', flush=True); time.sleep(1000)",
        domain,
    )
    assert victim.line() == "ready"
    other = f"{domain}x"
    lonely = python(
        "import sys, time, hyphos; n = hyphos.Node.open('lonely', domain=sys.argv[1]); "
        "print('ready', flush=True); time.sleep(1000)",
        other,
    )
    assert lonely.line() == "ready"
    _, out, _ = hyphos_cli("shm", "list", "-d", domain, "--json")
    participants = json.loads(out)["participants"]
    assert sorted(p["alive"] for p in participants) == [True, True]
    lonely.popen.kill()
    lonely.end()
    # No other process is in that domain, so only the tool can notice.
    _, out, _ = hyphos_cli("shm", "list", "-d", other)
    assert "dead" in out
    _, out, _ = hyphos_cli("shm", "clean", "-d", other)
    assert "removed" in out
    wait_until(lambda: _hyphos.shm_list(other).participants == [], "a clean domain")
    _, out, _ = hyphos_cli("shm", "list", "-d", domain, "--json")
    assert len(json.loads(out)["participants"]) == 2


def test_doctor_runs_all_checks(hyphos_cli: Cli) -> None:
    code, out, _ = hyphos_cli("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(out)}
    assert code == int(any(check["status"] == "FAIL" for check in checks.values()))
    for name in (
        "shared memory",
        "limit: open files",
        "limit: processes of a domain",
        "limit: receivers",
        "limit: endpoints",
        "limit: queues",
        "limit: pool",
        "multicast",
        "CPU governor",
        "kernel: pidfd",
        "simulator: MuJoCo",
        "simulator: ns-3",
        "simulator: Gazebo",
        "simulator: Gazebo server",
        "TUN and TAP devices",
        "rights: namespaces",
        "rights: real-time priority",
    ):
        assert checks[name]["status"] in ("OK", "WARN", "FAIL")
    code, out, _ = hyphos_cli("doctor")
    assert "kernel: futex" in out


def test_doctor_gives_remedies() -> None:
    for check in all_checks():
        assert check.text
        if check.status == "FAIL":
            assert check.remedy


def test_doctor_names_a_simulator_that_is_missing_or_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "program", lambda *_: tmp_path / "hyphos-cosim")
    (tmp_path / "hyphos-cosim-ns3.so").write_text("no library")
    checks = {check.name: check for check in doctor_cosim.cosim_checks()}
    missing, broken = checks["simulator: MuJoCo"], checks["simulator: ns-3"]
    assert (missing.status, broken.status) == ("WARN", "WARN")
    assert "not built here, so no `physics.simulator: mujoco`" in missing.text
    assert "the adapter does not load" in broken.text
    assert "scripts/setup core cosim && make build" in missing.remedy
    assert broken.remedy


def test_doctor_names_missing_devices_and_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_cosim, "_TUN", tmp_path / "tun")
    monkeypatch.setenv("PATH", str(tmp_path))
    checks = {check.name: check for check in doctor_cosim.cosim_checks()}
    assert "modprobe tun" in checks["TUN and TAP devices"].remedy
    assert "neither `ign` nor `gz` is on PATH" in checks["simulator: Gazebo server"].text
    server = write_program(tmp_path / "gz", "#!/bin/sh\n")
    checks = {check.name: check for check in doctor_cosim.cosim_checks()}
    assert str(server) in checks["simulator: Gazebo server"].text


def test_small_formats() -> None:
    assert hexdump(b"ab\n") == f"00000000  {'61 62 0a':<47}  ab."
    assert hexdump(bytes(20), 16).endswith("… 4 more bytes")
    assert [duration(ns) for ns in (12, 1234, 5_600_000, 2.5e9)] == [
        "12 ns",
        "1.23 µs",
        "5.6 ms",
        "2.5 s",
    ]


def test_keys_makes_a_pair_only_once(hyphos_cli: Cli, tmp_path: Path) -> None:
    prefix = tmp_path / "keys" / "robot"
    assert hyphos_cli("keys", str(prefix))[0] == 0
    secret = prefix.with_suffix(".key")
    assert secret.stat().st_mode & 0o777 == 0o600
    kept = secret.read_text()
    assert len(kept.strip()) == len(prefix.with_suffix(".pub").read_text().strip()) == 40
    code, _, errors = hyphos_cli("keys", str(prefix))
    assert code == 1
    assert "already" in errors
    assert secret.read_text() == kept
