"""The environment of runs: links, several hosts, limits and processors."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import Cli, Start
from hyphos import Error
from hyphos.lab import commands, experiment, placement
from hyphos.lab.case import Case
from hyphos.lab.peers import find_peers
from hyphos.lab.results import Results
from hyphos.lab.runner import Runner, Wish, side_by_side
from hyphos.lab.stage import Stage
from lab_places import things_named
from lab_runs import RESOLUTION, at_low_priority, least_us, rows_of

OWN = f"hyphos-lab-{os.getpid()}-"
CPUS = sorted(os.sched_getaffinity(0))


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and cgroups need root")
def test_a_case_may_use_a_link_and_limits(tmp_path: Path) -> None:
    found = experiment.parse(
        "lab: 1\nworkload: echo\nseconds: 0.5\ncores: 1.5\nlinks:\n"
        "  far: {kind: tun, delay_ms: 10}\n  near: {kind: veth}\ngrid: {link: [far, near]}\n",
        "x.yaml",
    )
    stage = Stage(found.links)
    if lack := stage.why_not(found.cases[0]):
        pytest.skip(lack)
    peers = find_peers().choose(["hyphos/shm", "hyphos/tcp"])
    assert peers[0].cannot(found.cases[0]) == "it works on one machine only"
    results = Results(tmp_path)
    todo = [wish for case in found.cases for wish in side_by_side(case, peers, 0)]
    Runner(results, stage=stage).measure(todo)
    far, near = results.rows()
    for one in (far, near):
        assert one.peer == "hyphos/tcp"
        assert not one.failure
        assert one.total("lost") == 0
    # In both directions.
    assert least_us(near) < 10_000
    assert 20_000 * RESOLUTION <= least_us(far) < 30_000
    assert not list(Path("/run/netns").glob(f"hyphos-lab-{os.getpid()}-*"))


def test_every_hop_of_a_pipeline_crosses_the_link(tmp_path: Path) -> None:
    text = (
        "lab: 1\nworkload: pipeline\nprocesses: {}\nseconds: 0.4\nlinks: {{one: {}}}\nlink: one\n"
    )
    peers = ["hyphos/tcp", "zmq/tcp"]
    near = rows_of(text.format(3, "{kind: veth}"), peers, tmp_path)
    (tmp_path / "far").mkdir()
    far = rows_of(text.format(4, "{kind: tun, delay_ms: 10}"), peers, tmp_path / "far")
    for one in (*near, *far):
        assert not one.failure
        assert one.total("lost") == one.total("unsent") == 0
    assert all(least_us(one) >= 30_000 * RESOLUTION for one in far)


def test_an_overloaded_link_loses_messages_in_a_full_run(tmp_path: Path) -> None:
    """About six messages a second pass. Takes as long as a run waits for messages in flight."""
    text = (
        "lab: 1\nworkload: fanin\npublishers: 8\nsize: 4096\nseconds: 0.4\nwarmup: 2\n"
        "links: {thin: {kind: tun, rate_mbit: 0.2}}\nlink: thin\n"
    )
    [row] = rows_of(text, ["zmq/tcp"], tmp_path)
    assert not row.failure
    assert row.total("received") > 0
    assert row.total("lost") == row.total("sent") - row.total("received") > 0


def test_an_echo_may_have_more_processes_than_a_plan(tmp_path: Path) -> None:
    text = "lab: 1\nworkload: echo\npairs: 65\nrate_hz: 10\nseconds: 1\nwarmup: 1\n"
    with at_low_priority():
        [row] = rows_of(text, ["hyphos/ipc"], tmp_path)
    assert not row.failure
    assert row.total("received") > 0


# --- several hosts ------------------------------------------------------------------------------

MANY = {
    "fanout": ("subscribers", 4),
    "fanin": ("publishers", 4),
    "echo": ("pairs", 3),
    "pipeline": ("processes", 4),
}


@pytest.mark.parametrize("workload", MANY)
@pytest.mark.parametrize("kind", ["veth", "tun, delay_ms: 10", "wifi"])
def test_the_instances_of_a_workload_are_spread_over_hosts(
    workload: str, kind: str, tmp_path: Path
) -> None:
    many, count = MANY[workload]
    text = (
        f"lab: 1\nworkload: {workload}\n{many}: {count}\nrate_hz: 20\nseconds: 1\nwarmup: 3\n"
        f"links: {{one: {{kind: {kind}}}}}\nlink: one\nhosts: 3\n"
    )

    # The queues hold more messages than are sent, so a stall of the machine loses none.
    rows = rows_of(text, ["hyphos/tcp", "zmq/tcp", "hyphos_py/tcp"], tmp_path)
    assert [one.peer for one in rows] == ["hyphos/tcp", "zmq/tcp", "hyphos_py/tcp"]
    for one in rows:
        assert not one.failure
        flows = {"fanout": 4, "fanin": 4, "echo": 3}.get(workload, 1)
        assert one.total("received") == flows * one.case.count
        assert one.total("unsent") == one.total("lost") == one.total("corrupt") == 0
        if kind.startswith("tun"):
            # No path is inside one machine, so each message crosses the link this many times.
            times = {"echo": 2, "pipeline": 3}.get(workload, 1)
            assert least_us(one) >= times * 10_000 * RESOLUTION
    assert things_named(OWN) == []


@pytest.mark.parametrize("workload", MANY)
@pytest.mark.parametrize("name", ["cyclonedds", "fastdds", "ros1", "rospy"])
def test_an_available_baseline_joins_several_hosts(
    name: str, workload: str, tmp_path: Path
) -> None:
    if name in find_peers().absent:
        pytest.skip(f"{name} is absent: {find_peers().absent[name]}")
    many, count = MANY[workload]
    text = (
        f"lab: 1\nworkload: {workload}\n{many}: {count}\nrate_hz: 20\nseconds: 1\nwarmup: 3\n"
        "links: {one: {kind: tun, delay_ms: 10}}\nlink: one\nhosts: 3\n"
    )
    rows = rows_of(text, [name], tmp_path)
    assert not rows[0].failure
    assert rows[0].total("received") > 0
    assert least_us(rows[0]) >= 10_000 * RESOLUTION


def test_processes_run_on_the_hosts_of_their_spread(tmp_path: Path) -> None:
    """The air time of each of three far hosts, with 3, 3 and 2 of eight subscribers."""
    found = experiment.parse(
        "lab: 1\nworkload: fanout\nsubscribers: 8\nrate_hz: 50\nseconds: 1\nwarmup: 3\n"
        "links: {one: {kind: tun}}\nlink: one\nhosts: 3\n",
        "x.yaml",
    )
    stage = Stage(found.links)
    if lack := stage.why_not(found.cases[0]):
        pytest.skip(lack)
    [peer] = find_peers().choose(["zmq/tcp"])
    with stage:
        run = Runner(Results(tmp_path), stage=stage).one(Wish(found.cases[0], peer, 0))
        assert run is not None and run.result is not None
        [network] = stage._links.values()
        hosts = list(network.counters()["hosts"].values())
    taken = [one["received_bytes"] for one in hosts]
    # One packet of 1 KB and headers for each subscriber of the host.
    least = [share * 50 * 1024 for share in (3, 3, 2)]
    assert [got >= low for got, low in zip(taken[1:], least, strict=True)] == [True] * 3
    assert taken[3] < taken[1]
    assert taken[0] < 50 * 1024  # the near host receives acknowledgements


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "workload: fanout\nhosts: 2\nsubscribers: 2",
            "x.yaml:3: 'hosts' needs a link",
        ),
        ("workload: pair\nhosts: 2\nlink: one", "'hosts' has no effect in the workload pair"),
        (
            "workload: fanout\nsubscribers: 2\nhosts: 3\nlink: one",
            "3 hosts are more than the 2 sub",
        ),
        ("workload: pipeline\nhosts: 3\nlink: one", "3 hosts are more than the 2 processes after"),
        ("workload: echo\nhosts: 64\nlink: one", "x.yaml:3: hosts: 64 is not from 1 to 63"),
    ],
)
def test_hosts_without_processes_are_refused(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        experiment.parse(f"lab: 1\n{text}\nlinks: {{one: {{kind: tun}}}}\n", "x.yaml")
    assert message in str(caught.value)


def test_a_peer_for_two_machines_is_left_out_with_more(hyphos_cli: Cli, tmp_path: Path) -> None:
    case = Case("fanout", subscribers=4, link="one", hosts=2)
    peers = find_peers()
    [tcp] = peers.choose(["hyphos/tcp"])
    assert not tcp.cannot(case)
    assert replace(tcp, hosts=False).cannot(case) == "it joins at most two machines"
    (tmp_path / "x.yaml").write_text(
        "lab: 1\nworkload: fanout\nsubscribers: 2\nseconds: 0.1\nwarmup: 2\nrepeats: 1\n"
        "peers: [zmq/tcp, gateway/ros_tcp_out, futex]\n"
        "links: {one: {kind: tun}}\nlink: one\ngrid: {hosts: [1, 2]}\n"
    )
    if Stage({"one": experiment.load(str(tmp_path / "x.yaml")).links["one"]}).why_not(case):
        pytest.skip("no links here")
    code, _, err = hyphos_cli("lab", "run", str(tmp_path / "x.yaml"), "-o", str(tmp_path / "o"))
    assert code == 0, err
    assert "without futex: it works on one machine only" in err
    assert "without zmq" not in err
    assert "without gateway" not in err


# --- processors ---------------------------------------------------------------------------------


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two processors")
@pytest.mark.parametrize("name", ["hyphos/shm", "zmq/ipc", "hyphos_py"])
def test_processes_run_on_their_processors(name: str, tmp_path: Path) -> None:
    first, second = CPUS[:2]
    text = (
        "lab: 1\nworkload: pipeline\nseconds: 0.2\nwarmup: 3\n"
        f"placement: {{pub: [{first}], hop: {second}, sub: [{first}, {second}]}}\n"
    )
    [row] = rows_of(text, [name], tmp_path)
    assert not row.failure
    both = placement.listed((first, second))
    assert row.case.placement == f"hop={second};pub={first};sub={both}"
    told = row.runs[0].result
    assert told is not None
    # From the kernel, while they ran.
    assert told["cpus"] == {"pub": f"{first}", "hop": f"{second}", "sub": both}


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two processors")
def test_placement_is_a_parameter_of_the_grid(hyphos_cli: Cli, tmp_path: Path) -> None:
    first, second = CPUS[:2]
    (tmp_path / "x.yaml").write_text(
        "lab: 1\nworkload: pair\npeers: [futex]\nseconds: 0.1\nwarmup: 2\nrepeats: 1\n"
        f"grid:\n  placement: [{{pub: {first}, sub: {second}}}, 'pub={first} sub={first}', '']\n"
    )
    out = tmp_path / "out"
    words = ("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out))
    code, shown, err = hyphos_cli(
        *words, "--assert", f"placement=pub={first};sub={first}: sent > 0"
    )
    assert code == 1
    assert "unknown metric 'sent'" in err
    criterion = f"placement=pub={first};sub={first}: p50_us > 0"
    code, shown, err = hyphos_cli(*words, "--assert", criterion)
    assert code == 0, err
    assert shown.count("met ") == 1
    cpus = [(run.result or {})["cpus"] for run in Results(out).runs]
    apart, together, free = sorted(
        cpus, key=lambda one: (len(one["pub"]), one["sub"] == one["pub"])
    )
    assert apart == {"pub": f"{first}", "sub": f"{second}"}
    assert together == {"pub": f"{first}", "sub": f"{first}"}
    assert free == dict.fromkeys(("pub", "sub"), placement.listed(CPUS))
    assert f"pub={first};sub={second}" in shown and "anywhere" in shown


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two processors")
def test_processes_on_one_processor_share_it(tmp_path: Path) -> None:
    """Three subscribers that compute for nearly all of their time use no more than their one
    processor."""
    cpu = CPUS[0]
    text = (
        "lab: 1\nworkload: fanout\nsubscribers: 3\nrate_hz: 100\nwork_us: 9000\nseconds: 1\n"
        f"warmup: 3\nplacement: {{pub: {cpu}, sub: {cpu}}}\n"
    )
    used_s = 0.0
    for number in range(20):  # a busy machine gives them less
        folder = tmp_path / str(number)
        folder.mkdir()
        [row] = rows_of(text, ["hyphos/shm"], folder)
        told: dict[str, Any] = row.runs[0].result or {}
        used_s = told["cpu_us_per_msg"] * told["sent"] / 1e6
        assert used_s <= told["seconds"] * 1.05 + 0.1
        if used_s > 0.5:
            return
    pytest.fail(f"the processes used {used_s} s")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("placement: {pub: [0], sup: [0]}", "x.yaml:3: the workload pair has no 'sup' to place"),
        (
            "placement: {pub: x}",
            "x.yaml:3: placement: 'x' is not a list of processors such as 0-2,5",
        ),
        ("placement: {pub: 3-1}", "'3-1' is not a list of processors"),
        ("placement: {pub: 1024}", "'1024' is not a list of processors"),
        ("placement: pub", "x.yaml:3: placement: 'pub' is not ROLE=PROCESSORS"),
        ("placement: [{pub: 0}]", "x.yaml:3: 'placement' must have one value here"),
        ("placement: {pub: {a: 0}}", "x.yaml:3: 'pub' must be a value or a list"),
        ("placement: pub=0 pub=1", "'pub' is given twice"),
        ("grid: {placement: []}", "'placement' is an empty list"),
    ],
)
def test_a_bad_placement_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        experiment.parse(f"lab: 1\nworkload: pair\n{text}\n", "x.yaml")
    assert message in str(caught.value)


def test_a_missing_processor_is_an_error_before_any_run(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        "lab: 1\nworkload: pair\npeers: [futex]\nplacement: {pub: 1000-1001, sub: 0}\n"
    )
    out = tmp_path / "out"
    code, _, err = hyphos_cli("lab", "run", str(tmp_path / "x.yaml"), "-o", str(out))
    assert code == 1
    assert "pub is placed on processor 1000-1001" in " ".join(err.split())
    assert placement.listed(CPUS) in err
    assert not out.exists()
    # Results of another machine can be shown here.
    assert experiment.load(str(tmp_path / "x.yaml")).cases[0].placement == "pub=1000-1001;sub=0"


@pytest.mark.parametrize("cpus", ["1000", "x", "1-", "0,", "2000"])
def test_a_program_refuses_unavailable_processors(start: Start, cpus: str) -> None:
    [peer] = find_peers().choose(["futex"])
    code, _, err = start(str(peer.program), "--shape", "pair", "--sub-cpus", cpus).end()
    assert code == 1
    assert "--sub-cpus" in err


def test_a_placement_has_one_spelling() -> None:
    assert placement.canonical(" sub=3,1,2  pub=0-1 ") == "pub=0-1;sub=1-3"
    assert placement.canonical("") == ""
    assert placement.listed({7, 0, 1, 2, 9}) == "0-2,7,9"
    with pytest.raises(ValueError, match="not a list"):
        placement.cpus_of("1-")


def test_commands_check_placements() -> None:
    found = experiment.parse("lab: 1\nworkload: pair\nplacement: {pub: 1000}\n", "x.yaml")
    with pytest.raises(Error, match="pub is placed on processor 1000") as caught:
        commands.resolved(found)
    assert "taskset" in caught.value.advice
