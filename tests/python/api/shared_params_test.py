"""The tree of parameters that all nodes share, from Python."""

from __future__ import annotations

from pathlib import Path

import hyphos
import numpy as np
import pytest
from helpers import wait_until

# As the file of the HyperGraph ROS paper: plain, and no node declares a key.
PARAM_FILE = """# parameters of the robot
profile:
  name: "rover"
  car_id:
    level1: 122
    level2: 233
slam:
  rate_hz: 12.5
  corners: [[0, 0], [1.5, 0], []]
  "odd key": ~
on: true
"""
TREE = {
    "profile": {"name": "rover", "car_id": {"level1": 122, "level2": 233}},
    "slam": {"rate_hz": 12.5, "corners": [[0, 0], [1.5, 0], []], "odd key": None},
    "on": True,
}


def test_a_plain_file_of_the_plan_is_read_as_it_is(tmp_path: Path, domain: str) -> None:
    (tmp_path / "param_file.yaml").write_text(PARAM_FILE)
    plan = tmp_path / "robot.yaml"
    plan.write_text(f'hyphos: 1\ndomain: "{domain}"\nshared_params: param_file.yaml\n')
    with hyphos.Node.open("any", plan=str(plan)) as node:
        shared = node.shared_params()
        assert shared.tree() == TREE
        assert shared["profile.car_id.level2"] == 233
        assert shared["slam"] == TREE["slam"]
        assert "profile.name" in shared
        assert "profile.nam" not in shared
        assert shared.get("profile.nam", "none") == "none"
        with pytest.raises(KeyError, match="nam"):
            shared["profile.nam"]
        with pytest.raises(hyphos.Error, match="did you mean") as caught:
            shared.get("profile.nam")
        assert caught.value.code == "not_found"


def test_every_value_of_python_is_set_and_read_back(domain: str) -> None:
    values = {
        "text": "1.5",
        "line": 'a: "b"\n',
        "whole": -7,
        "large": 2**62,
        "real": 1e-300,
        "infinite": float("inf"),
        "off": False,
        "none": None,
        "nested": {"rows": [[1, 2], ["a", None]], "empty": {}, "list": []},
    }
    with hyphos.Node.open("a", domain=domain) as a, hyphos.Node.open("b", domain=domain) as b:
        one, two = a.shared_params(), b.shared_params()
        one.wait()
        one.set(values)
        one.set({"array": np.array([[1.5, 2.0], [3.0, 4.0]]), "number": np.int64(3)})
        assert one.settle() == 1
        expected = {**values, "array": [[1.5, 2.0], [3.0, 4.0]], "number": 3}
        assert two.tree() == expected
        assert isinstance(two["text"], str)
        two.remove("nested.rows")
        assert two.settle() == 1
        assert one["nested"] == {"empty": {}, "list": []}


def test_a_value_that_yaml_cannot_hold_is_refused(domain: str) -> None:
    with hyphos.Node.open("a", domain=domain, offline=True) as node:
        shared = node.shared_params()
        for value in (b"bytes", object(), {1: 2}):
            with pytest.raises(TypeError):
                shared.set({"x": value})
        loop: list[object] = []
        loop.append(loop)
        with pytest.raises(ValueError, match="nested too deeply"):
            shared.set({"x": loop})
        with pytest.raises(hyphos.Error, match="a word between the dots is empty"):
            shared.set({"a..b": 1})
        assert shared.tree() == {}


def test_watchers_get_the_paths_below_theirs(domain: str) -> None:
    seen: list[str] = []
    changed = seen.extend

    with hyphos.Node.open("a", domain=domain) as a, hyphos.Node.open("b", domain=domain) as b:
        watch = b.shared_params().watch(changed, "gain")
        a.shared_params().wait()
        a.shared_params().set({"gain": {"p": 1, "i": 2}, "other": 1})
        wait_until(lambda: seen == ["gain.i", "gain.p"])
        watch.close()
        a.shared_params().set({"gain.p": 3})
        a.shared_params().settle()
        assert b.shared_params()["gain.p"] == 3
        assert seen == ["gain.i", "gain.p"]


def test_load_gives_start_values_that_a_set_value_outlives(tmp_path: Path, domain: str) -> None:
    file = tmp_path / "param_file.yaml"
    file.write_text(PARAM_FILE)
    with hyphos.Node.open("a", domain=domain) as a, hyphos.Node.open("b", domain=domain) as b:
        a.shared_params().set({"on": False})
        b.shared_params().wait()
        b.shared_params().load(str(file))
        assert b.shared_params().tree() == {**TREE, "on": False}
        wait_until(lambda: a.shared_params().tree() == {**TREE, "on": False})
        file.write_text("- 1\n")
        with pytest.raises(hyphos.Error, match="expected a map of parameters"):
            a.shared_params().load(str(file))
