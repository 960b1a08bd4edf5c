"""A ROS 2 program without ROS: Cyclone DDS, with the names and types of ROS 2. The types are
written by hand and read at run time, so postponed annotations are not allowed here.
"""

# Without the package, mypy does not know its base class.
# mypy: disable-error-code="call-arg,misc"

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import ros2_node
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import (
    float32,
    float64,
    int32,
    int64,
    sequence,
    uint8,
    uint32,
    uint64,
)
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from helpers import PATIENCE_S, repeating
from ros2_node import settings

String = ros2_node.String
Entities = ros2_node.Entities

_LOOPBACK = (
    "<CycloneDDS><Domain><General><Interfaces>"
    '<NetworkInterface name="lo" multicast="true"/>'
    "</Interfaces></General></Domain></CycloneDDS>"
)


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
class LaserScan(IdlStruct, typename="sensor_msgs::msg::dds_::LaserScan_"):
    header: Header
    angle_min: float32
    angle_max: float32
    angle_increment: float32
    time_increment: float32
    scan_time: float32
    range_min: float32
    range_max: float32
    ranges: sequence[float32]
    intensities: sequence[float32]


@dataclass
class Joy(IdlStruct, typename="sensor_msgs::msg::dds_::Joy_"):
    header: Header
    axes: sequence[float32]
    buttons: sequence[int32]


# As rmw_cyclonedds_cpp encodes services: the client and the number of the call come before the
# fields.
@dataclass
class SetBoolRequest(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Request_"):
    client: uint64
    call: int64
    data: bool


@dataclass
class SetBoolResponse(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Response_"):
    client: uint64
    call: int64
    success: bool
    message: str


@dataclass
class Level(IdlStruct, typename="tank_msgs::msg::dds_::Level_"):
    litres: float64


@dataclass
class ListParametersRequest(
    IdlStruct, typename="rcl_interfaces::srv::dds_::ListParameters_Request_"
):
    client: uint64
    call: int64
    prefixes: sequence[str]
    depth: uint64


@dataclass
class ListParametersResult(IdlStruct, typename="rcl_interfaces::msg::dds_::ListParametersResult_"):
    names: sequence[str]
    prefixes: sequence[str]


@dataclass
class ListParametersResponse(
    IdlStruct, typename="rcl_interfaces::srv::dds_::ListParameters_Response_"
):
    client: uint64
    call: int64
    result: ListParametersResult


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    clock: Time


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Transform(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TransformStamped]


@dataclass
class Log(IdlStruct, typename="rcl_interfaces::msg::dds_::Log_"):
    stamp: Time
    level: uint8
    name: str
    msg: str
    file: str
    function: str
    line: uint32


class RosProgram:
    def __init__(self, domain_id: int) -> None:
        self._participant = DomainParticipant(domain_id)
        self._topics: dict[str, Topic[Any]] = {}

    def writer(
        self,
        name: str,
        kind: type[IdlStruct],
        *,
        latched: bool = False,
        reliable: bool = True,
        deadline_ms: int = 0,
        user_data: bytes = b"",
    ) -> DataWriter[Any]:
        qos = _qos(latched, reliable, deadline_ms, user_data)
        return DataWriter(self._participant, self._topic(name, kind), qos=qos)

    def reader(
        self,
        name: str,
        kind: type[IdlStruct],
        *,
        latched: bool = False,
        reliable: bool = True,
        deadline_ms: int = 0,
        user_data: bytes = b"",
    ) -> DataReader[Any]:
        qos = _qos(latched, reliable, deadline_ms, user_data)
        return DataReader(self._participant, self._topic(name, kind), qos=qos)

    def serving(self, name: str, message: str) -> AbstractContextManager[None]:
        """A service that replies with the negated request and this message."""
        replies = self.writer(f"rr/{name}Reply", SetBoolResponse)
        requests = self.reader(f"rq/{name}Request", SetBoolRequest)

        def serve() -> None:
            for ask in requests.take(N=10):
                replies.write(SetBoolResponse(ask.client, ask.call, not ask.data, message))

        return repeating(serve)

    def _topic(self, name: str, kind: type[IdlStruct]) -> Topic[Any]:
        if name not in self._topics:
            self._topics[name] = Topic(self._participant, name, kind)
        return self._topics[name]


@contextmanager
def on_loopback(domain_id: int, discovery: str | None = None) -> Iterator[RosProgram]:
    """A program on the loopback interface. `discovery`: ROS_AUTOMATIC_DISCOVERY_RANGE, or None if
    the user chose the interface.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CYCLONEDDS_URI", _LOOPBACK if discovery is None else settings(discovery))
        yield RosProgram(domain_id)


def take(reader: DataReader[Any], meanwhile: Callable[[], object] = lambda: None) -> Any:
    """The next message. Repeats `meanwhile` until the message arrives."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        meanwhile()
        for message in reader.take(N=1):
            return message
        time.sleep(0.02)
    raise AssertionError("nothing has come from DDS")


def told_by_reader(writer: DataWriter[Any]) -> bytes:
    """The user data of the only reader of this writer."""
    (reader,) = writer.get_matched_subscriptions()
    return _user_data(writer.get_matched_subscription_data(reader))


def told_by_writer(reader: DataReader[Any]) -> bytes:
    """The user data of the only writer of this reader."""
    (writer,) = reader.get_matched_publications()
    return _user_data(reader.get_matched_publication_data(writer))


def all_told_by_writers(reader: DataReader[Any]) -> list[bytes]:
    found = reader.get_matched_publications()
    return [_user_data(reader.get_matched_publication_data(one)) for one in found]


def all_told_by_readers(writer: DataWriter[Any]) -> list[bytes]:
    found = writer.get_matched_subscriptions()
    return [_user_data(writer.get_matched_subscription_data(one)) for one in found]


def servers_of(requests: DataWriter[Any], replies: DataReader[Any]) -> set[Any]:
    """The participants with a reader and a writer of a service that match those of a client."""
    readers = [
        requests.get_matched_subscription_data(one) for one in requests.get_matched_subscriptions()
    ]
    writers = [
        replies.get_matched_publication_data(one) for one in replies.get_matched_publications()
    ]
    ends = (
        {one.participant_key for one in found if one is not None} for found in (readers, writers)
    )
    return set.intersection(*ends)


def _user_data(endpoint: Any) -> bytes:
    policy = endpoint.qos[Policy.Userdata] if endpoint is not None else None
    data: bytes = b"" if policy is None else policy.data
    return data


def _qos(latched: bool, reliable: bool, deadline_ms: int, user_data: bytes) -> Qos:
    kept = Policy.Reliability.Reliable(duration(seconds=1))
    return Qos(
        kept if reliable else Policy.Reliability.BestEffort,
        *([Policy.Deadline(duration(milliseconds=deadline_ms))] if deadline_ms else []),
        *([Policy.Userdata(user_data)] if user_data else []),
        Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(100),
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )
