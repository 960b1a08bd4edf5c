"""Programs in C#, compiled for mono."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hyphos import _hyphos
from hyphos.csharp.generate import generate

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = Path(_hyphos.__file__).resolve().parents[2] / "clients" / "c"
ABSENT = "no mono (scripts/setup core csharp)"


def require_mono() -> None:
    """Skips the test if mono is not installed."""
    if not shutil.which("mcs") or not shutil.which("mono"):
        pytest.skip(ABSENT)


def compiled(place: Path, sources: Sequence[Path], protos: Sequence[Path]) -> list[str]:
    """The command that runs a program with the standard messages and those below `protos`."""
    generate([], [], place / "standard")
    generate(protos, [], place / "own")
    folders = [ROOT / "clients/csharp/Runtime", place]
    files = sorted(str(path) for folder in folders for path in folder.rglob("*.cs"))
    words = ["mcs", "-unsafe", "-langversion:7", "-warnaserror+", f"-out:{place}/program.exe"]
    done = subprocess.run(
        [*words, *files, *map(str, sources)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for library in (LIBRARIES / "libhyphos_c.so", LIBRARIES.parents[1] / "libhyphos.so.0"):
        (place / library.name).symlink_to(library)
    return ["mono", str(place / "program.exe")]
