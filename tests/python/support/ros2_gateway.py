"""Shared helpers of the tests of the ros2 gateway, for every implementation of ROS 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claims import own_dds_domain
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass
from helpers import Program, Start
from hyphos.ros.known import descriptors
from worlds import kinds

needs_ros2 = pytest.mark.skipif(
    "ros2" not in kinds(), reason="this build has no ros2: scripts/setup core ros2, make build"
)


def std_srvs(folder: Path, depends: str = "rosidl_default_runtime") -> Path:
    """The package std_srvs as in ROS. Hyphos includes the messages of ROS, but not its services."""
    package = folder / "std_srvs"
    (package / "srv").mkdir(parents=True)
    (package / "package.xml").write_text(
        f"<package><name>std_srvs</name><depend>{depends}</depend></package>"
    )
    (package / "srv/SetBool.srv").write_text("bool data\n---\nbool success\nstring message\n")
    return package


def tank_msgs(folder: Path) -> Path:
    """A package that no other program has."""
    package = folder / "tank_msgs"
    (package / "msg").mkdir(parents=True)
    (package / "package.xml").write_text(
        "<package><name>tank_msgs</name><depend>rosidl_default_runtime</depend></package>"
    )
    (package / "msg/Level.msg").write_text("float64 litres\n")
    return package


def set_bool(package: Path) -> tuple[Any, Any]:
    """The request and reply of std_srvs/srv/SetBool, as channels carry them."""
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(descriptors([package])).file:
        pool.Add(file)
    names = [f"ros2.std_srvs.srv.SetBool_{part}" for part in ("Request", "Response")]
    request, response = (GetMessageClass(pool.FindMessageTypeByName(name)) for name in names)
    return request, response


def start_gateway(
    start: Start, domain: str, package: Path, *more: str, domain_id: int | None = None
) -> Program:
    """`domain_id`: None for the first domain of this process."""
    domain_id = own_dds_domain() if domain_id is None else domain_id
    words = ["--set", f"domain_id={domain_id}", "--domain", domain, "--ros", str(package)]
    started = start("gateway", "ros2", *words, *more)
    assert started.line() == f"dds://127.0.0.1/{domain_id}"
    return started
