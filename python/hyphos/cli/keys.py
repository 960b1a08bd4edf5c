"""hyphos keys"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def keys(
    prefix: Annotated[
        Path, typer.Argument(help="PREFIX.pub and PREFIX.key are written.", metavar="PREFIX")
    ],
) -> None:
    """Make a pair of CURVE keys, for `network.curve` in a robot.yaml.

    PREFIX.pub may be given to others; PREFIX.key is secret, readable by you alone. Files that exist
    are not overwritten.

    hyphos keys keys/robot
    """
    from hyphos.tools.keys import make_keys  # noqa: PLC0415

    make_keys(prefix)
