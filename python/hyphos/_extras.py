"""The optional dependencies of the package. pyproject.toml lists them as extras."""

from __future__ import annotations

from hyphos._errors import Error

_EXTRA_OF = {
    "foxglove": "foxglove",
    "matplotlib": "lab",
    "mcap": "tools",
    "mcap_protobuf": "tools",
    "pyarrow": "parquet",
    "rich": "tools",
    "rosbags": "ros",
    "typer": "tools",
    "yaml": "tools",
}


def missing_extra(problem: ModuleNotFoundError) -> Error | None:
    """The error for a missing optional dependency. None if another module is missing."""
    module = (problem.name or "").partition(".")[0]
    extra = _EXTRA_OF.get(module)
    if extra is None:
        return None
    return Error(
        "unsupported",
        f"this command needs the Python module '{module}', which is not installed",
        advice=f"pip install 'hyphos[{extra}]'",
    )
