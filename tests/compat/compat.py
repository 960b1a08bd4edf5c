"""scripts/compat [check] [SURFACE...]
scripts/compat update [--released] [SURFACE...]

check compares the public interfaces of this build with the kept ones in tests/compat. update keeps
those of today for the present version. It refuses a version that is released, unless --released is
given, and a numbered interface that changed without its number. Both need `make build`.
docs/reference/compatibility.md has the rules.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import c_interface
import kept_recordings
from goldens import FOLDER, ROOT, UPDATE, UpdateError, current_version, is_released, versions
from surfaces import HEADER, SURFACES, Surface

FULL_PLAN = ROOT / "examples/robot.full.yaml"
NO_ABIGAIL = "abidw and abidiff are missing: apt-get install abigail-tools"


def check(chosen: list[Surface]) -> int:
    """Prints each difference. Returns 1 if there is one."""
    lines = []
    for version in versions():
        for surface in chosen:
            found = surface.broken(version)
            if version == current_version():
                found = surface.difference(version).lines()
            lines += [f"{version} {surface.name}: {line}" for line in found]
    print("\n".join(lines) or "every kept interface is as it was")
    return 1 if lines else 0


def update(chosen: list[Surface], changelog: str, released: bool) -> int:
    """Keeps the interfaces of today. Prints the changes."""
    version = current_version()
    refuse_released(version, changelog, released)
    _prepare(FOLDER / version, [surface.name for surface in chosen])
    for surface in chosen:
        found = surface.update(version)
        print(
            "\n".join(f"{surface.name}: {line}" for line in found.lines()) or f"{surface.name}: -"
        )
    if any(surface.name == "c" for surface in chosen):
        if shutil.which("abidw") is None:
            raise UpdateError(f"c.abi is not updated: {NO_ABIGAIL}")
        write_abi(FOLDER / version / "c.abi")
    return 0


def refuse_released(version: str, changelog: str, released: bool) -> None:
    if is_released(version, changelog) and not released:
        raise UpdateError(
            f"{version} is released (CHANGELOG.md), so its kept files are a promise. Raise the "
            "version in pyproject.toml and CMakeLists.txt, or give --released"
        )


def _prepare(folder: Path, chosen: list[str]) -> None:
    """Brings the input of the listings up to date: the plan with every key, and recordings."""
    if "plans" in chosen:
        (folder / "plans").mkdir(parents=True, exist_ok=True)
        for path in (*_plans_before(folder), FULL_PLAN):
            name = "full.yaml" if path == FULL_PLAN else path.name
            shutil.copyfile(path, folder / "plans" / name)
    recordings = folder / "recordings"
    if "recordings" in chosen and (
        not recordings.exists()
        or kept_recordings.shape(recordings) != kept_recordings.shape_of_today()
    ):
        shutil.rmtree(recordings, ignore_errors=True)
        kept_recordings.write(recordings)


def _plans_before(folder: Path) -> list[Path]:
    """The plans of the last version, for a version that has none."""
    before = [version for version in versions() if version != folder.name]
    if any((folder / "plans").iterdir()) or not before:
        return []
    return sorted((FOLDER / before[-1] / "plans").glob("*.yaml"))


def write_abi(path: Path) -> None:
    c_interface.write_abi(HEADER, c_interface.functions(HEADER), path)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/compat",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("check", "update"), nargs="?", default="check")
    parser.add_argument("surfaces", nargs="*", metavar="SURFACE", help="an interface. Default: all")
    parser.add_argument("--released", action="store_true", help="change a released version")
    options = parser.parse_args()
    names = {surface.name: surface for surface in SURFACES}
    wrong = [name for name in options.surfaces if name not in names]
    if wrong:
        parser.error(f"{wrong[0]} is not an interface: {', '.join(names)}")
    chosen = [names[name] for name in options.surfaces] or list(SURFACES)
    try:
        if options.command == "check":
            return check(chosen)
        return update(chosen, (ROOT / "CHANGELOG.md").read_text(), options.released)
    except UpdateError as error:
        print(f"{UPDATE}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
