"""A client of the Foxglove protocol that uses another WebSocket library."""

from __future__ import annotations

import base64
import contextlib
import json
import struct
import threading
from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from helpers import Inbox, wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol


class Message:
    """One received message."""

    def __init__(self, topic: str, time_ns: int, data: bytes) -> None:
        self.topic = topic
        self.time_ns = time_ns
        self.data = data


class Client:
    """Keeps the messages of a server. Its thread reads continuously unless a test pauses it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.info: dict[str, Any] = {}
        self.channels: dict[int, dict[str, Any]] = {}
        self.statuses: list[dict[str, Any]] = []
        self.messages = Inbox()
        self.times = Inbox()
        self.others: list[dict[str, Any]] = []
        self._topics: dict[int, str] = {}
        self.reading = threading.Event()
        self.reading.set()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        # The SDK closes the connection without a closing handshake.
        with contextlib.suppress(ConnectionClosed):
            self._read_all()

    def _read_all(self) -> None:
        for frame in self.socket:
            self.reading.wait()
            if isinstance(frame, bytes):
                self._binary(frame)
                continue
            said = json.loads(frame)
            if said["op"] == "serverInfo":
                self.info = said
            elif said["op"] == "advertise":
                self.channels |= {channel["id"]: channel for channel in said["channels"]}
            elif said["op"] == "unadvertise":
                for number in said["channelIds"]:
                    del self.channels[number]
            elif said["op"] == "status":
                self.statuses.append(said)
            else:
                self.others.append(said)

    def _binary(self, frame: bytes) -> None:
        if frame[0] == 1:
            number, time_ns = struct.unpack_from("<IQ", frame, 1)
            self.messages(Message(self._topics[number], time_ns, frame[13:]))
        elif frame[0] == 2:
            self.times(struct.unpack_from("<Q", frame, 1)[0])

    @property
    def topics(self) -> set[str]:
        return {channel["topic"] for channel in list(self.channels.values())}

    def channel(self, topic: str) -> dict[str, Any]:
        wait_until(lambda: topic in self.topics, f"channel {topic}")
        return next(c for c in list(self.channels.values()) if c["topic"] == topic)

    def subscribe(self, *topics: str) -> None:
        for topic in topics:
            number = self.channel(topic)["id"] + 1000  # a number chosen by the client
            self._topics[number] = topic
            wish = {"id": number, "channelId": number - 1000}
            self.say(op="subscribe", subscriptions=[wish])

    def unsubscribe(self, topic: str) -> None:
        self.say(op="unsubscribe", subscriptionIds=[self.channel(topic)["id"] + 1000])

    def say(self, **members: object) -> None:
        self.socket.send(json.dumps(members))

    def of(self, topic: str) -> list[Message]:
        return [message for message in list(self.messages.items) if message.topic == topic]

    def next(self, topic: str) -> Any:
        """The next message of a topic, parsed with the schema that the server advertised."""
        have = len(self.of(topic))
        wait_until(lambda: len(self.of(topic)) > have, f"a message on {topic}")
        return parse(self.channel(topic), self.of(topic)[-1].data)


def message_class(channel: dict[str, Any]) -> Any:
    assert (channel["encoding"], channel["schemaEncoding"]) == ("protobuf", "protobuf")
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(base64.b64decode(channel["schema"])).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(channel["schemaName"]))


def parse(channel: dict[str, Any], data: bytes) -> Any:
    return message_class(channel).FromString(data)


@contextlib.contextmanager
def joined(port: int) -> Iterator[Client]:
    with connect(
        f"ws://127.0.0.1:{port}", subprotocols=[Subprotocol("foxglove.sdk.v1")], max_size=None
    ) as socket:
        assert socket.subprotocol == "foxglove.sdk.v1"
        client = Client(socket)
        wait_until(lambda: bool(client.info), "the server's greeting")
        yield client
