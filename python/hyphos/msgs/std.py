"""Messages of proto/hyphos/msgs/std.proto."""

from hyphos.msgs.std_pb2 import *  # noqa: F403
