"""Key pairs for encrypted and authenticated links."""

from __future__ import annotations

import os
from pathlib import Path

from hyphos import _hyphos
from hyphos._errors import Error


def make_keys(prefix: Path) -> None:
    """Writes PREFIX.pub and PREFIX.key (mode 0600). Raises an error if one of them exists."""
    public, secret = _hyphos.make_curve_keys()
    _write(prefix.with_name(prefix.name + ".key"), secret, 0o600)
    _write(prefix.with_name(prefix.name + ".pub"), public, 0o644)


def _write(path: Path, key: str, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError as error:
        raise Error(
            "already_exists",
            "the key file already exists",
            str(path),
            advice="choose another prefix, or remove the old pair",
        ) from error
    except OSError as error:
        raise Error("io", f"cannot write the key: {error.strerror}", str(path)) from error
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(key + "\n")
    print(f"wrote {path}")
