"""Programs in C, C++ and C#, and clients of rosbridge in three encodings, exchange real values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cbor2
import hyphos
import pytest
from bson_client import BsonClient, connected_bson
from csharp_programs import ROOT, compiled, require_mono
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from helpers import Inbox, Start, repeating, wait_until
from hyphos.msgs import String
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.known import known_folders
from hyphos.ros.protos import compile_protos
from ros_corpus import write_package
from rosbridge_probe import RawClient, connected, needs_gateway

PROGRAMS = ROOT / "build/release/tests/clients"
STRING = "std_msgs/String"
NATIVE = {"cpp": "Hyphos C++", "c": "Hyphos C", "csharp": "Hyphos C#"}
TEXTS = {"c": "from C", "cpp": "from C++", "csharp": "from C#"}
ENCODINGS = {"json": "rosbridge JSON", "cbor": "rosbridge CBOR", "bson": "rosbridge BSON"}
pytestmark = needs_gateway


def cells(name: str, rows: dict[str, str], column: str) -> pytest.MarkDecorator:
    """Parametrizes a test over worlds, each with its row of the table."""
    return pytest.mark.parametrize(
        name,
        [
            pytest.param(one, marks=pytest.mark.cell("worlds", row, column))
            for one, row in rows.items()
        ],
    )


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The definition of tank_msgs/Level, which no gateway is given."""
    place = tmp_path_factory.mktemp("types")
    package = write_package(place / "tank_msgs", {"Level": "float64 litres\n"})
    import_types([package], place / "protos", Flavour.ROS2)
    found: FileDescriptorSet = compile_protos(place / "protos")
    (place / "types.pb").write_bytes(found.SerializeToString())
    return place / "types.pb"


