"""Messages of proto/hyphos/msgs/geometry.proto."""

from hyphos.msgs.geometry_pb2 import *  # noqa: F403
