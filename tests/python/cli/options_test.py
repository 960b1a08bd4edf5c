"""Every option of every command refuses an impossible value, before anything starts.

The test generates its cases from the commands. Each option gets values that no option of its type
can accept. The tests of the laboratory cover its commands.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hyphos
import pytest
import typer
from helpers import Cli
from hyphos._hyphos import Plan
from hyphos.cli.main import make_app
from hyphos.msgs import Int64
from typer.core import TyperGroup
from typer.main import get_command

ROOT = Path(__file__).resolve().parents[3]
PLAN = ROOT / "examples/patrol/three_processes.yaml"


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(command, TyperGroup):
        yield path, command
        return
    for name, below in command.commands.items():
        if (*path, name)[0] != "lab":
            yield from leaves(below, (*path, name))


@cache
def commands() -> list[tuple[tuple[str, ...], Any]]:
    return list(leaves(get_command(make_app())))


def kind_of(param: Any) -> str:
    """The type of an option: float, int, path, str or flag."""
    annotation = str(param.type_descriptor.annotation)
    return next(
        (kind for kind in ("bool", "float", "int", "Path", "str") if kind in annotation), "str"
    )


NONSENSE = {
    "float": ["nan", "inf", "-1", "-1e-9", "1e300", "many", ""],
    "int": ["-1", "1" + 30 * "0", "1.5", "many", ""],
    "Path": ["", "FILE/inside", "two\nlines"],
    "str": ["", "  "],
}


def cases() -> list[Any]:
    found = []
    for path, command in commands():
        for param in command.params:
            kind = kind_of(param)
            if (
                not param.opts[0].startswith("-")
                or kind == "bool"
                or getattr(param, "is_flag", False)
            ):
                continue
            for value in NONSENSE[kind]:
                if param.nargs > 1 and re.match(r"-1|$", value):
                    continue  # coordinates may be negative
                if value.strip() == "" and param.default == "":
                    continue  # an empty text is the default
                name = f"{' '.join(path)} {param.opts[0]} {value!r}"
                found.append(pytest.param(path, command, param, value, id=name))
            if param.name == "domain":
                for value in ("two words", "ä", "x" * 33, "a/b"):
                    name = f"{' '.join(path)} --domain {value!r}"
                    found.append(pytest.param(path, command, param, value, id=name))
    return found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("options") / "file"
    made.write_text("")
    return made


def needed(command: Any, but: Any, file: Path) -> list[str]:
    """The other required arguments of the command, so that only one value is wrong."""
    words = []
    for param in command.params:
        if not param.required or param is but:
            continue
        option = [param.opts[0]] if param.opts[0].startswith("-") else []
        value = {"Path": str(file), "float": "1", "int": "1"}.get(kind_of(param), "name")
        words += [*option, *([value] * max(1, param.nargs))]
    return words


@pytest.mark.parametrize(("path", "command", "param", "value"), cases())
def test_an_impossible_value_is_refused_by_name(
    path: tuple[str, ...], command: Any, param: Any, value: str, file: Path
) -> None:
    wrong = value.replace("FILE", str(file))
    words = [*needed(command, param, file), f"{param.opts[0]}={wrong}"]
    words += [wrong] * (param.nargs - 1)
    with pytest.raises(typer.BadParameter) as caught:
        command.make_context(" ".join(path), words)
    text = caught.value.format_message()
    assert param.opts[0] in text, text
    assert len(text) > len(param.opts[0]) + 25, text  # a reason follows the name


def test_options_of_every_type_exist() -> None:
    kinds = [kind_of(case.values[2]) for case in cases()]
    assert all(kinds.count(kind) > 10 for kind in NONSENSE)
    assert len(commands()) > 45


def test_each_default_is_a_valid_value(file: Path) -> None:
    for path, command in commands():
        command.make_context(" ".join(path), needed(command, None, file))


# --- Unknown words and names ----------------------------------------------------------------------

WORDS = [
    ("log", "--level", "loud"), ("diagnostics", "--level", "loud"), ("top", "--sort", "speed"),
    ("graph", "--format", "gif"),
    ("record", "--compression", "rar"), ("graph", "-o", "robot.gif"), ("graph", "-o", "robot.jpeg"),
    ("plan", str(PLAN), "--svg", "robot.gif"), ("plan", str(PLAN), "--set", "nothing"),
    ("plan", str(PLAN), "--set", "channels.scan.depth=-1"), ("plan", "nothing.yaml"),
    ("run", "nothing.yaml"), ("run", str(PLAN), "--process", "nobody"),
    ("run", str(PLAN), "--host", "nowhere"), ("validate", "nothing.yaml"),
    ("run", str(PLAN), "--picture", "map.gif"), ("run", str(PLAN), "--report", "/dev/null/x.html"),
    ("gateway", "carrier_pigeon"), ("gateway", "rosbridge", "--set", "nothing=1"),
    ("gateway", "rosbridge", "--host", "no such host"), ("metrics", "--host", "no such host"),
    ("time", "sim", "--start", "yesterday"), ("time", "sim", "--speed", "0"),
    ("time", "step", "soon"), ("time", "jump", "soon"), ("time", "speed", "-1"),
    ("cosim", "run", "nothing.yaml"), ("cosim", "experiment", "nothing"),
    ("cosim", "run", str(ROOT / "examples/cosim/cosim.yaml"), "--method", "guess"),
    ("bag", "info", "nothing.mcap"), ("bag", "check", "nothing.mcap"),
    ("bag", "convert", "-o", "x.mcap", str(PLAN)), ("msg", "show", "Nothing", "nowhere"),
    ("keys", "/dev/null/key"), ("replay", "nothing.mcap"),
]  # fmt: skip


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_an_unknown_word_is_refused_before_anything_starts(
    words: tuple[str, ...], hyphos_cli: Cli, tmp_path: Path
) -> None:
    code, out, err = hyphos_cli(*words)
    assert code in (1, 2), out
    assert "Traceback" not in err
    assert "started" not in out
    wrong = words[-1].split("=")[0]
    assert wrong.split("/")[-1].lower() in err.lower() or words[-2] in err, err
    assert len(err.strip()) > 20
    assert list(tmp_path.iterdir()) == []  # nothing was started


# --- Options with a new name ----------------------------------------------------------------------

OLD_NAMES = [
    (("lab", "run", "latency", "--patience", "1"), "--patience is now --wait-quiet"),
    (("lab", "calibrate", "--patience=1"), "--patience is now --wait-quiet"),
    (("lab", "profile", "--awake"), "--awake is now --no-cpu-idle"),
    (("lab", "selftest", "--awake"), "--awake is now --no-cpu-idle"),
    (("lab", "selftest", "--may-sleep"), "--may-sleep is now --cpu-idle"),
    (("lab", "verify", "--held-out"), "--held-out is now --test-set"),
    (("lab", "verify", "--anew"), "--anew is now --fresh"),
    (("lab", "calibrate", "--way=shm"), "--way is now --transport"),
]


@pytest.mark.parametrize(("words", "hint"), OLD_NAMES)
def test_an_old_option_name_is_refused_with_the_new_one(
    words: tuple[str, ...], hint: str, hyphos_cli: Cli
) -> None:
    code, out, err = hyphos_cli(*words)
    assert code == 2, out
    assert hint in " ".join(err.replace("│", " ").split())


# --- The plan's keys ------------------------------------------------------------------------------

FULL_PLAN = ROOT / "examples/robot.full.yaml"


def keys_of(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in the plan with every key."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from keys_of(value, (*path, key))
    else:
        yield path


@cache
def _read_plan() -> Any:
    import yaml  # noqa: PLC0415

    return yaml.safe_load(FULL_PLAN.read_text())


def whole_plan() -> Any:
    """A copy. Reading the file for each key would take most of the time of these tests."""
    return copy.deepcopy(_read_plan())


# Keys that accept any text or value: names of variables, arguments, declarations of nodes.
FREE = {"params", "shared_params", "env", "args", "persist", "interface"}
REPEATED = {"plugin_path", "prefix", "protos", "ssh_options", "allowed_keys"}  # may repeat a word
NUMBERS = ["-1", "1e300", ".nan", "'1'", "[1]", "{a: 1}", "many", "1000000000000000000000"]
TEXTS = ["{a: 1}", "[[1]]", "''", '"\\n"', "[a, a]"]


def key_cases() -> list[Any]:
    found = []
    whole = whole_plan()
    for path in keys_of(whole):
        value = whole
        for key in path:
            value = value[key]
        if FREE & set(path):
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        for wrong in NUMBERS if number else TEXTS:
            if wrong == "[a, a]" and path[-1] in REPEATED:
                continue
            key = ".".join(map(str, path))
            found.append(pytest.param(path, wrong, id=f"{key}={wrong}"))
    return found


@pytest.mark.parametrize(("path", "wrong"), key_cases())
def test_a_key_of_the_plan_refuses_an_impossible_value(
    path: tuple[Any, ...], wrong: str, tmp_path: Path
) -> None:
    import yaml  # noqa: PLC0415

    plan = whole_plan()
    part = plan
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = "WRONG"
    file = tmp_path / "robot.yaml"
    file.write_text(yaml.safe_dump(plan, sort_keys=False).replace("WRONG", wrong))
    with pytest.raises(hyphos.Error) as caught:
        Plan.load(str(file), [], False)
    text = str(caught.value)
    assert re.search(r"robot\.yaml:\d+:\d+: ", text), text
    assert str(path[-1]) in text, text


# --- The Python API -------------------------------------------------------------------------------


def test_calls_refuse_impossible_arguments(node: hyphos.Node, domain: str) -> None:
    pub = node.publisher("number", Int64)
    wrong = [
        lambda: hyphos.Node.open("", domain=domain),
        lambda: hyphos.Node.open("two words", domain=domain),
        lambda: hyphos.Node.open("n" * 200, domain=domain),
        lambda: hyphos.Node.open("n", domain="two words"),
        lambda: hyphos.Node.open("n", domain="x" * 33),
        lambda: hyphos.Node.open("n", domain=domain, threads=-1),
        lambda: hyphos.Node.open("n", domain=domain, threads=100_000),
        lambda: hyphos.Node.open("n", domain=domain, clock="lunar"),
        lambda: hyphos.Node.open("n", domain=domain, plan="nothing.yaml"),
        lambda: hyphos.Node.open("n", ["x", "--hyphos-clock", "lunar"]),
        lambda: hyphos.Node.open("n", ["x", "--hyphos-nothing", "1"]),
        lambda: hyphos.Node.open("n", ["x", "--hyphos-base-ns", "-1"]),
        lambda: node.publisher("", Int64),
        lambda: node.publisher("/scan", Int64),
        lambda: node.publisher("hyphos/scan", Int64),
        lambda: node.publisher("number", hyphos.msgs.String),
        lambda: node.subscribe("bad name", Int64, print),
        lambda: node.subscribe("number", Int64, print, mode="sometimes"),
        lambda: node.every(print, period_ms=0),
        lambda: node.every(print, period_ms=-1),
        lambda: node.every(print, period_ms=float("nan")),
        lambda: node.every(print, rate_hz=float("inf")),
        lambda: node.every(print, rate_hz=-5),
        lambda: node.every(print),
        lambda: node.param("a", None),  # type: ignore[type-var]
        lambda: node.param("b", [1]),  # type: ignore[type-var]
        lambda: node.param("c", 1 << 70),
        lambda: node.service("", Int64, Int64, lambda one: one),
        lambda: node.service("/a", Int64, Int64, lambda one: one),
        lambda: node.client("bad name", Int64, Int64),
        lambda: node.transforms("bad name"),
        lambda: node.transforms(history_ms=-1),
        lambda: node.transforms(max_samples=0),
        lambda: node.transforms(max_frames=-1),
        lambda: node.runtime.set_channel_open("nothing", False),
        lambda: node.runtime.set_channel_open("number", False, peer="nobody"),
        lambda: node.runtime.node("tester"),
        node.runtime.load_plugins,
        lambda: hyphos.Policy(depth=0),
        lambda: hyphos.Policy(depth=-1),
        lambda: hyphos.Policy(overflow="flood"),
        lambda: hyphos.Policy(deadline_ms=-1),
    ]
    accepted = []
    for number, call in enumerate(wrong):
        try:
            call()  # type: ignore[no-untyped-call]
        except (hyphos.Error, ValueError, TypeError) as error:
            text = str(error)
            if "incompatible function arguments" in text or len(text) < 10:
                accepted.append((number, text))
        else:
            accepted.append((number, "accepted"))
    assert not accepted, "\n".join(map(str, accepted))
    assert pub.listeners == 0
