"""Plain values of the command line are converted as typer converts them, without pydantic."""

from __future__ import annotations

import inspect
import itertools
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from helpers import Start
from hyphos.cli.plain import PlainCommand, PlainGroup
from typer.core import TyperCommand
from typer.main import get_command

KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "text": (str, {}),
    "count": (int, {}),
    "percent": (int, {"min": 0, "max": 100}),
    "clamped": (int, {"min": 0, "max": 100, "clamp": True}),
    "rate": (float, {}),
    "share": (float, {"min": 0, "max": 1}),
    "path": (Path, {}),
    "file": (Path, {"exists": True, "dir_okay": False}),
    "folder": (Path, {"exists": True, "file_okay": False}),
    "target": (Path, {"writable": True, "dir_okay": False}),
    "resolved": (Path, {"resolve_path": True}),
    "parsed": (int, {"parser": lambda text: int(text) + 1}),
    "words": (list[str], {}),
    "numbers": (list[float], {}),
    "files": (list[Path], {"exists": True}),
    "point": (tuple[float, float], {}),
    "flag": (bool, {}),
}
WORDS = [
    "", " ", "0", "1", "-1", "+7", "007", "12345678901234567890", "1_000", " 5", "0x10", "١",
    "0.5", "-.5", "1.", "1e3", "1E-3", "1e400", "nan", "inf", "-Infinity", "true", "no", "None",
    "a", "ä", "a//b", "~", "-", ".", "here", "here/", "here/file", "here/nothing", "file\0",
    "x" * 300,
]  # fmt: skip


def run(kind: Any, settings: dict[str, Any], words: list[str], *, plain: bool) -> str:
    """The converted value of `--it`, or the error."""
    got: list[object] = []

    def command(**given: Any) -> None:
        got.append(given["it"])

    option = Annotated[kind | None, typer.Option("--it", **settings)]
    it = inspect.Parameter("it", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
    command.__signature__ = inspect.Signature([it])  # type: ignore[attr-defined]
    command.__annotations__ = {"it": option}
    app = typer.Typer(add_completion=False)
    app.command(cls=PlainCommand if plain else TyperCommand)(command)
    try:
        get_command(app)(words, standalone_mode=False)
    except Exception as error:  # noqa: BLE001 - its text is the result
        return f"{type(error).__name__}: {error}"
    return f"{got[0]!r}"


@pytest.mark.parametrize("name", KINDS)
def test_values_and_errors_are_those_of_typer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here/file").touch()
    monkeypatch.chdir(tmp_path)
    kind, settings = KINDS[name]
    lines: list[list[str]]
    if name == "flag":
        lines = [[], ["--it"]]
    elif name == "point":
        lines = [["--it", *pair] for pair in itertools.product(WORDS[:20], WORDS[2:6])]
    else:
        lines = [[], *(["--it", word] for word in WORDS), ["--it", "1", "--it", "2"]]
    for words in lines:
        assert run(kind, settings, words, plain=True) == run(kind, settings, words, plain=False)


def test_a_group_converts_plain_values() -> None:
    seen: list[object] = []
    app = typer.Typer(cls=PlainGroup, add_completion=False)

    @app.callback(invoke_without_command=True)
    def show(size: Annotated[int, typer.Option("--size", min=1)] = 3) -> None:
        seen.append(size)

    @app.command()
    def one() -> None:
        pass

    for words in ([], ["--size", "4"]):
        get_command(app)(words, standalone_mode=False)
    assert seen == [3, 4]
    with pytest.raises(Exception, match="greater than or equal to 1"):
        get_command(app)(["--size", "0"], standalone_mode=False)


@pytest.mark.parametrize(
    "words",
    [
        ["channel", "list", "--json"],
        ["channel", "echo", "scan", "--timeout", "0.001", "-n", "1"],
        ["time", "--json"],
        ["plan", "robot.yaml", "--set", "domain=other"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_commands_start_without_pydantic(
    start: Start, domain: str, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "robot.yaml").write_text("hyphos: 1\n")
    if words[0] in ("channel", "time"):
        words = [*words, "-d", domain]
    program = start(sys.executable, "-X", "importtime", "-m", "hyphos", *words)
    _, _, errors = program.end()
    assert "| hyphos.cli.main" in errors.replace("  ", "")
    assert "pydantic" not in errors
