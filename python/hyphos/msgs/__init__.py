"""The standard messages as protobuf classes, generated from `proto/hyphos/msgs` at build time.

`from hyphos.msgs import LaserScan`, or by family: `from hyphos.msgs.sensor import LaserScan`.
"""

from difflib import get_close_matches
from typing import Any

from hyphos.msgs.clock import *  # noqa: F403
from hyphos.msgs.geometry import *  # noqa: F403
from hyphos.msgs.log import *  # noqa: F403
from hyphos.msgs.nav import *  # noqa: F403
from hyphos.msgs.sensor import *  # noqa: F403
from hyphos.msgs.std import *  # noqa: F403
from hyphos.msgs.tf import *  # noqa: F403
from hyphos.msgs.visualization import *  # noqa: F403


def __getattr__(name: str) -> Any:
    known = [word for word, value in globals().items() if hasattr(value, "DESCRIPTOR")]
    near = get_close_matches(name, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise AttributeError(f"hyphos.msgs has no message '{name}'{hint}")
