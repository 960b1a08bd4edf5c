"""`hyphos cosim`: scenarios from the command line."""

from __future__ import annotations

import signal
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
    assert code == 0, err
    rows = {words[0]: words[1:] for line in out.splitlines()[1:-1] if (words := line.split())}
    assert len(rows) == 12
    delay = {name: float(row[3]) for name, row in rows.items() if len(row) == 8}
    assert delay["adaptive"] == delay["lockstep"] < 1
    # Packets sent in one window of 50 ms enter in the next.
    assert delay["sliding_window"] - delay["lockstep"] == pytest.approx(50, abs=0.1)
    assert "idle deadlock" in " ".join(rows["velocity_aware_s"])


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
