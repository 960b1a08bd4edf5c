"""The modules that the package imports only in its commands, and their sources.

pyproject.toml lists the sources: the dependencies of the package, and the extras.
"""

from __future__ import annotations

from pathlib import Path

from hyphos._errors import Error

_PACKAGE = ""  # a dependency of the package itself
_EXTRA_OF = {
    "foxglove": "foxglove",
    "lz4": _PACKAGE,
    "matplotlib": "lab",
    "pyarrow": "parquet",
    "rich": _PACKAGE,
    "rosbags": "ros",
    "typer": _PACKAGE,
    "yaml": _PACKAGE,
    "zstandard": _PACKAGE,
}
# Debian has python3-MODULE for all but these, which come from PyPI.
_ONLY_ON_PYPI = {"foxglove": "foxglove-sdk", "pyarrow": "pyarrow", "rosbags": "rosbags"}


def missing_extra(problem: ModuleNotFoundError) -> Error | None:
    """The error for a missing module of the commands. None if another module is missing."""
    module = (problem.name or "").partition(".")[0]
    if module not in _EXTRA_OF:
        return None
    return Error(
        "unsupported",
        f"this command needs the Python module '{module}', which is not installed",
        advice=remedy(module),
    )


def remedy(module: str, place: Path = Path(__file__)) -> str:
    """The command that installs an optional dependency. `place` is a file of this package."""
    if "dist-packages" not in place.parts:
        extra = _EXTRA_OF[module]
        return f"pip install 'hyphos[{extra}]'" if extra else "pip install 'hyphos'"
    # The Python of Debian refuses `pip install` outside an environment.
    if module in _ONLY_ON_PYPI:
        return (
            "python3 -m venv --system-site-packages ENV && "
            f"ENV/bin/pip install {_ONLY_ON_PYPI[module]}, then ENV/bin/python -m hyphos"
        )
    return f"apt install python3-{module}"
