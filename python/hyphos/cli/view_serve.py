"""The option --serve of hyphos view."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from hyphos._errors import Error
from hyphos.cli.schemas import require_foxglove

_MOST_TOKEN = 128
_TOKEN = re.compile(rf"[A-Za-z0-9._~-]{{8,{_MOST_TOKEN}}}")


def checked_address(value: str | None) -> str | None:
    """ ":8080", "8080", "192.168.1.5:8080" or "[::1]:8080"."""
    if value is not None:
        _split(value)
    return value


def _split(value: str) -> tuple[str, int]:
    host, _, port = value.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535 or re.search(r"[\s/]", bare):
        raise typer.BadParameter(
            f"expected [ADDRESS]:PORT, as :8080 or 0.0.0.0:8080, found '{value}'"
        )
    return bare or "127.0.0.1", int(port)


def secret_of(file: Path) -> str:
    """The token in a file that only its owner can read."""
    if file.stat().st_mode & 0o077:
        raise Error(
            "invalid_config", "other users can read this file", str(file), f"chmod 600 {file}"
        )
    with file.open("rb") as opened:
        token = opened.read(_MOST_TOKEN + 3).decode(errors="replace").strip()
    if not _TOKEN.fullmatch(token):
        raise Error(
            "invalid_config",
            "the file holds no token",
            str(file),
            f"write 8 to {_MOST_TOKEN} letters, digits, or . _ ~ - into it",
        )
    return token


def serve(
    address: str,
    token: Path | None,
    packages: Sequence[Path],
    what: Path | None,
    domain: str | None,
    at_s: float | None,
    others: Mapping[str, object],
) -> int:
    """Serves the page. `others` are options for windows and pictures."""
    for name, value in others.items():
        if value is not None:
            raise typer.BadParameter(
                "has no effect with --serve: the page is drawn by browsers", param_hint=name
            )
    is_recording = what is not None and what.suffix not in (".yaml", ".yml")
    if at_s is not None and not is_recording:
        raise typer.BadParameter("needs a recording", param_hint="--at")
    require_foxglove()
    from hyphos.foxglove.view import ViewOptions, serve_view  # noqa: PLC0415

    host, port = _split(address)
    secret = "" if token is None else secret_of(token)
    return serve_view(ViewOptions(host, port, secret, what, domain, at_s, packages))
