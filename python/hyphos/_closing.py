"""What `with` does with everything here that has a close()."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """Closed at the end of its `with` block, also by an exception."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
