"""The parameter services of ROS 2 nodes with Cyclone DDS, as rclpy and `ros2 param` use them on
rmw_cyclonedds. The types are written by hand and read at run time, so postponed annotations are not
allowed here.
"""

# Without the package, mypy does not know its base class.
# mypy: disable-error-code="call-arg,misc"

import itertools
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int64, sequence, uint8, uint64
from helpers import repeating, wait_until
from ros2_node import Entities
from ros2_program import (
    ListParametersRequest,
    ListParametersResponse,
    ListParametersResult,
    RosProgram,
    Time,
    servers_of,
    take,
)

NOT_SET, BOOL, INTEGER, DOUBLE, STRING, BYTES, BOOLS, INTEGERS, DOUBLES, STRINGS = range(10)
_SRV = "rcl_interfaces::srv::dds_::"
_MSG = "rcl_interfaces::msg::dds_::"


@dataclass
class Value(IdlStruct, typename=_MSG + "ParameterValue_"):
    type: uint8 = NOT_SET
    bool_value: bool = False
    integer_value: int64 = 0
    double_value: float64 = 0.0
    string_value: str = ""
    byte_array_value: sequence[uint8] = field(default_factory=list)
    bool_array_value: sequence[bool] = field(default_factory=list)
    integer_array_value: sequence[int64] = field(default_factory=list)
    double_array_value: sequence[float64] = field(default_factory=list)
    string_array_value: sequence[str] = field(default_factory=list)


@dataclass
class Parameter(IdlStruct, typename=_MSG + "Parameter_"):
    name: str
    value: Value


@dataclass
class FloatingPointRange(IdlStruct, typename=_MSG + "FloatingPointRange_"):
    from_value: float64
    to_value: float64
    step: float64


@dataclass
class IntegerRange(IdlStruct, typename=_MSG + "IntegerRange_"):
    from_value: int64
    to_value: int64
    step: uint64


@dataclass
class Descriptor(IdlStruct, typename=_MSG + "ParameterDescriptor_"):
    name: str
    type: uint8 = NOT_SET
    description: str = ""
    additional_constraints: str = ""
    read_only: bool = False
    dynamic_typing: bool = False
    floating_point_range: sequence[FloatingPointRange, 1] = field(default_factory=list)
    integer_range: sequence[IntegerRange, 1] = field(default_factory=list)


@dataclass
class Outcome(IdlStruct, typename=_MSG + "SetParametersResult_"):
    successful: bool
    reason: str


@dataclass
class Event(IdlStruct, typename=_MSG + "ParameterEvent_"):
    stamp: Time
    node: str
    new_parameters: sequence[Parameter]
    changed_parameters: sequence[Parameter]
    deleted_parameters: sequence[Parameter]


# As rmw_cyclonedds_cpp encodes services: the client and the number of the call come before the
# fields.
@dataclass
class GetRequest(IdlStruct, typename=_SRV + "GetParameters_Request_"):
    client: uint64
    call: int64
    names: sequence[str]


@dataclass
class GetResponse(IdlStruct, typename=_SRV + "GetParameters_Response_"):
    client: uint64
    call: int64
    values: sequence[Value]


@dataclass
class DescribeRequest(IdlStruct, typename=_SRV + "DescribeParameters_Request_"):
    client: uint64
    call: int64
    names: sequence[str]


@dataclass
class DescribeResponse(IdlStruct, typename=_SRV + "DescribeParameters_Response_"):
    client: uint64
    call: int64
    descriptors: sequence[Descriptor]


@dataclass
class SetRequest(IdlStruct, typename=_SRV + "SetParameters_Request_"):
    client: uint64
    call: int64
    parameters: sequence[Parameter]


@dataclass
class SetResponse(IdlStruct, typename=_SRV + "SetParameters_Response_"):
    client: uint64
    call: int64
    results: sequence[Outcome]


SERVICES: dict[str, tuple[type[IdlStruct], type[IdlStruct]]] = {
    "list_parameters": (ListParametersRequest, ListParametersResponse),
    "get_parameters": (GetRequest, GetResponse),
    "describe_parameters": (DescribeRequest, DescribeResponse),
    "set_parameters": (SetRequest, SetResponse),
}
_FIELDS = {
    BOOL: "bool_value",
    INTEGER: "integer_value",
    DOUBLE: "double_value",
    STRING: "string_value",
    BYTES: "byte_array_value",
    BOOLS: "bool_array_value",
    INTEGERS: "integer_array_value",
    DOUBLES: "double_array_value",
    STRINGS: "string_array_value",
}


def to_value(plain: Any) -> Value:
    kinds = {bool: BOOL, int: INTEGER, float: DOUBLE, str: STRING}
    is_list = isinstance(plain, list)
    kind = kinds[type(plain[0] if is_list else plain)] + (BYTES if is_list else 0)
    value = Value(type=kind)
    setattr(value, _FIELDS[kind], plain)
    return value


