"""One action in every world: each client sends goals to the server of each other world, through all
gateways at once. No gateway is given the type.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import hyphos
import pytest
from claims import own_dds_domain, own_port
from csharp_programs import ABSENT, compiled
from csharp_programs import ROOT as SOURCES
from helpers import Program, wait_until
from hyphos import _hyphos
from hyphos.ros.definition import Flavour
from hyphos.ros.importing import import_types
from hyphos.ros.known import known_folders
from ros1_programs import SYSTEM_PYTHON, needs_actionlib, needs_ros1
from ros2_gateway import needs_ros2
from ros_corpus import write_package
from rosbridge_probe import connected, needs_gateway

pytest.importorskip("cyclonedds.domain", reason="pip install cyclonedds")
import action_worlds as worlds
from ros2_program import on_loopback

BUILT = SOURCES / "build/release/tests"
C_PROGRAM = BUILT / "clients/test_c_action"
ROSCPP = BUILT / "gateway/ros1/ros1_roscpp_action"
FAST = BUILT / "gateway/ros2/ros2_fast_world"
ROWS = {
    "python": "Hyphos Python", "c": "Hyphos C", "csharp": "Hyphos C#", "rospy": "rospy",
    "roscpp": "roscpp", "dds": "Cyclone DDS", "fast": "Fast DDS", "rosbridge": "rosbridge JSON",
}  # fmt: skip
SERVERS = tuple(one for one in ROWS if one != "roscpp" or ROSCPP.exists())
# Two programs of one ROS graph reach each other without a gateway.
GRAPHS = ({"rospy", "roscpp"}, {"dds", "fast"})


pytestmark = [
    needs_gateway, needs_ros1, needs_actionlib, needs_ros2,
    pytest.mark.skipif(not shutil.which("mcs"), reason=ABSENT),
]  # fmt: skip


def csharp_program(place: Path) -> list[str]:
    """The C# end of the action, compiled with the types of actionlib in ROS 1 and in ROS 2."""
    needed = ("actionlib", "actionlib_msgs", "std_msgs")
    folders = [one for one in known_folders(Flavour.ROS1) if one.name in needed]
    import_types(folders, place / "ros1", Flavour.ROS1)
    text = "int32 goal\n---\nint32 result\n---\nint32 feedback\n"
    package = write_package(place / "actionlib", {"Test": text}, "action")
    import_types([package], place / "ros2", Flavour.ROS2)
    source = SOURCES / "tests/clients/csharp/actions/TestAction.cs"
    return compiled(place, [source], [place / "ros1", place / "ros2"])


