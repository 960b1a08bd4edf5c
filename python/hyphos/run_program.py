"""Runs external programs (dot, protoc) to their end."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from hyphos._errors import Error


def run_program(
    program: str,
    words: Sequence[str],
    *,
    missing: Error,
    code: str = "io",
    where: str = "",
    stdin: bytes | None = None,
    folder: str | None = None,
) -> bytes:
    """Returns the program's output. It runs in `folder`, by default the present one.

    Raises `missing` if the program is not installed, and an Error of `code` with its standard error
    if it fails.
    """
    path = shutil.which(program)
    if path is None:
        raise missing
    done = subprocess.run([path, *words], input=stdin, capture_output=True, check=False, cwd=folder)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise Error(code, f"{program} failed: {said}", where or program)
    return done.stdout
