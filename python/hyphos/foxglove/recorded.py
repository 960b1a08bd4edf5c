"""The well-known schemas of Foxglove in recordings, for `hyphos record --schemas foxglove` and
`hyphos bag convert --to foxglove`."""

from __future__ import annotations

from functools import cache

from hyphos.foxglove import convert
from hyphos.recording.schemas import Conversion


@cache
def conversion(type_name: str, encoding: str) -> Conversion | None:
    """The conversion of a type to the message that Foxglove draws. None if Foxglove has none."""
    known = convert.WELL_KNOWN.get((type_name, encoding))
    if known is None:
        return None
    encode = convert.encoder(type_name, known)
    return Conversion(known.schema.name, known.schema.data, encode)
