"""`hyphos cosim`: scenarios from the command line."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import pytest
from helpers import OnTerminalStart, Start, wait_until

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "examples/cosim/cosim.yaml"
OUTSIDE = TREE / "examples/cosim/mujoco_ns3.yaml"
ADAPTERS = [TREE / f"build/release/cosim/hyphos-cosim-{name}.so" for name in ("mujoco", "ns3")]


def test_the_example_runs_and_accounts_for_every_packet(hyphos_start: Start) -> None:
    code, out, err = hyphos_start("cosim", "run", str(EXAMPLE)).end()
    assert code == 0, err
    assert "adaptive" in out
    assert "copies 3600 = " in out
    assert "bounds     latency 4.000 ms" in out


def test_a_trace_is_the_same_in_one_process_and_in_two(hyphos_start: Start, tmp_path: Path) -> None:
    traces: list[str] = []
    for options in ([], ["--radio-process", "--no-skip"]):
        path = tmp_path / f"trace{len(traces)}.txt"
        code, _, err = hyphos_start(
            "cosim", "run", str(EXAMPLE), "--trace", str(path), *options
        ).end()
        assert code == 0, err
        traces.append(path.read_text())
    assert traces[0] == traces[1]
    assert len(traces[0].splitlines()) == 5400


@pytest.mark.parametrize(
    ("name", "digest"), [("cosim", "0c5b5b2bec0e8420"), ("flows", "966aeb7c4dbafe8d")]
)
def test_a_scenario_without_a_named_radio_keeps_its_trace(
    hyphos_start: Start, name: str, digest: str
) -> None:
    code, out, err = hyphos_start("cosim", "run", str(EXAMPLE.with_stem(name))).end()
    assert code == 0, err
    assert f"hash {digest}" in out


def test_the_example_of_a_named_radio_loses_some_packets(hyphos_start: Start) -> None:
    code, out, err = hyphos_start("cosim", "run", str(EXAMPLE.with_stem("radio"))).end()
    assert code == 0, err
    words = out[out.index("copies ") :].split()
    sent, delivered, dropped = int(words[1]), int(words[3]), int(words[6])
    assert sent == 9000
    assert delivered > 0.3 * sent
    assert dropped > 0.05 * sent


def test_replaying_a_trace_reproduces_it(hyphos_start: Start, tmp_path: Path) -> None:
    words = ["cosim", "run", str(EXAMPLE), "--method", "lockstep"]
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    code, _, err = hyphos_start(*words, "--trace", str(first)).end()
    assert code == 0, err
    code, out, err = hyphos_start(*words, "--replay", str(first), "--trace", str(second)).end()
    assert code == 0, err
    assert "copies 3600 = " in out
    assert second.read_text() == first.read_text()


def test_the_example_of_a_recorded_network_runs(hyphos_start: Start) -> None:
    code, out, err = hyphos_start("cosim", "run", str(EXAMPLE.with_name("replay.yaml"))).end()
    assert code == 0, err
    assert "channel_error" in out


@pytest.mark.skipif(not all(map(Path.exists, ADAPTERS)), reason="scripts/setup core cosim")
def test_a_run_with_mujoco_and_ns3_is_reproducible(hyphos_start: Start) -> None:
    shown: list[list[str]] = []
    for options in ([], ["--no-ahead"]):
        code, out, err = hyphos_start("cosim", "run", str(OUTSIDE), *options).end()
        assert code == 0, err
        shown.append(out.splitlines())
    lines = {line.split()[0]: line for line in shown[0]}
    assert lines["trace"] == shown[1][-1]
    assert "copies 3600 = " in lines["packets"]
    assert "latency 4.000 ms" in lines["bounds"]


def test_an_error_in_a_scenario_has_its_line(hyphos_start: Start, tmp_path: Path) -> None:
    wrong = tmp_path / "cosim.yaml"
    wrong.write_text(EXAMPLE.read_text().replace("duration_s:", "duration:"))
    code, _, err = hyphos_start("cosim", "run", str(wrong)).end()
    assert code == 1
    assert "cosim.yaml:5:1: duration: unknown key (did you mean 'duration_s'?)" in err


def test_methods_are_compared_on_one_scenario(hyphos_start: Start) -> None:
    code, out, err = hyphos_start("cosim", "compare", str(EXAMPLE)).end()
    assert code == 0, err  # every method that can run has run
    table = out[: out.index("delay: mean")]
    rows = {words[0]: words[1:] for line in table.splitlines()[1:] if (words := line.split())}
    assert len(rows) == 16
    delay = {name: float(row[3]) for name, row in rows.items() if len(row) == 8}
    assert delay["adaptive"] == delay["lockstep"] < 1
    # Packets sent in one window of 50 ms enter in the next.
    assert delay["sliding_window"] - delay["lockstep"] == pytest.approx(50, abs=0.1)
    assert "cannot run: idle deadlock" in " ".join(rows["velocity_aware_s"])
    assert delay["velocity_aware_lenient_s"] > delay["lockstep"]
    assert delay["algorithm_1_ms"] > delay["lockstep"]
    assert (
        "4 of 16 methods cannot run this scenario, for the reasons above: velocity_aware_s," in out
    )
    assert "sliding_window exceeds a requested bound: latency 95.000 ms" in out


SHORT = (
    "duration_s: 0.2\nmethod: {window_ms: 5}\nrobots: {a: {at: [0, 0, 1]}, b: {at: [9, 0, 1]}}\n"
)


def test_a_strict_comparison_fails_if_a_method_cannot_run(
    hyphos_start: Start, tmp_path: Path
) -> None:
    idle = tmp_path / "idle.yaml"
    idle.write_text(SHORT)
    assert hyphos_start("cosim", "compare", str(idle)).end()[0] == 0
    code, out, _ = hyphos_start("cosim", "compare", str(idle), "--strict").end()
    assert code == 3
    assert "cannot run this scenario" in out


def test_a_comparison_with_a_run_that_fails_is_a_failure(
    hyphos_start: Start, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        broken = tmp_path / "broken.yaml"
        drone = f"c: {{kind: uav, at: [0, 0, 1], mavlink: {{port: {port}}}}}"
        broken.write_text(SHORT.replace("}}", "}, " + drone + "}"))
        code, out, _ = hyphos_start("cosim", "compare", str(broken)).end()
    assert code == 1
    assert out.count(f"cannot bind UDP port {port}") == 16


def test_compare_succeeds_if_every_method_runs(hyphos_start: Start, tmp_path: Path) -> None:
    # A packet of 10 ms every millisecond: there is always one in flight.
    busy = tmp_path / "busy.yaml"
    busy.write_text(
        "duration_s: 1\nmethod: {window_ms: 5}\n"
        "robots: {a: {at: [0, 0, 1]}, b: {at: [9, 0, 1]}}\n"
        "radio: {simulator: ideal, delay_ms: 10}\n"
        "traffic: {flows: {x: {from: a, to: b, rate_hz: 1000, start_s: 0}}}\n"
    )
    code, out, err = hyphos_start("cosim", "compare", str(busy), "--strict").end()
    assert code == 0, out + err
    assert "cannot run" not in out


def test_a_method_that_cannot_run_names_its_remedy(hyphos_start: Start) -> None:
    words = ("cosim", "run", str(EXAMPLE), "--method", "velocity_aware_s")
    code, _, err = hyphos_start(*words).end()
    assert code == 1
    assert "idle deadlock: at 0 ns no packet is in flight" in err
    assert "use velocity_aware_lenient_s, velocity_aware_lenient_ms, another method" in err
    assert len(err.splitlines()) == 1  # no general advice, which is wrong here


def test_a_requested_bound_that_is_exceeded_names_the_packet(
    hyphos_start: Start, tmp_path: Path
) -> None:
    told = tmp_path / "run.json"
    words = ("cosim", "run", str(EXAMPLE), "--method", "sliding_window", "--json", str(told))
    code, out, err = hyphos_start(*words).end()
    assert code == 0, err
    assert "exceeded   latency 95.000 ms instead of the requested 4 ms: first by packet" in out
    run = json.loads(told.read_text())
    bounds = {one["bound"]: one for one in run["exceeded"]}
    latency = bounds["latency_ns"]
    assert latency["requested"] == 4e6
    assert latency["first"]["packet"] >= 1
    assert latency["worst"]["value"] <= run["bounds"]["latency_ns"]
    assert latency["count"] == run["packets"]["delivered"]
    for case in (latency["first"], latency["worst"]):
        assert {case["from"], case["to"]} < {"husky1", "husky2", "iris"}


def test_a_setting_changes_a_run_and_a_wrong_one_is_an_error(hyphos_start: Start) -> None:
    words = ("cosim", "run", str(EXAMPLE), "--set", "duration_s=1", "--set", "robots=5")
    code, out, err = hyphos_start(*words).end()
    assert code == 0, err
    assert "1.000 s of 5 robots" in out
    code, _, err = hyphos_start("cosim", "run", str(EXAMPLE), "--set", "radio.power=3").end()
    assert code == 1
    assert "--set: radio.power: unknown key" in err


def test_a_scenario_is_checked_without_a_run(hyphos_start: Start) -> None:
    code, out, err = hyphos_start("cosim", "check", str(EXAMPLE.with_stem("flows"))).end()
    assert code == 0, err
    assert json.loads(out)["flows"] == ["imu", "bag", "rtt"]
    words = ("cosim", "check", str(EXAMPLE), "--set", "method.window_ms=0.3")
    code, _, err = hyphos_start(*words).end()
    assert code == 1
    assert "method.window_ms: a window of 300000 ns is not a whole number of steps" in err


def test_methods_are_listed(hyphos_start: Start) -> None:
    code, out, err = hyphos_start("cosim", "methods").end()
    assert code == 0, err
    names = [line.split()[0] for line in out.splitlines()]
    assert names[0] == "lockstep"
    assert "velocity_aware_s" in names
    assert names[-1] == "adaptive"


def test_ctrl_c_ends_a_long_run_with_partial_results(hyphos_start: Start, tmp_path: Path) -> None:
    long = tmp_path / "cosim.yaml"
    long.write_text(EXAMPLE.read_text().replace("duration_s: 30", "duration_s: 1000000"))
    trace = tmp_path / "trace.txt"
    program = hyphos_start("cosim", "run", str(long), "--radio-process", "--trace", str(trace))
    wait_until(
        lambda: trace.exists() and trace.stat().st_size > 100_000, "the run to be on its way"
    )
    program.signal(signal.SIGINT)
    code, out, err = program.end()
    assert code == 130
    assert "stopped before the end" in err
    assert "copies" in out
    assert trace.read_text().endswith("\n")


def test_a_terminal_run_shows_progress_and_handles_ctrl_c(
    hyphos_terminal: OnTerminalStart, tmp_path: Path
) -> None:
    long = tmp_path / "cosim.yaml"
    long.write_text(EXAMPLE.read_text().replace("duration_s: 30", "duration_s: 1000000"))
    shown = hyphos_terminal("cosim", "run", str(long), "--radio-process")
    shown.read_until("of 1000000.0 s")
    shown.type("\x03")
    shown.read_until("stopped before the end")
    assert "copies" in shown.shown
    assert shown.end() == 130
