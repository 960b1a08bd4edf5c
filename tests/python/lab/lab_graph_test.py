"""A mixed graph as a workload: any robot.yaml with synthetic nodes, measured like other cases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli, Start
from hyphos import Error
from hyphos.lab import commands, experiment, machines, mixed
from hyphos.lab.links import why_not
from hyphos.lab.media import Tun
from hyphos.lab.peers import find_peers
from hyphos.lab.report import write_report
from hyphos.lab.results import Results
from hyphos.lab.runner import Runner, side_by_side
from hyphos.lab.stage import Stage
from lab_places import things_named
from lab_runs import RESOLUTION, least_us, rows_of

# A chain of three nodes, beside a channel with two subscribers. Every second message has a reply.
ROBOT = """hyphos: 1
robot: small
processes: {eyes: {}, brain: {}, hand: {}}
nodes:
  camera: {process: eyes}
  mapper: {process: brain, load: {work_us: 2000}}
  arm: {process: hand}
channels:
  image: {publishers: [camera], subscribers: [mapper], depth: 200, load: {rate_hz: 40, size: 20 KB}}
  grip:
    publishers: [mapper]
    subscribers: [arm]
    depth: 200
    load: {after: image, every: 2, size: 40}
  state:
    publishers: [arm]
    subscribers: [mapper, camera]
    depth: 200
    load: {rate_hz: 50, size: 64}
  debug: {publishers: [mapper]}
