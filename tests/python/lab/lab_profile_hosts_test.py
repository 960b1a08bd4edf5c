"""The profiler with messages between hosts by tcp: network namespaces joined by a veth. To act as
two machines, one namespace has a separate clock."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers import Cli, Start, wait_until
from hyphos import _hyphos
from hyphos.lab.links import Link
from hyphos.lab.media import Veth
from lab_places import need
from profiles import Gathered, ages_of, flowing, pipeline_words, to_the_last_callback, ways

FAR_CLOCK = ("unshare", "--time", "--fork", "--kill-child", "--monotonic", "86400")

CASES = """
lab: 1
name: far
workload: pipeline
peers: [hyphos/tcp]
processes: 3
size: 1 KB
rate_hz: 100
link: wire
links: {wire: {kind: veth}}
"""


def plan_of(link: Link, folder: Path, domain: str) -> Path:
    """camera and sink on one host, the filter on the other, so each hop crosses the link."""
    near, far = link["a"].address, link["b"].address
    plan = folder / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {domain}\n"
        f"hosts: {{near: {{address: {near}}}, far: {{address: {far}}}}}\n"
        "processes:\n"
        "  camera: {host: near, nodes: [camera]}\n"
        "  filter: {host: far, nodes: [filter]}\n"
        "  sink: {host: near, nodes: [sink]}\n"
        "nodes: {camera: {}, filter: {}, sink: {}}\n"
        "channels:\n"
        "  image: {type: hyphos.msgs.Int64, publishers: [camera], subscribers: [filter]}\n"
        "  edges: {type: hyphos.msgs.Int64, publishers: [filter], subscribers: [sink]}\n"
    )
    return plan


@need(Veth())
def test_layers_between_hosts_add_up_to_the_measured_latency(
    start: Start, domain: str, tmp_path: Path
) -> None:
    with Link(Veth()) as link:
        plan = str(plan_of(link, tmp_path, domain))
        hosts = {"sink": "a", "filter": "b", "camera": "a"}
        sink = flowing(
            [
                start(*link[host].command(pipeline_words(role, domain, 0.02, plan)))
                for role, host in hosts.items()
            ]
        )
        told = Gathered(domain).until(20, ways)
        ends = [end for one in _hyphos.inspect(domain) for end in one.endpoints]
        sequences = {told.flows.message(way.steps[-1].row)[1] for way in told.paths[0].ways}
        measured = ages_of(sink, sequences)
    assert {end.transports for end in ends if end.channel in ("image", "edges")} == {"zmq"}
    [path] = told.paths
    assert path.name == "camera ─image→ filter ─edges→ sink"
    assert told.worst_sum_error < 0.01
    assert path.uncertainty_ns == 0  # both are on one machine, with one clock
    seen = np.array([measured[told.flows.message(way.steps[-1].row)[1]] for way in path.ways])
    summed = np.array([to_the_last_callback(way) for way in path.ways])
    # For most messages: the camera may be interrupted between its clock reading and publish().
    assert np.median(np.abs(summed - seen) / seen) < 0.01


def two_clocks() -> str:
    """The missing requirement for a separate clock. Empty if there is none."""
    try:
        tried = subprocess.run([*FAR_CLOCK, "true"], capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return tried.stderr.strip() if tried.returncode else ""


@need(Veth())
def test_paths_of_a_machine_with_another_clock_add_up(
    start: Start, domain: str, tmp_path: Path
) -> None:
    if lack := two_clocks():
        pytest.skip(f"no time namespaces: {lack}")
    with Link(Veth()) as link:
        plan = str(plan_of(link, tmp_path, domain))
        words = {r: pipeline_words(r, domain, 0.0, plan) for r in ("sink", "filter", "camera")}
        sink = flowing(
            [
                start(*link["a"].command(words["sink"])),
                start(*link["b"].command([*FAR_CLOCK, *words["filter"]])),
                start(*link["a"].command(words["camera"])),
            ]
        )

        def clocks_known() -> bool:
            processes = _hyphos.inspect(domain)
            known = [one.name for one in processes if one.peer_clocks]
            return {"filter", "sink"} <= set(known) and all(
                clock.samples >= 8 for one in processes for clock in one.peer_clocks
            )

        wait_until(clocks_known, "the clocks to be measured")
        told = Gathered(domain).until(20, ways)
        [path] = [one for one in told.paths if one.hops[-1][1] == "sink"]
        sequences = {told.flows.message(way.steps[-1].row)[1] for way in path.ways}
        measured = ages_of(sink, sequences)
    # The far clock is a day ahead, so every difference used the measured offset.
    assert path.name == "another machine ─edges→ sink"
    assert path.uncertainty_ns > 0
    assert told.worst_sum_error < 0.01
    for way in path.ways:
        seen = measured[told.flows.message(way.steps[-1].row)[1]]
        assert 0 <= to_the_last_callback(way) <= seen + path.uncertainty_ns
    names = {one.name for one in told.paths}
    assert names == {"another machine ─edges→ sink", "another machine ─image→ filter"}


@need(Veth())
def test_an_experiment_between_hosts_gives_layers_that_add_up(
    hyphos_cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "far.yaml").write_text(CASES)
    code, out, err = hyphos_cli(
        "lab", "profile", "--experiment", "far.yaml", "-p", "hyphos/tcp", "--for", "1",
        "--repeats", "2", "--json", "-q",
    )  # fmt: skip
    assert code == 0, err
    [case] = json.loads(out)["cases"]
    assert case["path"].count("→") == 2
    assert "another machine" not in case["path"]
    assert abs(case["apart_from_own_stamps"]) < 0.5
    assert len(case["runs"]) == 2
    for message in case["messages"].values():
        parts = [sum(step["parts_ns"].values()) for step in message["steps"]]
        assert sum(parts) == pytest.approx(message["total_ns"], rel=0.01)


def test_a_peer_for_one_machine_only_is_refused(hyphos_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "far.yaml").write_text(CASES)
    code, _, err = hyphos_cli("lab", "profile", "--experiment", "far.yaml", "-p", "hyphos/shm")
    assert code != 0
    assert "'hyphos/shm': it works on one machine only" in " ".join(err.split())
    assert "-p hyphos/tcp" in " ".join(err.split())
