"""Messages of proto/hyphos/msgs/clock.proto."""

from hyphos.msgs.clock_pb2 import *  # noqa: F403
