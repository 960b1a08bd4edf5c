"""Packages of the npm registry."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_NPM = shutil.which("npm")
needs_npm = pytest.mark.skipif(_NPM is None, reason="no npm to fetch packages with")


def installed(folder: Path, *packages: str) -> Path:
    """Installs the packages below the folder, and returns their folder. Skips the test without a
    connection. npm by itself would try again for many minutes."""
    words = [str(_NPM), "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    words += ["--prefer-offline", "--fetch-retries=0", *packages]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"npm cannot fetch {' '.join(packages)}")
    return folder / "node_modules"
