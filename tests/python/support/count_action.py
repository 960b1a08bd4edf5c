"""A ROS 1 action that is not installed anywhere, for the graph and for its gateways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass
from helpers import PATIENCE_S
from hyphos.ros.known import descriptors

TYPE = "count_msgs/Count"


class Count(NamedTuple):
    """The messages of the action, as the graph carries them."""

    goal: Any
    feedback: Any
    result: Any


def write_package(folder: Path) -> Path:
    package = folder / "count_msgs"
    (package / "action").mkdir(parents=True)
    (package / "package.xml").write_text(
        "<package><name>count_msgs</name><buildtool_depend>catkin</buildtool_depend></package>"
    )
    (package / "action/Count.action").write_text("int32 to\n---\nint32 sum\n---\nint32 at\n")
    return package


def types_of(package: Path) -> Count:
    pool = descriptor_pool.DescriptorPool()
    names: dict[str, str] = {}
    for file in FileDescriptorSet.FromString(descriptors([package])).file:
        pool.Add(file)
        names |= {message.name: f"{file.package}.{message.name}" for message in file.message_type}
    parts = [names[f"Count{part}"] for part in ("Goal", "Feedback", "Result")]
    return Count(*(GetMessageClass(pool.FindMessageTypeByName(one)) for one in parts))


def counting(count: Count) -> Callable[[Any], None]:
    """Counts up to the goal. A goal above 100 waits to be canceled, and one below 0 fails."""

    def carry_out(goal: Any) -> None:
        if goal.value.to > 100:
            goal.feedback(count.feedback(at=0))
            if goal.wait_for(PATIENCE_S * 1000):
                goal.canceled(count.result(sum=-1))
        elif goal.value.to < 0:
            goal.fail("only upwards")
        else:
            for at in range(1, goal.value.to + 1):
                goal.feedback(count.feedback(at=at))
            goal.succeed(count.result(sum=sum(range(goal.value.to + 1))))

    return carry_out
