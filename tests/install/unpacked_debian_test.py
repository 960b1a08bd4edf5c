"""Packages of another processor are unpacked, and known by their libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "packaging/wheel"


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    sys.path.insert(0, str(FOLDER))
    try:
        import cross  # noqa: PLC0415
        import debian  # noqa: PLC0415

        yield {"cross": cross, "debian": debian}
    finally:
        sys.path.remove(str(FOLDER))


def package(folder: Path, name: str, source: str, files: dict[str, str]) -> Path:
    """A package of arm64. A file whose content begins with → is a link."""
    tree = folder / name
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: 2:1.0-1\nSource: {source}\nArchitecture: arm64\n"
        "Maintainer: N <n@example.org>\nDescription: x\n"
    )
    for path, content in files.items():
        place = tree / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("→"):
            place.symlink_to(content[1:])
        else:
            place.write_text(content)
    made = folder / f"{name}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-b", str(tree), str(made)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


@pytest.fixture
def tree(modules: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {"lib/a/libone.so.1.2": "code", "lib/a/libone.so.1": "→libone.so.1.2"}
    library = package(tmp_path, "libone1", "one", files)
    files = {"usr/lib/a/libone.so": "→/lib/a/libone.so.1", "usr/include/one.h": ""}
    devel = package(tmp_path, "libone-dev", "one", files)

    class Archive:
        def __init__(self, folder: Path, suite: str, machine: str) -> None:
            assert (suite, machine) == ("bookworm", "aarch64")
            folder.mkdir(parents=True)

        def closure(self, packages: list[str]) -> list[Path]:
            assert packages == ["libone-dev"]
            return [devel, library]

    monkeypatch.setattr(modules["debian"], "Archive", Archive)
    made = modules["debian"].tree(tmp_path / "cache", "bookworm", "aarch64", ["libone-dev"])
    assert isinstance(made, Path)
    return made


def test_a_link_to_the_root_stays_inside(tree: Path) -> None:
    """An absolute link would lead to a library of this machine."""
    link = tree / "usr/lib/a/libone.so"
    assert not link.readlink().is_absolute()
    assert link.read_text() == "code"


def test_each_library_has_an_owner(tree: Path, modules: dict[str, ModuleType]) -> None:
    owners = json.loads((tree / modules["debian"].OWNERS).read_text())
    owner = {"package": "libone1", "version": "2:1.0-1", "source": "one"}
    assert owners["libone.so.1.2"] == owners["libone.so.1"] == owner
    assert owners["libone.so"]["package"] == "libone-dev"
    assert len(owners) == 3


def test_a_tree_is_made_once(tree: Path, modules: dict[str, ModuleType]) -> None:
    """Its name has the packages, so another list makes another tree."""
    (tree / "mark").touch()
    again = modules["debian"].tree(tree.parent, "bookworm", "aarch64", ["libone-dev"])
    assert (again / "mark").exists()
    assert [path.name for path in tree.parent.iterdir()] == [tree.name]


def test_a_cross_build_has_the_libraries_of_packages_txt(modules: dict[str, ModuleType]) -> None:
    found = modules["cross"].libraries()
    assert {"libtbb-dev", "libzstd-dev", "libboost-dev"} <= set(found)
    assert not {"python3-dev", "libgtest-dev", "libfastcdr-dev"} & set(found)
