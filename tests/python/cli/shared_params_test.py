"""hyphos param with --shared, and plain files for one node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import hyphos
import pytest
from helpers import Cli, Start

PLAIN = """profile:
  name: rover
  car_id: {level1: 122}
corners: [[0, 0], [1.5, 0]]
"""


@pytest.fixture
def robot(domain: str, tmp_path: Path) -> Iterator[hyphos.Node]:
    (tmp_path / "param_file.yaml").write_text(PLAIN)
    plan = tmp_path / "robot.yaml"
    plan.write_text(f'hyphos: 1\ndomain: "{domain}"\nshared_params: param_file.yaml\n')
    with hyphos.Node.open("mapper", plan=str(plan)) as node:
        node.runtime.ready()
        yield node


def test_the_tree_is_listed_read_and_set(robot: hyphos.Node, domain: str, hyphos_cli: Cli) -> None:
    code, out, err = hyphos_cli("param", "list", "--shared", "-d", domain)
    assert code == 0, err
    assert "profile.car_id.level1" in out
    assert "[[0, 0], [1.5, 0]]" in out
    _, out, _ = hyphos_cli("param", "list", "--shared", "profile", "-d", domain, "--json")
    assert json.loads(out) == {"profile": {"name": "rover", "car_id": {"level1": 122}}}
    assert hyphos_cli("param", "get", "--shared", "profile.name", "-d", domain)[1] == "rover\n"
    code, out, err = hyphos_cli(
        "param", "set", "--shared", "profile.name=scout", "new.rows=[[1], [2, 3]]", "-d", domain
    )
    assert code == 0, err
    assert out == "profile.name: rover → scout\nnew.rows: [[1], [2, 3]]\n"
    assert err == "set in 1 process\n"
    assert robot.shared_params()["profile.name"] == "scout"
    assert robot.shared_params()["new.rows"] == [[1], [2, 3]]
    code, out, _ = hyphos_cli("param", "remove", "new", "-d", domain)
    assert (code, out) == (0, "new is removed from 1 process\n")
    assert "new" not in robot.shared_params()


def test_a_plain_file_is_loaded_and_dumped(
    robot: hyphos.Node, domain: str, hyphos_cli: Cli, tmp_path: Path
) -> None:
    more = tmp_path / "more.yaml"
    more.write_text("profile: {name: scout}\nnobody: {declared: [[1], {a: this}]}\n")
    code, out, err = hyphos_cli("param", "load", "--shared", str(more), "-d", domain)
    assert (code, out) == (0, "2 shared parameters set in 1 process\n"), err
    assert robot.shared_params()["nobody.declared"] == [[1], {"a": "this"}]
    assert robot.shared_params()["profile.car_id.level1"] == 122
    dumped = tmp_path / "dumped.yaml"
    code, _, err = hyphos_cli("param", "dump", "--shared", "-o", str(dumped), "-d", domain)
    assert code == 0, err
    assert hyphos._hyphos.read_tree(str(dumped)) == robot.shared_params().tree()


def test_watch_prints_changed_paths(robot: hyphos.Node, domain: str, hyphos_start: Start) -> None:
    watch = hyphos_start("param", "watch", "--shared", "profile", "-n", "2", "-d", domain)
    assert watch.error_line() == "watching profile"
    robot.shared_params().set({"other": 1})
    robot.shared_params().set({"profile.name": "scout"})
    assert watch.line() == 'profile.name = "scout"'
    robot.shared_params().remove("profile.car_id")
    assert watch.end()[:2] == (0, "profile.car_id.level1 is gone\n")


@pytest.mark.usefixtures("robot")
def test_each_mistake_names_the_remedy(domain: str, hyphos_cli: Cli, tmp_path: Path) -> None:
    code, _, err = hyphos_cli("param", "get", "--shared", "profile.nam", "-d", domain)
    assert code != 0
    assert "did you mean 'profile.name'" in err
    code, _, err = hyphos_cli("param", "set", "--shared", "profile=3", "-d", domain)
    assert code != 0
    assert "'profile' is a map. Set 'profile.car_id' or another value in it" in err
    code, _, err = hyphos_cli("param", "list", "--shared", "-d", domain + "x")
    assert code != 0
    assert f"domain '{domain}x'" in err
    code, _, err = hyphos_cli("param", "get", "mapper", "-d", domain)
    assert code == 2
    assert "NAME is missing" in err
    empty = tmp_path / "empty.yaml"
    empty.write_text("")
    code, _, err = hyphos_cli("param", "load", "--shared", str(empty), "-d", domain)
    assert code != 0
    assert "the file has no parameters" in err


def test_a_domain_without_a_tree_is_an_error_at_once(domain: str, hyphos_cli: Cli) -> None:
    with hyphos.Node.open("plain", domain=domain) as node:
        node.params().declare("x", 1)
        code, _, err = hyphos_cli("param", "list", "--shared", "-d", domain)
    assert code != 0
    assert "no process in domain" in err
    assert "shared_params: in the plan" in err


def test_a_plain_file_is_loaded_for_one_node(domain: str, hyphos_cli: Cli, tmp_path: Path) -> None:
    plain = tmp_path / "slam.yaml"
    plain.write_text("gain: {p: 2, names: [a, b]}\n")
    with hyphos.Node.open("slam", domain=domain) as node:
        gain = node.params().declare("gain.p", 1.0)
        names = node.params().declare("gain.names", ["x"])
        code, _, err = hyphos_cli("param", "load", str(plain), "-d", domain)
        assert code != 0
        assert "--node NODE or --shared" in err
        code, out, err = hyphos_cli("param", "load", str(plain), "--node", "slam", "-d", domain)
        assert (code, out) == (0, "slam: 2 parameters set\n"), err
        assert (gain.value, names.value) == (2.0, ["a", "b"])
