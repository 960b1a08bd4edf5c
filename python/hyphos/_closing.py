"""The `with` statement for all classes that have a close()."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """Calls close() at the end of the `with` block, also after an exception."""

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
