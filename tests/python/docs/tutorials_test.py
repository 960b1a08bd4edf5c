"""The first page and the tutorials work as printed, with an installed package.

Each test writes the files of a page and types its commands, in the order of the page. Outputs that
a page shows must be printed. scripts/first_hour does the same on two machines, without the changes
that tests beside others need.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from doc_blocks import ROOT, Block, blocks_of
from doc_terminals import PageError, Terminals, Typed, steps_of


def go(terminals: Terminals, *pages: str) -> dict[str, list[str]]:
    """Returns the outputs of each command."""
    printed: dict[str, list[str]] = {}
    for page in pages:
        for step in steps_of(list(blocks_of((ROOT / page).read_text(), page))):
            if isinstance(step, Block):
                terminals.write(step)
            elif not re.match(r"make |export PATH=", step.line):  # done by the fixtures
                printed.setdefault(step.line, []).append(terminals.type(step))
        terminals.stop()
    return printed


def test_the_first_page_works_as_printed(terminals: Terminals) -> None:
    page = (ROOT / "README.md").read_text()
    section = page[page.index("## Your own robot") : page.index("## Use it")]
    for step in steps_of(list(blocks_of(section, "README.md"))):
        if isinstance(step, Typed) and not re.match(r"make |export PATH=", step.line):
            output = terminals.type(step)
            if step.line.startswith("hyphos run"):
                assert "cm before the wall" in output


@pytest.mark.parametrize("name", ["first_robot_cpp", "first_robot_python"])
def test_a_tutorial_works_as_printed(name: str, terminals: Terminals) -> None:
    printed = go(terminals, f"docs/tutorials/{name}.md")
    assert "data: true" in printed["hyphos channel echo heater -n 1"][-1]


def test_the_tutorial_of_a_robot_works_as_printed(terminals: Terminals) -> None:
    printed = go(terminals, "docs/tutorials/your_own_robot.md")
    assert "closing_m_s" in terminals.folder.joinpath("my_robot/gap.proto").read_text()
    assert "cmd_vel" in printed["hyphos bag info again.mcap"][0]
    tests = printed["python3 -m pytest"]
    assert ["3 passed" in tests[-1], "2 passed" in tests[0]] == [True, True], tests


def test_the_page_of_own_types_works_as_printed(terminals: Terminals) -> None:
    printed = go(terminals, "docs/how-to/own_types.md")
    assert len(printed) >= 4


# --- The comparison itself ------------------------------------------------------------------------


def page_of(text: str, folder: Path) -> Terminals:
    terminals = Terminals(folder, {**os.environ})
    for step in steps_of(list(blocks_of(text, "page.md"))):
        if isinstance(step, Block):
            terminals.write(step)
        else:
            terminals.type(step)
    return terminals


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse\n```\n",
        "```sh\nno_such_program_of_a_page\n```\n",
        "```\n$ echo speed: 3 m\nspeed: 5 m\nend\n```\n",
        "```\n$ echo speed: fast\nspeed: 5\n```\n",
        "```sh\nhyphos_missing || exit 3\n```\n",
    ],
)
def test_a_page_that_lies_is_noticed(text: str, tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    with pytest.raises(PageError):
        page_of(text, tmp_path / "page")


def test_numbers_of_a_page_may_differ(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    page_of("```\n$ echo 'speed:   3.5 m, -2'\nspeed: 12 m, 7\n```\n", tmp_path / "page")


def test_a_terminal_keeps_its_folder_and_variables(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    text = (
        "```sh\nmkdir inside\ncd inside\nexport WORD='a b'\n```\n\n"
        "<!-- block: file deep/text -->\n```\nhello\n```\n\n```\n$ cat deep/text\nhello\n"
        "$ echo $WORD\na b\n```\n"
    )
    assert page_of(text, tmp_path / "page").folder == tmp_path / "page/inside"
