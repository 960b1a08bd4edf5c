"""Each world that other tests do not reach: programs in C and C++, and clients in other encodings.
All exchange real values with a client of rosbridge.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cbor2
import hyphos
import pytest
from csharp_test import ROOT
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from helpers import Inbox, Start, repeating, wait_until
from hyphos.msgs import String
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.protos import compile_protos
from ros_corpus import write_package
from rosbridge_probe import RawClient, connected, needs_gateway

PROGRAMS = ROOT / "build/release/tests/clients"
STRING = "std_msgs/String"
pytestmark = needs_gateway


def cells(rows: dict[str, str], column: str) -> Any:
    """Parametrizes a test over the prefixes of channels, each with its row of the table."""
    return pytest.mark.parametrize(
        "world",
        [
            pytest.param(name, marks=pytest.mark.cell("worlds", row, column))
            for name, row in rows.items()
        ],
    )


NATIVE = {"c": "Hyphos C", "cpp": "Hyphos C++"}


@pytest.fixture
def types(tmp_path: Path) -> Path:
    """The definition of tank_msgs/Level, which no gateway is given."""
    package = write_package(tmp_path / "tank_msgs", {"Level": "float64 litres\n"})
    import_types([package], tmp_path / "protos", Flavour.ROS2)
    found: FileDescriptorSet = compile_protos(tmp_path / "protos")
    (tmp_path / "types.pb").write_bytes(found.SerializeToString())
    return tmp_path / "types.pb"


@pytest.fixture
def client(hyphos_start: Start, domain: str) -> Iterator[RawClient]:
    address = hyphos_start("gateway", "rosbridge", "--port", "0", "-d", domain).line().strip()
    with connected(address) as opened:
        yield opened


@pytest.fixture
def native(start: Start, domain: str, types: Path) -> None:
    """The programs in C and C++."""
    words = {"c": [domain, str(types)], "cpp": [domain]}
    for program in [start(str(PROGRAMS / f"test_{one}_world"), *words[one]) for one in words]:
        assert program.line() == "ready"


TEXTS = {"c": "from C", "cpp": "from C++"}


def heard(client: RawClient, topic: str) -> Any:
    """The next message of a topic."""
    while True:
        told = client.hear()
        if told.get("op") == "publish" and told["topic"] == topic:
            return told["msg"]


def called(client: RawClient, service: str, **args: Any) -> Any:
    client.say(op="call_service", service=service, args=args, id=service)
    while True:
        told = client.hear()
        if told.get("op") == "service_response" and told["id"] == service:
            assert told["result"] is True, told
            return told["values"]


@cells(NATIVE, "latched")
@pytest.mark.usefixtures("native")
def test_a_late_client_gets_the_latched_text(client: RawClient, world: str) -> None:
    client.say(op="subscribe", topic=f"/{world}_out", type=STRING)
    assert heard(client, f"/{world}_out") == {"data": TEXTS[world]}


@cells(NATIVE, "topic")
@pytest.mark.usefixtures("native")
def test_texts_go_there_and_back(client: RawClient, world: str) -> None:
    client.say(op="subscribe", topic=f"/{world}_back", type=STRING)
    client.say(op="advertise", topic=f"/{world}_in", type=STRING)
    words = {"op": "publish", "topic": f"/{world}_in", "msg": {"data": "Grüße"}}
    with repeating(lambda: client.say(**words)):
        assert heard(client, f"/{world}_back") == {"data": "Grüße"}


@cells(NATIVE, "service")
@pytest.mark.usefixtures("native")
def test_a_service_replies_to_both_requests(client: RawClient, world: str) -> None:
    name = TEXTS[world].removeprefix("from ")
    for flag in (True, False):
        reply = called(client, f"/{world}_switch", data=flag)
        assert reply == {"success": flag, "message": name}


@cells(NATIVE, "parameters")
@pytest.mark.usefixtures("native")
def test_a_parameter_is_read_and_set(client: RawClient, world: str) -> None:
    name = f"/{world}_world/speed"

    def value() -> Any:
        return called(client, "/rosapi/get_param", name=name, default="null")["value"]

    wait_until(lambda: value() == "0.5", "the parameter")
    called(client, "/rosapi/set_param", name=name, value="0.75")
    wait_until(lambda: value() == "0.75", "the new value")


@cells({"c": "Hyphos C"}, "unknown type")
@pytest.mark.usefixtures("native")
def test_a_type_of_one_program_is_known_to_clients(client: RawClient, world: str) -> None:
    client.say(op="subscribe", topic=f"/{world}_tank")
    assert heard(client, f"/{world}_tank") == {"litres": 12.5}


@pytest.mark.cell("worlds", "Hyphos C++", "action")
@pytest.mark.usefixtures("native")
def test_a_client_sends_goals_to_an_action_in_cpp(client: RawClient) -> None:
    import action_worlds  # noqa: PLC0415 - needs the package cyclonedds

    assert action_worlds.send_rosbridge(client, "cpp_action") == action_worlds.EXPECTED


# --- CBOR ---------------------------------------------------------------------------------------


def cbor(client: RawClient, **operation: Any) -> None:
    client.socket.send(cbor2.dumps(operation))


def told(client: RawClient) -> Any:
    got = client.hear()
    return cbor2.loads(got) if isinstance(got, bytes) else got


@pytest.mark.cell("worlds", "rosbridge CBOR", "latched")
@pytest.mark.usefixtures("native")
def test_a_late_cbor_client_gets_the_latched_text(client: RawClient) -> None:
    client.say(op="subscribe", topic="/c_out", type=STRING, compression="cbor")
    assert told(client)["msg"] == {"data": "from C"}


@pytest.mark.cell("worlds", "rosbridge CBOR", "service")
@pytest.mark.usefixtures("native")
def test_a_cbor_client_calls_a_service(client: RawClient) -> None:
    cbor(client, op="call_service", service="/c_switch", args={"data": True}, id="call")
    assert told(client)["values"] == {"success": True, "message": "C"}


@pytest.mark.cell("worlds", "rosbridge CBOR", "unknown type")
@pytest.mark.usefixtures("native")
def test_a_cbor_client_learns_the_type_of_one_program(client: RawClient) -> None:
    client.say(op="subscribe", topic="/c_tank", compression="cbor")
    assert told(client)["msg"] == {"litres": 12.5}


@pytest.mark.cell("worlds", "rosbridge CBOR", "parameters")
@pytest.mark.usefixtures("native")
def test_a_cbor_client_reads_a_parameter(client: RawClient) -> None:
    def value() -> Any:
        args = {"name": "/c_world/speed", "default": "null"}
        cbor(client, op="call_service", service="/rosapi/get_param", args=args, id="call")
        return told(client)["values"]["value"]

    wait_until(lambda: value() == "0.5", "the parameter")


@pytest.mark.cell("worlds", "rosbridge CBOR", "action")
@pytest.mark.usefixtures("native")
def test_a_cbor_client_sends_goals(client: RawClient) -> None:
    import action_worlds  # noqa: PLC0415 - needs the package cyclonedds

    class Cbor(RawClient):
        def say(self, **operation: Any) -> None:
            cbor(self, **operation)

    sent = action_worlds.send_rosbridge(Cbor(client.socket), "cpp_action")
    assert sent == action_worlds.EXPECTED


# --- rosbridge in JSON --------------------------------------------------------------------------


@pytest.mark.cell("worlds", "rosbridge JSON", "latched")
@pytest.mark.usefixtures("native")
def test_a_client_latches_for_late_nodes(client: RawClient, node: hyphos.Node) -> None:
    client.say(op="advertise", topic="/kept", type=STRING, latch=True)
    client.say(op="publish", topic="/kept", msg={"data": "kept"})
    inbox = Inbox()
    node.subscribe("kept", String, inbox)
    assert inbox.wait(1)[0].data == "kept"
