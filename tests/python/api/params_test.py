"""Parameters from Python and from the command line, over real processes."""

from __future__ import annotations

import enum
import json
import os
import signal
from pathlib import Path

import hyphos
import numpy as np
import pytest
from helpers import Cli, Inbox, Start, wait_until

OWNER = """
import sys
import hyphos

node = hyphos.Node.open("cruise", sys.argv)
params = node.params()
params.declare("speed", 0.5, unit="m/s", description="how fast to go", range=(0, 2))
params.declare("limit", 1.0, unit="m/s", range=(0, 2))
params.declare("mode", "calm", choices=["calm", "brisk"])
params.declare("laser.angles", [-1.5, 1.5], unit="rad")
params.declare("name", "front: left")
params.declare("fixed", 7, read_only=True)
params.check(lambda now: None if now["speed"] <= now["limit"] else "speed is above limit")
print("ready", flush=True)
node.spin()
"""


@pytest.fixture
def cruise(python: Start, domain: str) -> str:
    assert python(OWNER, "--hyphos-domain", domain).line() == "ready"
    return domain


class Gait(enum.Enum):
    walk = 1
    trot = 2


def test_every_type_is_declared_read_and_set() -> None:
    with hyphos.Node.open("n", offline=True) as node:
        params = node.params()
        on = params.declare("on", True)
        count = params.declare("count", 3, range=(0, 10))
        gain = params.declare("gain", 1, type=float)
        name = params.declare("name", "a")
        key = params.declare("key", b"\x00\xff")
        empty = params.declare("empty", [], type=list[int])
        words = params.declare("words", ["a", "b"])
        gait = params.declare("gait", Gait.walk)
        assert (on.value, count.value, gain.value, name.value) == (True, 3, 1.0, "a")
        assert isinstance(gain.value, float)
        assert (key.value, empty.value, words.value) == (b"\x00\xff", [], ["a", "b"])
        assert gait.value.name == "walk"
        gait.set(Gait.trot)
        assert gait.value.name == "trot"
        params.set(
            {
                "gain": np.float32(0.5),
                "empty": np.array([1, 2]),
                "words": ("c",),
                "count": np.int64(4),
                "on": np.bool_(False),
            }
        )
        assert (gain.value, empty.value, words.value) == (0.5, [1, 2], ["c"])
        assert (count.value, on.value) == (4, False)
        assert params["name"] == "a"
        info = params.values().find("count")
        assert info is not None
        assert (info.type, info.default, info.origin, info.allowed) == (
            "integer",
            3,
            "set",
            "0 to 10",
        )
        with pytest.raises(KeyError, match="did you mean 'count'"):
            params["cuont"]


def test_invalid_values_are_refused_with_the_reason() -> None:
    with hyphos.Node.open("n", offline=True) as node:
        params = node.params()

        def odd(value: int) -> None:
            if value % 2 == 0:
                raise ValueError(f"{value} is even")

        count = params.declare("count", 1, range=(0, 9), check=odd)
        gait = params.declare("gait", Gait.walk, check=lambda g: g is Gait.walk or "no trotting")
        for value, reason in ((4, "4 is even"), (11, "not in 0 to 9"), ("x", "expected integer")):
            with pytest.raises(hyphos.Error, match=reason):
                params.set({"count": value})
        with pytest.raises(hyphos.Error, match="no trotting"):
            gait.set(Gait.trot)
        assert (count.value, gait.value) == (1, Gait.walk)
        with pytest.raises(hyphos.Error) as refused:
            params.set({"count": 3, "gone": 1})
        assert refused.value.code == "not_found"
        assert count.value == 1
        with pytest.raises(TypeError, match="dict"):
            params.set({"count": {}})
        with pytest.raises(TypeError, match="not a parameter type"):
            params.declare("what", 1, type=dict)
        with pytest.raises(hyphos.Error, match="already declared"):
            params.declare("count", 1)


def test_watchers_get_values_and_names(inbox: Inbox) -> None:
    with hyphos.Node.open("n", offline=True) as node:
        params = node.params()
        speed = params.declare("speed", 1.0)
        params.declare("other", 1)
        params.watch(lambda now: inbox((now.changed, now["speed"])))
        only = Inbox()
        speed.watch(only)
        params.set({"other": 2, "speed": 3.0})
        assert inbox.wait(1) == [(["other", "speed"], 3.0)]
        assert only.wait(1) == [3.0]


