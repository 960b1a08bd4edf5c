"""Messages of ROS as messages of Hyphos, and back: ROS 1's serialization, ROS 2's CDR, the JSON and
the CBOR of rosbridge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos import _hyphos, msgs
from hyphos.ros.known import descriptors
from hyphos.types import Attached, flat_list

Form = Literal["ros1", "cdr", "json", "cbor"]


class RosTypes:
    """The types of ROS that are known, to convert their messages with. Thread-safe.

    Without arguments: those that are installed, and the common ones. `paths`: more packages.
    """

    def __init__(self, paths: Sequence[Path] = (), proto_paths: Sequence[Path] = ()) -> None:
        serialized = descriptors(paths, proto_paths)
        self._types = _hyphos.RosTypes(serialized)
        self._pool = descriptor_pool.DescriptorPool()
        for file in FileDescriptorSet.FromString(serialized).file:
            self._pool.Add(file)

    def read(self, name: str, form: Form, message: bytes, now_ns: int = 0) -> Any:
        """What a channel would carry for these bytes of a `name` ("sensor_msgs/LaserScan",
        "sensor_msgs/msg/LaserScan"): the standard message that means the same (an image, a cloud:
        Attached), else a message of the type's own class. `now_ns`: for headers of JSON that have
        no stamp. Error: corrupt, with the field; not_found."""
        carrier, attached = self._types.default_carrier(name)
        payload, buffers, _ = self._types.read(name, form, message, carrier, attached, now_ns)
        made = self._class(carrier).FromString(bytes(payload))
        return Attached(made, list(buffers)) if attached else made

    def write(self, name: str, form: Form, message: Any) -> bytes:
        """The bytes of a message as ROS has it. Error: corrupt if ROS cannot hold it; unsupported
        if it is of another kind."""
        head, buffers = (message, [])
        if isinstance(message, Attached):
            head, buffers = message.head, flat_list(message.buffers)
            if len(buffers) > 1:
                raise ValueError(
                    f"ROS has one field for attached buffers, this message has {len(buffers)}"
                )
        payload = head.SerializeToString()
        carrier = head.DESCRIPTOR.full_name
        return bytes(self._types.write(name, form, payload, buffers, carrier))

    def _class(self, name: str) -> Any:
        package, _, bare = name.rpartition(".")
        if package == "hyphos.msgs":
            return vars(msgs)[bare]
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(name))