@pytest.fixture(scope="module")
def csharp(types: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    require_mono()
    place = tmp_path_factory.mktemp("csharp")
    services = next(one for one in known_folders(Flavour.ROS1) if one.name == "std_srvs")
    import_types([services], place / "protos", Flavour.ROS1)
    source = ROOT / "tests/clients/csharp/worlds/TestWorld.cs"
    return compiled(place, [source], [place / "protos", types.parent / "protos"])


@pytest.fixture
def begin(
    start: Start, domain: str, types: Path, request: pytest.FixtureRequest
) -> Callable[[str], None]:
    """Starts the program of a world."""

    def run(world: str) -> None:
        words = [str(PROGRAMS / f"test_{world}_world")]
        if world == "csharp":
            words = request.getfixturevalue("csharp")
        assert start(*words, domain, str(types)).line() == "ready"

    return run


# --- Clients in three encodings -----------------------------------------------------------------


class CborClient(RawClient):
    """A client that sends CBOR, and gets CBOR where it asks for it."""

    def say(self, **operation: Any) -> None:
        if operation["op"] == "subscribe":
            operation["compression"] = "cbor"
        self.socket.send(cbor2.dumps(operation))

    def hear(self) -> Any:
        told = super().hear()
        return cbor2.loads(told) if isinstance(told, bytes) else told


Client = RawClient | BsonClient


@dataclass(frozen=True)
class Gateway:
    address: str

    @contextmanager
    def client(self, encoding: str) -> Iterator[Client]:
        if encoding == "bson":
            with connected_bson(int(self.address.rpartition(":")[2])) as binary:
                yield binary
        else:
            with connected(self.address) as opened:
                yield CborClient(opened.socket) if encoding == "cbor" else opened


@pytest.fixture
def gateway(hyphos_start: Start, domain: str) -> Gateway:
    started = hyphos_start("gateway", "rosbridge", "--port", "0", "-d", domain)
    return Gateway(started.line().strip())


def heard(client: Client, topic: str) -> Any:
    """The next message of a topic."""
    while True:
        told = client.hear()
        if told.get("op") == "publish" and told["topic"] == topic:
            return told["msg"]


def answer_of(client: Client, service: str, args: dict[str, Any]) -> Any:
    client.say(op="call_service", service=service, args=args, id=service)
    while True:
        told = client.hear()
        if told.get("op") == "service_response" and told["id"] == service:
            return told


def called(client: Client, service: str, **args: Any) -> Any:
    """The reply of a service, as soon as it has a server."""
    answers = []

    def answered() -> bool:
        answers.append(answer_of(client, service, args))
        return answers[-1]["result"] is True

    wait_until(answered, service)
    return answers[-1]["values"]


def parameter(client: Client, name: str) -> Any:
    value = called(client, "/rosapi/get_param", name=name, default="null")["value"]
    return json.loads(value) if value else None


# --- Programs -----------------------------------------------------------------------------------


Begin = Callable[[str], None]


@cells("world", NATIVE, "latched")
def test_a_late_client_gets_the_latched_text(begin: Begin, gateway: Gateway, world: str) -> None:
    begin(world)
    with gateway.client("json") as client:
        client.say(op="subscribe", topic=f"/{world}_out", type=STRING)
        assert heard(client, f"/{world}_out") == {"data": TEXTS[world]}


@cells("world", NATIVE, "topic")
def test_texts_go_there_and_back(begin: Begin, gateway: Gateway, world: str) -> None:
    begin(world)
    with gateway.client("json") as client:
        client.say(op="subscribe", topic=f"/{world}_back", type=STRING)
        client.say(op="advertise", topic=f"/{world}_in", type=STRING)
        words = {"op": "publish", "topic": f"/{world}_in", "msg": {"data": "Grüße"}}
        with repeating(lambda: client.say(**words)):
            assert heard(client, f"/{world}_back") == {"data": "Grüße"}


@cells("world", NATIVE, "service")
def test_a_service_replies_to_both_requests(begin: Begin, gateway: Gateway, world: str) -> None:
    begin(world)
    name = TEXTS[world].removeprefix("from ")
    with gateway.client("json") as client:
        for flag in (True, False):
            reply = called(client, f"/{world}_switch", data=flag)
            assert reply == {"success": flag, "message": name}


@cells("world", NATIVE, "parameters")
def test_a_parameter_is_read_and_set(begin: Begin, gateway: Gateway, world: str) -> None:
    begin(world)
    name = f"/{world}_world/speed"
    with gateway.client("json") as client:
        wait_until(lambda: parameter(client, name) == 0.5, "the parameter")
        called(client, "/rosapi/set_param", name=name, value="0.75")
        wait_until(lambda: parameter(client, name) == 0.75, "the new value")


@cells("world", NATIVE, "unknown type")
def test_a_type_of_one_program_is_known_to_clients(
    begin: Begin, gateway: Gateway, world: str
) -> None:
    begin(world)
    with gateway.client("json") as client:
        client.say(op="subscribe", topic=f"/{world}_tank")
        assert heard(client, f"/{world}_tank") == {"litres": 12.5}


# --- Encodings ----------------------------------------------------------------------------------


@cells("encoding", ENCODINGS, "topic")
def test_a_client_hears_its_own_text_from_a_node(
    gateway: Gateway, node: hyphos.Node, encoding: str
) -> None:
    back = node.publisher("back", String)
    node.subscribe("there", String, back.publish)
    with gateway.client(encoding) as client:
        client.say(op="subscribe", topic="/back", type=STRING)
        client.say(op="advertise", topic="/there", type=STRING)
        words = {"op": "publish", "topic": "/there", "msg": {"data": "Grüße"}}
        with repeating(lambda: client.say(**words)):
            assert heard(client, "/back") == {"data": "Grüße"}


@cells("encoding", ENCODINGS, "latched")
def test_latched_texts_reach_late_clients_and_nodes(
    gateway: Gateway, node: hyphos.Node, encoding: str
) -> None:
    publisher = node.publisher("names", String, policy=hyphos.Policy(latched=True))
    publisher.publish(String(data="kept by a node"))
    inbox = Inbox()
    with gateway.client(encoding) as client:
        client.say(op="subscribe", topic="/names", type=STRING)
        assert heard(client, "/names") == {"data": "kept by a node"}
        client.say(op="advertise", topic="/kept", type=STRING, latch=True)
        client.say(op="publish", topic="/kept", msg={"data": "kept by a client"})
        node.subscribe("kept", String, inbox)
        assert inbox.wait(1)[0].data == "kept by a client"


@cells("encoding", ENCODINGS, "service")
def test_a_client_calls_a_service(begin: Begin, gateway: Gateway, encoding: str) -> None:
    begin("cpp")
    with gateway.client(encoding) as client:
        assert called(client, "/cpp_switch", data=True) == {"success": True, "message": "C++"}


@cells("encoding", ENCODINGS, "parameters")
def test_a_client_reads_and_sets_a_parameter(begin: Begin, gateway: Gateway, encoding: str) -> None:
    begin("cpp")
    name = "/cpp_world/speed"
    with gateway.client(encoding) as client:
        wait_until(lambda: parameter(client, name) == 0.5, "the parameter")
        called(client, "/rosapi/set_param", name=name, value="0.25")
        wait_until(lambda: parameter(client, name) == 0.25, "the new value")


@cells("encoding", ENCODINGS, "unknown type")
def test_a_client_learns_the_type_of_one_program(
    begin: Begin, gateway: Gateway, encoding: str
) -> None:
    begin("cpp")
    with gateway.client(encoding) as client:
        client.say(op="subscribe", topic="/cpp_tank")
        assert heard(client, "/cpp_tank") == {"litres": 12.5}


@cells("encoding", ENCODINGS, "action")
@pytest.mark.cell("worlds", "Hyphos C++", "action")
def test_a_client_sends_goals(begin: Begin, gateway: Gateway, encoding: str) -> None:
    import action_worlds  # noqa: PLC0415 - needs the package cyclonedds

    begin("cpp")
    with gateway.client(encoding) as client:
        assert action_worlds.send_rosbridge(client, "cpp_action") == action_worlds.EXPECTED
