"""Messages of proto/hyphos/msgs/log.proto."""

from hyphos.msgs.log_pb2 import *  # noqa: F403
