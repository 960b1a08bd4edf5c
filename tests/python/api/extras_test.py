"""The package without the modules that only its commands import."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from helpers import Start
from hyphos import _extras

ROOT = Path(__file__).parents[3]

OPTIONAL = sorted(_extras._EXTRA_OF)
APPLICATIONS = [
    "cli",
    "cosim",
    "csharp",
    "demo",
    "foxglove",
    "gateway",
    "lab",
    "profile",
    "supervise",
]

# As in an environment in which these modules are not installed.
WITHOUT = """
import sys
for name in {names}:
    sys.modules[name] = None
"""

LOADED = f"""
loaded = {{name for name, module in sys.modules.items() if module is not None}}
tops = {{name.partition(".")[0] for name in loaded}}
print(sorted(tops & set({OPTIONAL})))
print(sorted(name for name in {APPLICATIONS} if f"hyphos.{{name}}" in loaded))
print("hyphos.tools" in loaded)
"""


def test_importing_the_package_loads_no_tool(python: Start) -> None:
    program = python("import sys, hyphos, hyphos.msgs\n" + LOADED)
    assert program.end() == (0, "[]\n[]\nFalse\n", "")


def test_no_public_name_loads_an_application(python: Start) -> None:
    source = "import sys, hyphos\nfor name in hyphos.__all__: getattr(hyphos, name)\n" + LOADED
    code, out, err = python(source).end()
    assert (code, out.splitlines()[:2], err) == (0, ["[]", "[]"], "")


def test_nodes_and_recordings_work_without_these_modules(
    python: Start, domain: str, tmp_path: Path
) -> None:
    source = """
import threading
import hyphos
from hyphos.msgs import String

heard = threading.Event()
with hyphos.Node.open("alone", domain=sys.argv[1]) as node:
    word = node.publisher("word", String)
    node.subscribe("word", String, lambda _: heard.set())
    word.publish(String(data="hello"))
    assert heard.wait(60)
    with hyphos.Recording(sys.argv[2], ["word"], domain=sys.argv[1]):
        pass
print("done")
"""
    file = tmp_path / "run.mcap"
    code, out, err = python(WITHOUT.format(names=OPTIONAL) + source, domain, str(file)).end()
    assert (code, out) == (0, "done\n"), err
    assert file.exists()


@pytest.mark.parametrize(
    ("module", "source", "words"),
    [
        ("typer", "hyphos", ["--help"]),
        ("rich", "hyphos", ["demo"]),
        ("yaml", "hyphos", ["channel", "pub", "n", "Twist", "{}"]),
        ("zstandard", "hyphos", ["demo"]),
        ("rosbags", "hyphos[ros]", ["bag", "convert", str(ROOT / "README.md"), "-o", "run.bag"]),
    ],
)
def test_a_command_names_the_package_that_it_needs(
    python: Start, module: str, source: str, words: list[str]
) -> None:
    program = WITHOUT.format(names=[module]) + "from hyphos.program import main\nmain()\n"
    code, out, err = python(program, *words).end()
    assert (code, out) == (1, "")
    assert err == (
        f"error: this command needs the Python module '{module}', which is not installed\n"
        f"  → pip install '{source}'\n"
    )


def test_other_missing_modules_remain_errors_of_the_program() -> None:
    assert _extras.missing_extra(ModuleNotFoundError("no", name="typo")) is None
    assert _extras.missing_extra(ModuleNotFoundError("no")) is None


def test_every_source_of_an_error_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(extras) == {"ros", "foxglove", "lab", "parquet", "all"}
    modules = {"PyYAML": "yaml", "foxglove-sdk": "foxglove"}

    def modules_of(names: list[str]) -> set[str]:
        bare = {name.partition(">")[0] for name in names if not name.startswith("hyphos[")}
        return {modules.get(name, name) for name in bare}

    sources = {"": project["dependencies"], **extras}
    named = {name: {m for m, e in _extras._EXTRA_OF.items() if e == name} for name in sources}
    assert {name: modules_of(names) for name, names in sources.items()} == {
        **named,
        "": named[""] | {"numpy", "protobuf"},
    }