def test_another_process_is_read_set_and_watched(cruise: str, inbox: Inbox) -> None:
    with hyphos.Node.open("tool", domain=cruise) as node:
        remote = node.remote_params("cruise")
        remote.wait(timeout_ms=60_000)
        wait_until(lambda: len(remote.values()) == 6)
        assert hyphos.nodes_with_params(cruise) == ["cruise"]
        wait_until(lambda: remote.present)  # matching is reported apart from the values
        assert {name: remote[name] for name in remote.values()} == {
            "fixed": 7,
            "laser.angles": [-1.5, 1.5],
            "limit": 1.0,
            "mode": "calm",
            "name": "front: left",
            "speed": 0.5,
        }
        remote.watch(lambda now: inbox((now.changed, now["speed"])))
        remote.set({"speed": 1.5, "limit": 2})
        assert (remote["speed"], remote["limit"]) == (1.5, 2.0)
        assert inbox.wait(1) == [(["limit", "speed"], 1.5)]
        with pytest.raises(hyphos.Error, match="speed is above limit"):
            remote.set({"limit": 1.0})
        with pytest.raises(hyphos.Error, match="read-only"):
            remote.set({"fixed": 8})
        assert remote["limit"] == 2.0


def test_param_get_set_and_describe(cruise: str, hyphos_cli: Cli) -> None:
    def param(*words: str) -> tuple[int, str, str]:
        return hyphos_cli("param", *words, "--domain", cruise, "--timeout", "30")

    assert param("get", "cruise", "speed") == (0, "0.5\n", "")
    assert param("get", "cruise", "name") == (0, "front: left\n", "")
    code, out, _ = param("set", "cruise", "speed", "0.75")
    assert (code, out) == (0, "cruise.speed: 0.5 → 0.75 m/s\n")
    code, out, _ = param("set", "cruise", "speed=1.25", "limit=1.5", "mode=brisk")
    assert code == 0
    assert param("get", "cruise", "mode")[1] == "brisk\n"
    assert param("set", "cruise", "laser.angles", "[-1, 0.5]")[0] == 0
    assert param("get", "cruise", "laser.angles")[1] == "[-1.0, 0.5]\n"
    for words, reason in (
        (("speed", "fast"), "speed (in m/s): expected a number, found 'fast'"),
        (("speed", "1.75"), "speed is above limit"),
        (("speed", "7"), "7.0 is not in 0.0 to 2.0 m/s"),
        (("mode", "birsk"), "did you mean 'brisk'"),
        (("sped", "1"), "did you mean 'speed'"),
        (("fixed", "8"), "read-only"),
        (("speed=1", "limit"), "'limit' is not NAME=VALUE"),
        (("speed=1", "speed=2"), "given twice"),
    ):
        code, _, err = param("set", "cruise", *words)
        assert code == 1
        assert reason in err
        assert "Traceback" not in err
    assert param("get", "cruise", "speed")[1] == "1.25\n"
    code, out, _ = param("describe", "cruise", "speed")
    assert code == 0
    assert out.splitlines() == [
        "speed",
        "  how fast to go",
        "  type     real",
        "  value    1.25 m/s (set)",
        "  default  0.5 m/s",
        "  allowed  0.0 to 2.0 m/s",
    ]
    described = json.loads(param("describe", "cruise", "--json")[1])
    assert [one["name"] for one in described][:2] == ["fixed", "laser.angles"]
    assert described[0]["read_only"] is True


def test_param_list_shows_every_node(cruise: str, hyphos_cli: Cli) -> None:
    code, out, _ = hyphos_cli("param", "list", "--domain", cruise)
    assert code == 0
    assert "laser.angles" in out
    assert "calm, brisk" in out
    listed = json.loads(hyphos_cli("param", "list", "--json", "--domain", cruise)[1])
    assert listed[0]["node"] == "cruise"
    assert len(listed[0]["params"]) == 6
    # The channels that carry parameters are hidden by default.
    assert "_params" not in hyphos_cli("channel", "list", "--domain", cruise)[1]
    assert "_params" in hyphos_cli("channel", "list", "--all", "--domain", cruise)[1]


def test_a_missing_node_is_an_error_with_a_remedy(cruise: str, hyphos_cli: Cli) -> None:
    code, _, err = hyphos_cli("param", "list", "--domain", cruise + "x")
    assert code == 1
    assert "no Hyphos process runs" in err
    code, _, err = hyphos_cli("param", "get", "crusie", "x", "-d", cruise, "--timeout", "0.1")
    assert code == 1
    assert "did you mean 'cruise'" in err