class Worlds:
    """All gateways, with a server of the action `test_WORLD` in every world."""

    def __init__(self, stack: ExitStack, place: Path, domain: str) -> None:
        self._stack, self._place, self.domain = stack, place, domain
        self.types = worlds.messages()
        self.types_of_ros2 = worlds.messages("ros2.actionlib.action.Test_")
        self.csharp = csharp_program(place / "csharp")
        port = own_port()
        self.variables = {
            "ROS_MASTER_URI": f"http://127.0.0.1:{port}/", "ROS_HOSTNAME": "127.0.0.1",
            "ROS_LOG_DIR": str(place / "log"), "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        self.gateway("ros1", "--master", "--set", f"master_port={port}")
        self.gateway("ros2", "--set", f"domain_id={own_dds_domain()}")
        self.address = self.gateway("rosbridge", "--port", "0")
        self.node = stack.enter_context(hyphos.Node.open("tester", domain=domain))
        self.dds = stack.enter_context(on_loopback(own_dds_domain()))
        self._serve()

    def start(self, *words: str) -> Program:
        program = Program(list(words), self._place)

        def end() -> None:
            program.popen.kill()
            program.popen.communicate()

        self._stack.callback(end)
        return program

    def gateway(self, kind: str, *words: str) -> str:
        started = self.start(
            sys.executable, "-m", "hyphos", "gateway", kind, "-d", self.domain, *words
        )
        return started.line().strip()

    def ros(self, *words: str) -> Program:
        variables = (f"{key}={value}" for key, value in self.variables.items())
        return self.start("env", *variables, *words)

    def _serve(self) -> None:
        worlds.serve_python(self.node, "test_python", self.types)
        ready = [
            self.start(str(C_PROGRAM), "serve", self.domain, "test_c"),
            self.start(*self.csharp, "serve", self.domain, "test_csharp"),
            self.ros(SYSTEM_PYTHON, "-c", worlds.ACTIONLIB_SERVER.format(action="test_rospy")),
            self.start(str(FAST), str(own_dds_domain()), "act", "test_fast"),
        ]
        if "roscpp" in SERVERS:
            ready.append(self.ros(str(ROSCPP), "serve", "test_roscpp"))
        self._stack.enter_context(worlds.serving_dds(self.dds, "test_dds"))
        server = self._stack.enter_context(connected(self.address))
        self._stack.enter_context(worlds.serving_rosbridge(server, "test_rosbridge"))
        for program in ready:
            assert program.line() == "ready"
        wait_until(lambda: self.actions() >= {f"test_{one}" for one in SERVERS}, "all servers")

    def actions(self) -> set[str]:
        """The actions that have a server in the graph."""
        requests = re.compile("hyphos/action/(test_[a-z]+)/request")
        return {
            found[1]
            for process in _hyphos.inspect(self.domain)
            for end in process.endpoints
            if not end.is_publisher and (found := requests.fullmatch(end.channel))
        }

    def send(self, client: str, action: str) -> set[str]:
        """The outcome of the goals of a client. A node of Hyphos has the types of its server."""
        of_ros2 = action.removeprefix("test_") in GRAPHS[1]
        family = ["ros2"] if of_ros2 else []
        if client == "python":
            types = self.types_of_ros2 if of_ros2 else self.types
            return worlds.send_python(self.node, action, types)
        if client == "dds":
            return worlds.send_dds(self.dds, action)
        if client == "rosbridge":
            with connected(self.address) as opened:
                return worlds.send_rosbridge(opened, action)
        programs: dict[str, Callable[[], Program]] = {
            "c": lambda: self.start(str(C_PROGRAM), "send", self.domain, action, *family),
            "csharp": lambda: self.start(*self.csharp, "send", self.domain, action, *family),
            "fast": lambda: self.start(str(FAST), str(own_dds_domain()), "goals", action),
            "roscpp": lambda: self.ros(str(ROSCPP), "send", action),
            "rospy": lambda: self.ros(
                SYSTEM_PYTHON, "-c", worlds.ACTIONLIB_CLIENT.format(action=action, patience=60)
            ),
        }
        program = programs[client]()
        return {program.line() for _ in range(3)}


@contextmanager
def opened(place: Path, domain: str) -> Iterator[Worlds]:
    with ExitStack() as stack:
        yield Worlds(stack, place, domain)


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    domain = f"actions-{own_port()}"
    with opened(tmp_path_factory.mktemp("actions"), domain) as made:
        yield made
    _hyphos.shm_clean(domain)


def pairs() -> list[Any]:
    """All pairs of worlds."""
    cell = pytest.mark.cell
    return [
        pytest.param(
            client,
            server,
            marks=[
                cell("actions: client, server", ROWS[client], ROWS[server]),
                cell("worlds", ROWS[client], "action"),
                cell("worlds", ROWS[server], "action"),
                pytest.mark.skipif(
                    "roscpp" in (client, server) and not ROSCPP.exists(),
                    reason="no roscpp with actionlib (scripts/setup core ros)",
                ),
            ],
        )
        for client in ROWS
        for server in ROWS
        if not any({client, server} <= graph for graph in GRAPHS)
    ]


@pytest.mark.parametrize(("client", "server"), pairs())
def test_goals_pass_between_worlds(joined: Worlds, client: str, server: str) -> None:
    assert joined.send(client, f"test_{server}") == worlds.EXPECTED