"""
GRAPH = "lab: 1\nworkload: graph\nplan: {}\nseconds: 1\nrepeats: 1\n"


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    path = tmp_path / "robot.yaml"
    path.write_text(ROBOT)
    return path


def measured(text: str, folder: Path) -> dict[str, Any]:
    [row] = rows_of(text, ["hyphos"], folder)
    assert not row.failure
    assert row.peer == "hyphos/plan"
    assert row.runs[0].result is not None
    return row.runs[0].result


def test_every_message_of_a_graph_is_sent_and_counted(robot: Path, tmp_path: Path) -> None:
    told = measured(GRAPH.format(robot), tmp_path)
    # 40 images, a reply to every second image, and 50 states for two nodes.
    assert told["planned"] == told["sent"] == 40 + 20 + 50
    assert told["received"] == 40 + 20 + 2 * 50
    assert told["lost"] == told["duplicates"] == told["corrupt"] == 0
    assert (told["processes"], told["sources"], told["flows"]) == (3, 3, 4)
    # Grips and states have no reply, so there are three chain ends.
    assert told["chains"] == 3
    assert told["samples"] == sum(told["flow_received"]) == 20 + 2 * 50
    carried = 40 * 20 * 1024 + 20 * 40 + 2 * 50 * 64
    assert told["mb_per_s"] * told["seconds"] == pytest.approx(carried / 1e6)
    # A callback computes until its time is over. Other programs may take a part of that time.
    assert told["cpu_us_per_msg"] * told["sent"] >= 40 * 2000 * 0.5
    assert told["memory_mb"] > 1


def test_latency_is_measured_over_whole_chains(robot: Path, tmp_path: Path) -> None:
    """The grip follows after 2 ms of computing on the image, and carries its stamp."""
    alone = ROBOT.replace("load: {rate_hz: 50, size: 64}", "load: {rate_hz: 0.1, size: 64}")
    robot.write_text(alone)
    [row] = rows_of(GRAPH.format(robot), ["hyphos"], tmp_path)
    counted = row.runs[0].histogram("histogram_ns")
    # One state and twenty grips.
    slow = [
        n
        for value, n in zip(counted.values, counted.counts, strict=True)
        if value >= 2e6 * RESOLUTION
    ]
    assert sum(slow) >= row.runs[0].result["flow_received"][0]  # type: ignore[index]
    # The due time is before the first publish.
    assert row.estimate("open_p50_us").value >= row.estimate("p50_us").value * RESOLUTION
    told = row.runs[0].result
    assert told is not None
    # The program computes the same percentile by itself.
    assert row.estimate("p95_us").value == pytest.approx(told["p95_us"], rel=2e-3)


def test_scale_multiplies_all_rates_and_no_sizes(robot: Path, tmp_path: Path) -> None:
    told = measured(GRAPH.format(robot) + "scale: 2\n", tmp_path)
    assert told["sent"] == 80 + 40 + 100


def test_an_overloaded_graph_counts_lost_and_unsent_messages(robot: Path, tmp_path: Path) -> None:
    """The mapper can process 500 images a second."""
    text = GRAPH.format(robot).replace("seconds: 1", "seconds: 2") + "scale: 50\n"
    [row] = rows_of(text, ["hyphos"], tmp_path)
    assert not row.failure
    assert row.total("lost") + row.total("unsent") > 500
    assert row.estimate("open_p99_us").value > 50_000


def test_processes_of_a_graph_are_placed_by_their_names(robot: Path, tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    text = GRAPH.format(robot) + f"placement: {{brain: {cpu}}}\n"
    told = measured(text, tmp_path)
    assert told["cpus"]["brain"] == f"{cpu}"
    assert set(told["cpus"]) == {"eyes", "brain", "hand"}
    wrong = experiment.parse(GRAPH.format(robot) + "placement: {pub: 0}\n", "x.yaml")
    with pytest.raises(Error, match="its plan has no 'pub' to place, use one of eyes, brain, hand"):
        commands.resolved(wrong)


@pytest.mark.skipif(why_not(Tun()) is not None, reason="needs root and TUN devices")
def test_hosts_of_a_plan_are_joined_by_the_link(robot: Path, tmp_path: Path) -> None:
    text = ROBOT.replace(
        "processes: {eyes: {}, brain: {}, hand: {}}",
        "hosts: {ugv: {address: 10.9.0.1}, base: {address: 10.9.0.2}, arm_2: {address: 10.9.0.3}}\n"
        "processes: {eyes: {host: ugv}, brain: {host: base}, hand: {host: arm_2}}",
    )
    robot.write_text(text)
    link = "links: {far: {kind: tun, delay_ms: 10}}\n"
    with pytest.raises(Error, match="no link joins its hosts ugv, base, arm_2"):
        commands.resolved(experiment.parse(GRAPH.format(robot), "x.yaml"))
    [row] = rows_of(GRAPH.format(robot) + link + "link: far\n", ["hyphos"], tmp_path)
    assert not row.failure
    assert row.total("received") > 0
    assert least_us(row) >= 10_000 * RESOLUTION
    assert things_named(f"hyphos-lab-{os.getpid()}-") == []


def test_a_graph_is_measured_shown_judged_and_resumed(
    hyphos_cli: Cli, robot: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.yaml").write_text(
        GRAPH.format("robot.yaml") + "peers: [hyphos, zmq, futex]\ngrid: {scale: [0.5, 1]}\n"
    )
    out = tmp_path / "out"
    words = ("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out), "--seconds", "0.5")
    code, shown, err = hyphos_cli(*words, "--assert", "hyphos scale=1: p50_us < 6e7")
    assert code == 0, shown + err
    assert "met " in shown
    assert "0.5 × its rates" in shown
    assert "without zmq: it does not support graph" in err
    assert "without futex: it does not support graph" in err
    assert "not run, because the plan gives no size or rate: debug" in " ".join(err.split())
    assert [run.case.scale for run in Results(out).runs] == [0.5, 1.0]
    [described] = machines.load(out).values()
    assert "hyphos " in described["peers"]
    page = write_report(out, None).read_text()
    assert "times the rates of the plan" in page
    assert hyphos_cli(*words, "--resume")[0] == 0
    assert len(Results(out).runs) == 2
    assert hyphos_cli("lab", "show", str(out))[0] == 0
    # Another plan at the same path is a new case.
    robot.write_text(ROBOT.replace("rate_hz: 40", "rate_hz: 20"))
    assert hyphos_cli(*words, "--resume")[0] == 0
    runs = Results(out).runs
    assert len(runs) == 4
    assert len({run.case.plan for run in runs}) == 1
    assert len({run.case.plan_id for run in runs}) == 2


def test_a_plan_may_be_given_on_the_command_line(
    hyphos_cli: Cli, robot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.yaml").write_text("lab: 1\nworkload: graph\nseconds: 0.2\nrepeats: 1\n")
    words = ("lab", "run", str(tmp_path / "sub" / "x.yaml"), "-o", str(tmp_path / "out"))
    code, _, err = hyphos_cli(*words)
    assert code == 1
    assert "no plan is given" in err
    code, _, err = hyphos_cli(*words, "--set", f"plan={robot}")
    assert code == 0, err
    [run] = Results(tmp_path / "out").runs
    assert run.case.plan == str(robot)
    assert hyphos_cli("lab", "show", str(tmp_path / "out"))[0] == 0
    # Relative to the current folder, not to the experiment's file.
    monkeypatch.chdir(tmp_path)
    found = experiment.load("sub/x.yaml", changes=["plan=robot.yaml"])
    assert commands.resolved(found).cases[0].plan == str(robot)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("hyphos: 1\nnodes: {a: {process: brain}}\n", "brain"),
        (
            "hyphos: 1\nprocesses: {p: {}}\nnodes: {a: {process: p}}\nchannels: {c: {}}\n",
            "no channel has a load",
        ),
        ("- 1\n", "robot.yaml"),
    ],
)
def test_a_wrong_plan_is_an_error_with_its_file(plan: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "robot.yaml").write_text(plan)
    found = experiment.parse(GRAPH.format("robot.yaml"), str(tmp_path / "x.yaml"))
    with pytest.raises(Error) as caught:
        commands.resolved(found)
    assert message in str(caught.value)
    assert "robot.yaml" in str(caught.value)


def test_a_missing_plan_is_an_error_with_its_path() -> None:
    found = experiment.parse(GRAPH.format("robot.yaml"), "/nonexistent/x.yaml")
    with pytest.raises(Error, match="the plan does not exist") as caught:
        commands.resolved(found)
    assert caught.value.where == "/nonexistent/robot.yaml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "workload: graph\nplan: r.yaml\nsize: 64",
            "x.yaml:4: 'size' has no effect in the workload",
        ),
        ("workload: graph\nplan: r.yaml\ngrid: {rate_hz: [1]}", "'rate_hz' has no effect in the"),
        ("workload: graph\nplan: r.yaml\nhosts: 2", "'hosts' has no effect in the workload graph"),
        ("workload: pair\nplan: r.yaml", "x.yaml:3: 'plan' has no effect in the workload pair"),
        (
            "workload: pair\ngrid: {scale: [1]}",
            "'scale' applies to the workload graph, not to pair",
        ),
        ("workload: graph\nplan: r.yaml\nscale: 0", "scale: 0 is not from 1e-05 to 100000"),
    ],
)
def test_a_bad_experiment_with_a_graph_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        experiment.parse(f"lab: 1\n{text}\n", "x.yaml")
    assert message in str(caught.value)


def test_commands_without_graphs_name_the_alternative(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(GRAPH.format("robot.yaml"))
    code, _, err = hyphos_cli("lab", "saturate", str(tmp_path / "x.yaml"))
    assert code == 1
    assert "hyphos lab verify robot.yaml --measure-only" in " ".join(err.split())
    code, _, err = hyphos_cli("lab", "compare", "graph")
    assert code == 1
    assert "no baseline can run a plan" in err


def test_the_built_in_graph_runs(tmp_path: Path) -> None:
    """Runs its first case for a moment."""
    wanted = commands.resolved(experiment.load("mixed_graph", changes=["seconds=1"]))
    [peer] = find_peers().choose(["hyphos/plan"])
    results = Results(tmp_path)
    todo = side_by_side(wanted.cases[0], [peer], 0)
    Runner(results, stage=Stage()).measure(todo)
    [run] = results.runs
    assert run.result is not None, run.failure
    assert run.result["processes"] == len(mixed.of_case(run.case).graph.processes) == 3
    assert run.result["received"] + run.result["lost"] == run.result["sent"]
    # Short queues lose messages beside a stall, but every channel has some.
    assert len(run.result["channels_heard"]) == 8
    assert all(one["received"] > 0 for one in run.result["channels_heard"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plan", "robot.yaml", "--cpus", "brain"], "'brain' is not a PROCESS=PROCESSORS"),
        (["--plan", "robot.yaml", "--cpus", "brian=0"], "the plan has no process 'brian'"),
        (["--plan", "robot.yaml", "--cpus", "brain=1000"], "--cpus brain: 1000 exceeds"),
        (["--plan", "robot.yaml", "--scale", "x"], "--scale: 'x' is not a number"),
        (["--figures"], "--plan: name a robot.yaml"),
        (["--plan"], "--plan needs a value"),
    ],
)
def test_the_graph_program_names_a_wrong_option(
    start: Start, robot: Path, words: list[str], message: str
) -> None:
    [peer] = find_peers().choose(["hyphos/plan"])
    words = [str(robot) if word == "robot.yaml" else word for word in words]
    code, _, err = start(str(peer.program), *words).end()
    assert code == 1
    assert message in err