def to_plain(value: Value) -> Any:
    if value.type == NOT_SET:
        return None
    plain = getattr(value, _FIELDS[value.type])
    return list(plain) if value.type >= BYTES else plain


class ParamTool:
    """`ros2 param` on one node. It waits until the service and its client have found each other, as
    rclcpp does with wait_for_service(). DDS shows the services of a killed process for 20 s, so a
    server that appears later gets the request, too.
    """

    def __init__(self, program: RosProgram, node: str) -> None:
        self._program = program
        self._node = node.strip("/")
        self._ends: dict[str, tuple[Any, Any]] = {}
        self._calls = itertools.count(1)

    def names(self) -> list[str]:
        return sorted(self._ask("list_parameters", [], 0).result.names)

    def get(self, *names: str) -> list[Any]:
        return [to_plain(value) for value in self._ask("get_parameters", list(names)).values]

    def describe(self, name: str) -> Descriptor:
        (found,) = self._ask("describe_parameters", [name]).descriptors
        assert isinstance(found, Descriptor)
        return found

    def set(self, **values: Any) -> list[Outcome]:
        wishes = [Parameter(name, to_value(value)) for name, value in values.items()]
        return list(self._ask("set_parameters", wishes).results)

    def dump(self) -> dict[str, Any]:
        names = self.names()
        return dict(zip(names, self.get(*names), strict=True))

    def _ask(self, service: str, *words: Any) -> Any:
        request, response = SERVICES[service]
        name = f"{self._node}/{service}"
        if service not in self._ends:
            # As rmw_cyclonedds_cpp does, so that a server can wait for both ends of the client.
            mark = f"clientid={id(self)}.{service};".encode()
            self._ends[service] = (
                self._program.writer(f"rq/{name}Request", request, user_data=mark),
                self._program.reader(f"rr/{name}Reply", response, user_data=mark),
            )
        requests, replies = self._ends[service]
        asked: set[Any] = set()
        calls: set[int] = set()

        def ask() -> None:
            servers = servers_of(requests, replies)
            if servers <= asked:
                return
            asked.update(servers)
            calls.add(next(self._calls))
            requests.write(request(id(self), max(calls), *words))

        while True:
            reply = take(replies, ask)
            if reply.client == id(self) and reply.call in calls:
                return reply


def nodes(program: RosProgram, *expected: str) -> list[str]:
    """The nodes of ROS as `ros2 node list` shows them, once the expected ones are among them."""
    reader = program.reader("ros_discovery_info", Entities, latched=True)
    found: list[str] = []

    def are_all() -> bool:
        for participant in reader.take(N=100):
            found[:] = sorted(
                node.node_namespace.rstrip("/") + "/" + node.node_name for node in participant.nodes
            )
        return set(expected) <= set(found)

    wait_until(are_all, f"the nodes {expected}")
    return found


class ParamServer:
    """The parameters of a node of ROS. It refuses values above 100."""

    def __init__(self, program: RosProgram, node: str, **values: Any) -> None:
        self.values = values
        self.refused = 0
        self._node = node
        self._ends = [
            (
                program.reader(f"rq/{node}/{service}Request", request),
                program.writer(f"rr/{node}/{service}Reply", response),
                getattr(self, "_" + service.partition("_")[0]),
            )
            for service, (request, response) in SERVICES.items()
        ]
        self._events = program.writer("rt/parameter_events", Event)

    def serving(self) -> AbstractContextManager[None]:
        return repeating(self._serve)

    def change(self, name: str, value: Any) -> None:
        """The node itself sets a value, and publishes an event."""
        changes: tuple[list[Parameter], list[Parameter]] = ([], [Parameter(name, to_value(value))])
        is_new = name not in self.values
        self.values[name] = value
        self._events.write(
            Event(Time(1, 0), "/" + self._node, changes[is_new], changes[not is_new], [])
        )

    def _serve(self) -> None:
        for requests, replies, reply in self._ends:
            for ask in requests.take(N=10):
                replies.write(reply(ask))

    def _list(self, ask: Any) -> Any:
        found = ListParametersResult(list(self.values), [])
        return ListParametersResponse(ask.client, ask.call, found)

    def _get(self, ask: Any) -> Any:
        known = [self.values.get(name) for name in ask.names]
        values = [Value() if value is None else to_value(value) for value in known]
        return GetResponse(ask.client, ask.call, values)

    def _describe(self, ask: Any) -> Any:
        known = [Descriptor(name, description=f"about {name}") for name in ask.names]
        return DescribeResponse(ask.client, ask.call, known)

    def _set(self, ask: Any) -> Any:
        results = []
        for wish in ask.parameters:
            value = to_plain(wish.value)
            good = not isinstance(value, int) or value <= 100
            if good:
                self.values[wish.name] = value
            else:
                self.refused += 1
            results.append(Outcome(good, "" if good else "is at most 100"))
        return SetResponse(ask.client, ask.call, results)
