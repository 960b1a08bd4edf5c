"""The rules by which goldens are compared and updated."""

from __future__ import annotations

from pathlib import Path

import compat
import goldens
import pytest
import surfaces
from goldens import Listing, UpdateError, compare, current_version, flat, is_released, same_line
from surfaces import Promise, Surface

CHANGELOG = "## [0.2.0] - unreleased\n\n## [0.1.0] - 2027-01-31\n"


def test_removed_changed_and_new_parts_are_found() -> None:
    found = compare({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "d": 4})
    assert found.broken == ["changed: b: 2 → 5", "removed: c"]
    assert found.new == ["new: d: 4"]


def test_the_leaves_of_nested_data_are_compared() -> None:
    assert flat({"a": [{"b": 1}, []], "c": None}) == {"a.0.b": 1, "a.1": [], "c": None}


def test_a_listing_is_read_as_it_was_written(tmp_path: Path) -> None:
    listing: Listing = {"plain": "ü → 1", "nested": {"a": [1, 2], "b": None}, "empty": {}}
    goldens.write(tmp_path / "new/one.json", listing)
    assert goldens.read(tmp_path / "new/one.json") == listing


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.1.0", "0.1.9", True),
        ("0.1.0", "0.2.0", False),
        ("0.9.0", "1.0.0", False),
        ("1.0.0", "1.4.0", True),
        ("1.4.0", "2.0.0", False),
    ],
)
def test_a_versioned_interface_may_change_with_its_version(
    one: str, other: str, same: bool
) -> None:
    assert same_line(one, other) == same


def test_versions_are_ordered_by_number(tmp_path: Path) -> None:
    for name in ("0.10.0", "0.9.1", "1.0.0", "notes"):
        (tmp_path / name).mkdir()
    assert goldens.versions(tmp_path) == ["0.9.1", "0.10.0", "1.0.0"]


def test_a_released_version_is_not_updated() -> None:
    assert is_released("0.1.0", CHANGELOG)
    assert not is_released("0.2.0", CHANGELOG)
    compat.refuse_released("0.2.0", CHANGELOG, False)
    compat.refuse_released("0.1.0", CHANGELOG, True)
    with pytest.raises(UpdateError, match="Raise the version"):
        compat.refuse_released("0.1.0", CHANGELOG, False)


class Kept:
    """An interface in a folder of its own. `listing` is that of today."""

    def __init__(self, promise: Promise, **listing: object) -> None:
        number = "kVersion" if promise in (Promise.EXACT, Promise.NUMBER) else ""
        self.surface = Surface("one", promise, lambda _: self.listing, number)
        self.listing: Listing = {**listing}
        self.surface.update(current_version())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(surfaces, "FOLDER", tmp_path)
    monkeypatch.setattr(compat, "FOLDER", tmp_path)
    monkeypatch.setattr(compat, "versions", lambda: goldens.versions(tmp_path))
    return tmp_path


def test_an_update_keeps_the_interface_of_today() -> None:
    kept = Kept(Promise.LINE, a=1)
    kept.listing = {"a": 2, "b": 3}
    assert kept.surface.broken(current_version()) == ["changed: a: 1 → 2"]
    assert kept.surface.update(current_version()).lines() == ["changed: a: 1 → 2", "new: b: 3"]
    assert not kept.surface.difference(current_version())


def test_the_command_prints_each_change_and_keeps_it(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(Promise.LINE, a=1)
    assert compat.check([kept.surface]) == 0
    kept.listing = {"b": 2}
    capsys.readouterr()
    assert compat.check([kept.surface]) == 1
    lines = [f"{current_version()} one: {line}" for line in ("removed: a", "new: b: 2")]
    assert capsys.readouterr().out.splitlines() == lines
    with pytest.raises(UpdateError, match="is released"):
        compat.update([kept.surface], f"## [{current_version()}] - 2027-01-31\n", False)
    assert compat.update([kept.surface], "", False) == 0
    assert capsys.readouterr().out.splitlines() == ["one: removed: a", "one: new: b: 2"]
    assert compat.check([kept.surface]) == 0


@pytest.mark.parametrize("promise", [Promise.EXACT, Promise.NUMBER])
def test_a_numbered_interface_changes_with_its_number_only(promise: Promise) -> None:
    kept = Kept(promise, number=4, size=8)
    kept.listing = {"number": 4, "size": 9}
    with pytest.raises(UpdateError, match="raise kVersion"):
        kept.surface.update(current_version())
    kept.listing = {"number": 5, "size": 9}
    kept.surface.update(current_version())
    assert not kept.surface.difference(current_version())


def test_only_an_exact_interface_refuses_additions(folder: Path) -> None:
    exact = Kept(Promise.EXACT, number=1)
    exact.listing = {"number": 1, "more": 2}
    assert exact.surface.broken(current_version()) == ["new: more: 2"]

    (folder / current_version()).rename(folder / "0.0.1")
    growing = Kept(Promise.NUMBER, number=1)
    growing.listing = {"number": 1, "more": 2}
    assert growing.surface.broken(current_version()) == []


@pytest.mark.parametrize(
    ("promise", "broken"),
    [
        (Promise.ALWAYS, True),
        (Promise.LINE, False),
        (Promise.PRESENT, False),
        (Promise.NUMBER, True),
        (Promise.EXACT, True),
    ],
)
def test_a_promise_to_an_older_version_holds_as_long_as_stated(
    promise: Promise, broken: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(promise, number=1, a=1)
    (folder / current_version()).rename(folder / "0.0.1")
    kept.listing = {"number": 1, "a": 2}
    assert bool(kept.surface.broken("0.0.1")) == broken
    monkeypatch.setattr(surfaces, "current_version", lambda: "0.0.1")
    assert kept.surface.broken("0.0.1")
