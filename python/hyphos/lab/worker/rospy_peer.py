"""ROS 1 (rospy), with the same message and queues as the C++ peer in lab/peers/ros1.cpp."""

from __future__ import annotations

import os
import struct
from typing import Any

from .options import MAX_FLOWS, Edge, Options
from .peer import Fill, OnMessage

QUEUE = 16


class RospyPeer:
    def __init__(self, options: Options) -> None:
        self._o = options
        self._queue = options.queue or QUEUE
        # rospy reads these variables when it is imported.
        os.environ["ROS_MASTER_URI"] = (
            f"http://{options.addresses[0]}:{options.port(2 * MAX_FLOWS)}"
        )
        os.environ["ROS_IP"] = options.own_address
        os.environ["ROS_LOG_DIR"] = options.run_dir
        import rospy  # type: ignore[import-not-found]  # noqa: PLC0415

        self._rospy = rospy
        rospy.init_node(
            options.name,
            anonymous=False,
            disable_rosout=True,
            disable_rostime=True,
            disable_signals=True,
        )
        self._type = blob_type()
        self._message = self._type()
        self._message.data = bytearray(options.size)

    def open_publisher(self, edge: Edge) -> None:
        self._publisher = self._rospy.Publisher(edge.name, self._type, queue_size=self._queue)

    def open_subscriber(self, edge: Edge, on_message: OnMessage) -> None:
        self._rospy.Subscriber(
            edge.name,
            self._type,
            lambda message: on_message(message.data),
            queue_size=self._queue,
            # With a smaller buffer, rospy reads each message in several pieces.
            buff_size=max(65536, 2 * self._o.size),
            tcp_nodelay=self._o.variant != "nagle",
        )

    def publish(self, size: int, fill: Fill) -> None:
        if len(self._message.data) != size:
            self._message.data = bytearray(size)
        fill(self._message.data)
        self._publisher.publish(self._message)

    def forward(self, message: Any) -> None:
        onward = self._type()
        onward.data = message
        self._publisher.publish(onward)

    def close(self) -> None:
        self._rospy.signal_shutdown("the run is over")


def blob_type() -> Any:
    """The class that rospy generates for a .msg with the one line `uint8[] data`."""
    import genpy  # noqa: PLC0415

    length = struct.Struct("<I")

    class Blob(genpy.Message):  # type: ignore[misc]
        _md5sum = "f43a8e1b362b75baa741461b46adc7e0"
        _type = "hyphos_lab/Blob"
        _has_header = False
        _full_text = "uint8[] data\n"
        __slots__ = ("data",)
        _slot_types = ("uint8[]",)

        def __init__(self, data: Any = b"") -> None:
            self.data = data

        def serialize(self, out: Any) -> None:
            out.write(length.pack(len(self.data)))
            out.write(self.data)

        def deserialize(self, text: bytes) -> Blob:
            (size,) = length.unpack_from(text)
            self.data = text[4 : 4 + size]
            return self

    return Blob
