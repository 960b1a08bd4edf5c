"""Compares the pages of limits with the code: every number, and no missing limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hyphos.tools import doctor

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / f"docs/reference/{name}.md" for name in ("limits", "limits_nodes", "limits_gateways")
]
TEXT = "\n".join(page.read_text() for page in PAGES)
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
ROOMS: tuple[str, ...] = (
    "base",
    "wire",
    "trace",
    "shm",
    "plan",
    "transport",
    "graph",
    "node",
    "record",
    "include",
)
ROOMS += ("gateway", "clients/c")
# Constants with such names that are not limits for a user: sizes of caches and of single steps,
# bounds of parsers (each has an error of its own), and bounds of options (the error has the range).
INTERNAL = frozenset(
    line.strip()
    for line in (Path(__file__).parent / "limits_internal.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
)
_DEFINED = re.compile(r"constexpr[^(;]*?\b(k(?:Max|Most)\w*)\s*[={]")


def _rows() -> list[tuple[str, str, str, str]]:
    """The name, number, file and constant of each row that names a constant."""
    found = []
    for line in TEXT.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        code = re.fullmatch(r"`([\w./]+)` `(\w+)`", cells[2]) if len(cells) == 6 else None
        if code:
            found.append((cells[0], cells[1], code[1], code[2]))
    return found


def _written(number: str) -> int:
    value, _, unit = number.replace(",", "").partition(" ")
    return int(value) * UNITS[unit]


def _constant(file: str, name: str) -> int:
    text = (ROOT / file).read_text()
    found = re.search(rf"\b{name}\b(?:: \w+)?\s*=\s*([^;>\n]+)", text)
    assert found, f"{file} has no {name}"
    expression = found[1].split("//")[0].split("#")[0].replace("'", "")
    expression = re.sub(r"std::u?int\d+_t|std::size_t", "", expression)
    expression = expression.replace("{", "(").replace("}", ")")
    expression = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)(?:U|LL|UL)?\b", r"\1", expression)
    for other in set(re.findall(r"\bk\w+", expression)):
        expression = re.sub(rf"\b{other}\b", str(_constant(file, other)), expression)
    assert re.fullmatch(r"[\d\sxa-fA-F()*+<-]+", expression), expression
    return int(eval(expression))


@pytest.mark.parametrize(("limit", "number", "file", "name"), _rows())
def test_a_number_of_the_page_equals_the_constant_in_the_code(
    limit: str, number: str, file: str, name: str
) -> None:
    assert _written(number) == _constant(file, name), limit


def test_every_limit_in_the_code_is_on_a_page() -> None:
    listed = {f"{file} {name}" for _, _, file, name in _rows()}
    found = set()
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.[ch]pp")):
            for name in _DEFINED.findall(path.read_text()):
                found.add(f"{path.relative_to(ROOT)} {name}")
    assert len(found) > 50
    assert found - listed - INTERNAL == set(), "add them to docs/reference/limits.md"
    assert INTERNAL - found == set(), "remove them from limits_internal.txt"
    assert INTERNAL & listed == set()


def test_every_row_has_all_cells() -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith("| ")]
    assert all(line.count(" | ") == 5 for line in lines), (
        "limit, number, code, counted, beyond, remedy"
    )


def test_every_option_on_the_page_exists_in_the_gateway() -> None:
    options = (ROOT / "gateway/arguments.cpp").read_text()
    command = (ROOT / "python/hyphos/cli/gateway.py").read_text()
    named = set(re.findall(r"`(--max-[a-z-]+)`", TEXT))
    assert len(named) >= 7
    for option in named:
        assert f'"{option}"' in options, option
        assert f'"{option}"' in command, option


def test_the_defaults_of_options_are_the_same_on_all_pages_and_in_the_help() -> None:
    reference = (ROOT / "docs/reference/gateways.md").read_text()
    command = (ROOT / "python/hyphos/cli/gateway.py").read_text()
    checked = 0
    for line in TEXT.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        option = re.fullmatch(r"`(--max-[a-z-]+)`", cells[-1])
        if len(cells) != 6 or option is None:
            continue
        number = _written(cells[1])
        shown = re.search(rf"^\| `{option[1]} N` \|.*\(([\d,]+)\) \|$", reference, re.MULTILINE)
        assert shown and _written(shown[1]) == number, f"{option[1]} in gateways.md"
        parameter = option[1][2:].replace("-", "_")
        help_text = re.search(rf"\n    {parameter}: .*?Default: (\d+)\.", command, re.DOTALL)
        assert help_text and int(help_text[1]) == number, f"{option[1]} in the help"
        checked += 1
    assert checked >= 8


def test_every_refusal_of_a_gateway_names_its_option() -> None:
    """A limit without an option has a row with its constant."""
    fixed = {file.rpartition(".")[0] for _, _, file, _ in _rows()}
    known = set(re.findall(r'"(--[a-z-]+)"', (ROOT / "gateway/arguments.cpp").read_text()))
    checked = 0
    for path in sorted((ROOT / "gateway").rglob("*.[ch]pp")):
        text = path.read_text()
        for place in re.finditer(r"at_limit\((?!std)|the maximum", text):
            if path.name == "limits.hpp":
                continue
            option = re.search(r"--max-[a-z-]+", text[place.start() : place.start() + 500])
            stem = str(path.relative_to(ROOT).with_suffix(""))
            is_known = option[0] in known if option else stem in fixed
            assert is_known, f"{path}: {text[place.start() :][:80]}"
            checked += 1
    assert checked >= 15


def test_the_doctor_has_the_limits_of_the_code() -> None:
    assert _constant("shm/layout.hpp", "kMaxEndpoints") == doctor.MAX_ENDS
    assert _constant("shm/layout.hpp", "kMaxRings") == doctor.MAX_QUEUES
    assert _constant("shm/layout.hpp", "kMaxHolders") == doctor.MAX_HOLDERS
    assert _constant("shm/layout.hpp", "kMaxReceivers") == doctor.MAX_RECEIVERS
