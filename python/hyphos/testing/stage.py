"""The ways in which a robot under test can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from hyphos._hyphos import EndpointInfo, Policy
from hyphos.node import Node
from hyphos.testing.inbox import Offer
from hyphos.tools.graph import RobotGraph

T = TypeVar("T")


class RobotError(AssertionError):
    """The robot did something that the test does not allow."""


@dataclass(frozen=True)
class Trouble:
    """One reason why a test fails. `kind` is process, exception, drops, or the kind of a finding of
    `hyphos run --strict`."""

    kind: str
    text: str
    drops: int = 0
    channel: str = ""


class Stage(Protocol):
    """Runs the robot. All functions are called by the thread of the test."""

    node: Node  # of the test
    left_out: list[str]  # one line for each node that does not run

    def begin(self, discover: Callable[[Sequence[Offer]], None]) -> None:
        """Starts the robot and returns when it is ready. Calls `discover` with new channels."""

    def wait(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Waits on the robot's clock. Raises RobotError at once if the robot has failed."""

    def run(self, work: Callable[[], T]) -> T:
        """Runs an action of the test, such as a publication."""

    def policy_of(self, offer: Offer) -> Policy:
        """The policy of a subscription of the test."""

    def ends(self, channel: str) -> list[EndpointInfo]:
        """The endpoints of the robot's nodes now."""

    def receivers(self, channel: str) -> int:
        """The number of receivers of a publisher: processes, or in lock-step subscriptions."""

    def graph(self) -> RobotGraph: ...
    def stop(self) -> list[Trouble]:
        """Ends the robot and returns all troubles of the run. Idempotent."""

    def close(self) -> None:
        """Ends the robot and the node of the test. Idempotent."""


def last_lines(file: Path, count: int = 15) -> str:
    """The end of a log, indented. "" without a log."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return "".join(f"\n    {line}" for line in lines[-count:])
