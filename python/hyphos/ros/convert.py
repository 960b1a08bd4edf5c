"""Converts ROS messages to Hyphos messages and back: ROS 1 serialization, ROS 2 CDR, and the JSON
and CBOR of rosbridge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos import _hyphos, msgs
from hyphos._errors import Error
from hyphos.ros.known import descriptors
from hyphos.ros.protos import message_class
from hyphos.types import Attached, flat_list

Form = Literal["ros1", "cdr", "json", "cbor"]


class RosTypes:
    """The known ROS types, for converting their messages. Thread-safe.

    Knows the installed types and the common ones. `paths` adds packages, `proto_paths` folders of
    .proto files. Construction takes about two seconds without a cache.
    """

    def __init__(self, paths: Sequence[Path] = (), proto_paths: Sequence[Path] = ()) -> None:
        if not hasattr(_hyphos, "RosTypes"):
            raise Error(
                "unsupported",
                "this build of Hyphos cannot convert ROS messages, because it has no gateways",
                advice="run `make build`, or configure with -DHYPHOS_BUILD_GATEWAY=ON",
            )
        serialized = descriptors(paths, proto_paths)
        self._types = _hyphos.RosTypes(serialized)
        self._pool = descriptor_pool.DescriptorPool()
        for file in FileDescriptorSet.FromString(serialized).file:
            self._pool.Add(file)

    def read(self, name: str, form: Form, message: bytes, now_ns: int = 0) -> Any:
        """Decodes a ROS message of the type `name`, "sensor_msgs/LaserScan" or
        "sensor_msgs/msg/LaserScan".

        Returns the equivalent standard message (for an image or a cloud: Attached), else a message
        of the type's own class. `now_ns` is for JSON headers without a stamp. Raises
        `hyphos.Error`: corrupt, with the field, or not_found.
        """
        carrier, attached = self._types.default_carrier(name)
        payload, buffers, _ = self._types.read(name, form, message, carrier, attached, now_ns)
        made = self._class(carrier).FromString(bytes(payload))
        return Attached(made, list(buffers)) if attached else made

    def write(self, name: str, form: Form, message: Any) -> bytes:
        """Encodes a message for ROS. Raises `hyphos.Error`: corrupt if ROS cannot hold it,
        unsupported if it is of another type. ValueError for several attached buffers."""
        head, buffers = (message, [])
        if isinstance(message, Attached):
            head, buffers = message.head, flat_list(message.buffers)
            if len(buffers) > 1:
                raise ValueError(
                    f"ROS has one field for attached buffers, but this message has {len(buffers)}"
                )
        payload = head.SerializeToString()
        carrier = head.DESCRIPTOR.full_name
        return bytes(self._types.write(name, form, payload, buffers, carrier))

    def _class(self, name: str) -> Any:
        package, _, bare = name.rpartition(".")
        if package == "hyphos.msgs":
            return vars(msgs)[bare]
        return message_class(self._pool.FindMessageTypeByName(name))
