"""`python …/__main__.py --peer NAME --role pub|hop|sub …`: options of lab/common/options.hpp."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run by its path: keep its folder behind the standard library
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    import worker  # type: ignore[import-not-found]  # noqa: F401

    del sys.path[0]
    __package__ = "worker"

from .options import Options
from .peer import Peer
from .roles import Role
from .sheet import Sheet


def open_peer(options: Options) -> Peer:
    if options.peer == "rospy":
        from .rospy_peer import RospyPeer  # noqa: PLC0415

        return RospyPeer(options)
    from .hyphos_peer import HyphosPeer  # noqa: PLC0415

    return HyphosPeer(options)


def main() -> int:
    options = Options(sys.argv[1:])
    sheet = Sheet(options)
    Role(options, open_peer(options), sheet).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
