"""hyphos keys"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def keys(
    prefix: Annotated[
        Path, typer.Argument(help="Writes PREFIX.pub and PREFIX.key.", metavar="PREFIX")
    ],
) -> None:
    """Create a pair of CURVE keys, for `network.curve` in a robot.yaml.

    Share PREFIX.pub with other machines. Keep PREFIX.key secret: only you can read the file.
    Existing files are not overwritten.

    hyphos keys keys/robot
    """
    from hyphos.tools.keys import make_keys  # noqa: PLC0415

    make_keys(prefix)