def test_dump_loads_again_and_a_plan_includes_it(
    cruise: str, hyphos_cli: Cli, tmp_path: Path
) -> None:
    domain = ("--domain", cruise)
    assert hyphos_cli("param", "set", "cruise", "speed=0.25", "name=it's #1", *domain)[0] == 0
    dump = tmp_path / "tuned.yaml"
    assert hyphos_cli("param", "dump", "-o", str(dump), *domain)[0] == 0
    changed = hyphos_cli("param", "dump", "--changed", *domain)[1]
    assert "speed: 0.25" in changed
    assert "mode" not in changed
    assert hyphos_cli("param", "set", "cruise", "speed=1", "name=x", *domain)[0] == 0
    assert hyphos_cli("param", "load", str(dump), *domain) == (0, "cruise: 6 parameters set\n", "")
    assert hyphos_cli("param", "get", "cruise", "speed", *domain)[1] == "0.25\n"
    assert hyphos_cli("param", "get", "cruise", "name", *domain)[1] == "it's #1\n"
    plan = tmp_path / "robot.yaml"
    plan.write_text("hyphos: 1\ninclude: [tuned.yaml]\nnodes:\n  cruise: {params: {mode: brisk}}\n")
    shown = json.loads(hyphos_cli("plan", str(plan), "--json")[1])
    assert shown["nodes"][0]["params"]["speed"] == 0.25
    assert shown["nodes"][0]["params"]["mode"] == "brisk"
    assert shown["nodes"][0]["params"]["laser"]["angles"] == [-1.5, 1.5]


def test_load_is_all_or_nothing_for_a_node(cruise: str, hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("nodes:\n  cruise:\n    params:\n      mode: brisk\n      speed: 9\n")
    code, _, err = hyphos_cli("param", "load", str(file), "--domain", cruise)
    assert code == 1
    assert "not in 0.0 to 2.0" in err
    assert hyphos_cli("param", "get", "cruise", "mode", "--domain", cruise)[1] == "calm\n"
    file.write_text("nodes:\n  cruise:\n    params:\n      mode: brisk\n      speed: fast\n")
    code, _, err = hyphos_cli("param", "load", str(file), "--domain", cruise)
    assert code == 1
    assert f"{file}:5:14: speed: expected a number" in err
    file.write_text("hyphos: 1\n")
    code, _, err = hyphos_cli("param", "load", str(file), "--domain", cruise)
    assert code == 1
    assert "no parameters" in err


def test_save_merges_values_into_a_file(cruise: str, hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "saved.yaml"
    for words in (("speed=0.25",), ("mode=brisk", "laser.angles=[0]")):
        code, _, err = hyphos_cli(
            "param", "set", "cruise", *words, "--save", str(file), "--domain", cruise
        )
        assert (code, err) == (0, "")
    assert file.read_text().splitlines()[1:] == [
        "nodes:",
        "  cruise:",
        "    params:",
        "      laser:",
        "        angles: [0.0]",
        '      mode: "brisk"',
        "      speed: 0.25",
    ]
    plan = tmp_path / "robot.yaml"
    plan.write_text("hyphos: 1\nnodes: {cruise: {}}\n")
    code, _, err = hyphos_cli(
        "param", "set", "cruise", "speed=0.5", "--save", str(plan), "--domain", cruise
    )
    assert code == 1
    assert "keys other than parameters" in err
    assert plan.read_text() == "hyphos: 1\nnodes: {cruise: {}}\n"


def test_watch_prints_changes(cruise: str, hyphos_start: Start, hyphos_cli: Cli) -> None:
    watcher = hyphos_start("param", "watch", "cruise", "-n", "2", "--domain", cruise)
    assert watcher.error_line() == "watching cruise"
    assert hyphos_cli("param", "set", "cruise", "speed=0.25", "mode=brisk", "-d", cruise)[0] == 0
    code, out, _ = watcher.end()
    assert (code, out) == (0, 'cruise.mode = "brisk" (set)\ncruise.speed = 0.25 m/s (set)\n')


def test_a_killed_and_restarted_node_has_its_values(
    python: Start, domain: str, tmp_path: Path
) -> None:
    words = ("--hyphos-domain", domain, "--hyphos-state", str(tmp_path / "run"))
    first = python(OWNER, *words)
    assert first.line() == "ready"
    with hyphos.Node.open("tool", domain=domain) as node:
        remote = node.remote_params("cruise")
        remote.wait(timeout_ms=60_000)
        wait_until(lambda: len(remote.values()) == 6)
        remote.set({"speed": 0.875, "mode": "brisk"})
        os.kill(first.popen.pid, signal.SIGKILL)
        first.popen.wait()
        second = python(OWNER, *words)
        assert second.line() == "ready"
        # Parameters are declared one by one, so the first update may hold one of the six.
        wait_until(lambda: (info := remote.find("speed")) is not None and info.origin == "restored")
        wait_until(lambda: len(remote.values()) == 6)
        assert (remote["speed"], remote["mode"], remote["limit"]) == (0.875, "brisk", 1.0)
