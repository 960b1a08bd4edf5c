"""Nothing that is public has changed since a version whose promise still holds, and the files of
the present version list everything.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import c_interface
import compat
import pytest
import yaml
from goldens import FOLDER, UPDATE, current_version, flat, read, versions
from surfaces import HEADER, SURFACES, Surface

MISSING = shutil.which("abidiff") is None


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_nothing_public_has_changed(surface: Surface, version: str) -> None:
    broken = surface.broken(version)
    assert not broken, "\n".join(
        [
            f"{surface.name}: the promise to users of {version} is broken. It holds "
            f"{surface.promise.value}. Undo the change, or see docs/reference/compatibility.md:",
            *broken,
        ]
    )


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_the_present_version_lists_everything(surface: Surface) -> None:
    new = surface.difference(current_version()).new
    assert not new, "\n".join([f"run `{UPDATE} {surface.name}`:", *new])


def test_the_present_version_has_a_folder() -> None:
    assert current_version() in versions(), f"run `{UPDATE}`"


def test_the_kept_full_plan_has_every_key() -> None:
    kept = yaml.safe_load((FOLDER / current_version() / "plans/full.yaml").read_text())
    today = yaml.safe_load(compat.FULL_PLAN.read_text())
    assert flat(today).keys() <= flat(kept).keys(), f"run `{UPDATE} plans`"


# --- abidiff ------------------------------------------------------------------------------------


def changes_of(
    header: str, names: list[str], folder: Path, version: str = current_version()
) -> tuple[bool, str]:
    """Compares the text of a header with the kept ABI of a version."""
    kept = FOLDER / version
    path = folder / "header.h"
    path.write_text(c_interface.without_growth(header, read(kept / "c.json")))
    c_interface.write_abi(path, names, folder / "today.abi")
    return c_interface.abi_changes(kept / "c.abi", folder / "today.abi")


@pytest.fixture(scope="module")
def names() -> list[str]:
    if MISSING:
        pytest.skip(compat.NO_ABIGAIL)
    return c_interface.functions(HEADER)


@pytest.mark.parametrize("version", versions())
def test_the_c_interface_has_the_kept_abi(names: list[str], tmp_path: Path, version: str) -> None:
    changed, report = changes_of(HEADER.read_text(), names, tmp_path, version)
    assert not changed, report


OFFLINE = "int32_t offline;"  # the last field of a struct that may grow


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int32_t hyphos_abi(void)", "int64_t hyphos_abi(void)"),
        ("uint32_t most,", "uint64_t most,"),
        ("uint64_t sequence;    /*", "uint32_t sequence;    /*"),
        ("uint32_t taken; ", "uint32_t first; uint32_t taken; "),
        (OFFLINE, f"uint64_t between; {OFFLINE}"),
        (OFFLINE, ""),
    ],
)
def test_abidiff_finds_a_change(names: list[str], tmp_path: Path, old: str, new: str) -> None:
    text = HEADER.read_text()
    assert old in text
    changed, report = changes_of(text.replace(old, new, 1), names, tmp_path)
    assert changed, report


def test_abidiff_finds_a_missing_function(names: list[str], tmp_path: Path) -> None:
    changed, report = changes_of(HEADER.read_text(), names[1:], tmp_path)
    assert changed
    assert names[0] in report


def test_abidiff_allows_additions(names: list[str], tmp_path: Path) -> None:
    text = HEADER.read_text()
    abi = "HYPHOS_API int32_t hyphos_abi(void);"
    for old, more in ((OFFLINE, "uint64_t added;"), (abi, "HYPHOS_API int hyphos_more(void);")):
        assert old in text
        text = text.replace(old, f"{old} {more}", 1)
    changed, report = changes_of(text, [*names, "hyphos_more"], tmp_path)
    assert not changed, report
    assert "hyphos_more" in report
