"""The common base of resources with a set-up and a tear-down: networks, limits."""

from __future__ import annotations

from typing import Self

from hyphos._closing import Closing


class Standing(Closing):
    """Up within its `with` block."""

    def up(self) -> Self:
        raise NotImplementedError

    def down(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.down()

    def __enter__(self) -> Self:
        return self.up()
