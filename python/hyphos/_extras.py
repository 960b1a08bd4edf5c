"""The modules that the package imports only in its commands, and their sources.

pyproject.toml lists the sources: the dependencies of the package, and the extras.
"""

from __future__ import annotations

from hyphos._errors import Error

_PACKAGE = ""  # a dependency of the package itself
_EXTRA_OF = {
    "foxglove": "foxglove",
    "lz4": _PACKAGE,
    "matplotlib": "lab",
    "mcap": "lab",
    "pyarrow": "parquet",
    "rich": _PACKAGE,
    "rosbags": "ros",
    "typer": _PACKAGE,
    "yaml": _PACKAGE,
    "zstandard": _PACKAGE,
}


def missing_extra(problem: ModuleNotFoundError) -> Error | None:
    """The error for a missing module of the commands. None if another module is missing."""
    module = (problem.name or "").partition(".")[0]
    extra = _EXTRA_OF.get(module)
    if extra is None:
        return None
    source = f"hyphos[{extra}]" if extra else "hyphos"
    return Error(
        "unsupported",
        f"this command needs the Python module '{module}', which is not installed",
        advice=f"pip install '{source}'",
    )
