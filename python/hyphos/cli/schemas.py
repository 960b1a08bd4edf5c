"""The schemas of recordings, as options name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hyphos.recording.schemas import Conversions


def require_foxglove() -> None:
    """Raises an error with the remedy if foxglove-sdk is not installed."""
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos._extras import remedy  # noqa: PLC0415

    try:
        import foxglove  # noqa: F401, PLC0415
    except ModuleNotFoundError:
        raise Error(
            "unsupported", "foxglove-sdk is not installed", advice=remedy("foxglove")
        ) from None


def foxglove_schemas() -> Conversions:
    """The conversions to the schemas that Foxglove draws."""
    require_foxglove()
    from hyphos.foxglove.recorded import conversion  # noqa: PLC0415

    return conversion


def conversions(name: str) -> Conversions | None:
    """The conversions of the option --schemas. None for the types' own schemas."""
    if name == "hyphos":
        return None
    if name == "foxglove":
        return foxglove_schemas()
    raise typer.BadParameter(f"unknown schemas '{name}': give hyphos or foxglove")
