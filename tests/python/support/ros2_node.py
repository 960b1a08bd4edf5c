"""A ROS 2 program without ROS, as a separate process. It uses Cyclone DDS as rmw_cyclonedds_cpp
sets it up, with the same names, types, QoS and user data on the wire.

    ros2_node.py DOMAIN_ID RANGE listen TOPIC[,TOPIC...] [best_effort] [latched] [depth=N]
    ros2_node.py DOMAIN_ID RANGE talk TOPIC [best_effort] [latched] [depth=N]

tests/gateway/ros2/ros2_node.cpp does the same with another release of Cyclone DDS. The types are
written by hand and read at run time, so postponed annotations are not allowed here.
"""

# Without the package, mypy does not know its base class.
# mypy: disable-error-code="call-arg,misc"

import os
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, sequence, uint8
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

# The settings that rmw_cyclonedds_cpp (Iron and later) passes to Cyclone DDS before the user's own.
_INDEX = (
    "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>"
)
_RANGES = {
    "LOCALHOST": (
        "<General><AllowMulticast>false</AllowMulticast></General>"
        f'<Discovery>{_INDEX}<Peers><Peer address="127.0.0.1"/></Peers></Discovery>'
    ),
    "SUBNET": f"<Discovery>{_INDEX}</Discovery>",
}
# The hashes of the types by REP-2016.
STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
ENTITIES_HASH = "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e"


def settings(discovery_range: str, own: str = "") -> str:
    """The CYCLONEDDS_URI of a program. `own`: additions of its user."""
    return f"<CycloneDDS><Domain>{_RANGES[discovery_range]}{own}</Domain></CycloneDDS>"


@dataclass
class String(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str


@dataclass
class NodeEntities(IdlStruct, typename="rmw_dds_common::msg::dds_::NodeEntitiesInfo_"):
    node_namespace: str
    node_name: str
    readers: sequence[array[uint8, 16]]
    writers: sequence[array[uint8, 16]]


@dataclass
class Entities(IdlStruct, typename="rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"):
    gid: array[uint8, 16]
    nodes: sequence[NodeEntities]


def qos_of(words: list[str]) -> Qos:
    depth = next((int(word[6:]) for word in words if word.startswith("depth=")), 10)
    reliable = Policy.Reliability.Reliable(duration(infinite=True))
    return Qos(
        Policy.Reliability.BestEffort if "best_effort" in words else reliable,
        Policy.Durability.TransientLocal if "latched" in words else Policy.Durability.Volatile,
        Policy.History.KeepLast(depth),
        Policy.DataRepresentation(use_cdrv0_representation=True),
        Policy.Userdata(f"typehash={STRING_HASH};".encode()),
    )


class Node:
    """One ROS node in a separate participant."""

    def __init__(self, domain_id: int, name: str) -> None:
        self.participant = DomainParticipant(domain_id, qos=Qos(Policy.Userdata(b"enclave=/;")))
        self._name = name
        topic = Topic(self.participant, "ros_discovery_info", Entities)
        qos = Qos(
            Policy.Reliability.Reliable(duration(infinite=True)),
            Policy.Durability.TransientLocal,
            Policy.History.KeepLast(1),
            Policy.DataRepresentation(use_cdrv0_representation=True),
            Policy.Userdata(f"typehash={ENTITIES_HASH};".encode()),
        )
        self._told = DataWriter(self.participant, topic, qos=qos)
        self._heard = DataReader(self.participant, topic, qos=qos)

    def announce(self, readers: list[DataReader], writers: list[DataWriter]) -> None:
        node = NodeEntities(
            "/", self._name, [list(one.guid.bytes) for one in readers],
            [list(one.guid.bytes) for one in writers],
        )  # fmt: skip
        self._told.write(Entities(list(self.participant.guid.bytes), [node]))


def listen(domain_id: int, name: str, words: list[str]) -> None:
    node = Node(domain_id, f"listener_{os.getpid()}")
    readers = {}
    for topic in name.split(","):
        made = Topic(node.participant, f"rt/{topic}", String)
        readers[topic] = DataReader(node.participant, made, qos=qos_of(words))
    node.announce(list(readers.values()), [])
    print("ready", flush=True)
    while True:
        for topic, reader in readers.items():
            for message in reader.take(N=100):
                if isinstance(message, String):  # not a String: its writer has ended
                    print(topic, len(message.data), message.data[:40].split(" ")[0], flush=True)
        time.sleep(0.005)


def talk(domain_id: int, name: str, words: list[str]) -> None:
    node = Node(domain_id, f"talker_{os.getpid()}")
    topic = Topic(node.participant, f"rt/{name}", String)
    writer = DataWriter(node.participant, topic, qos=qos_of(words))
    node.announce([], [writer])
    print("ready", flush=True)
    for line in sys.stdin:
        size, word = line.split()
        writer.write(String(word + " " * max(0, int(size) - len(word))))


def main() -> None:
    domain_id, discovery_range, role, name, *words = sys.argv[1:]
    os.environ["CYCLONEDDS_URI"] = settings(discovery_range, os.environ.get("ROS2_NODE_OWN", ""))
    {"listen": listen, "talk": talk}[role](int(domain_id), name, words)


if __name__ == "__main__":
    main()
