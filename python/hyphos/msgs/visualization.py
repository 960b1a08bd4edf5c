"""Messages of proto/hyphos/msgs/visualization.proto."""

from hyphos.msgs.visualization_pb2 import *  # noqa: F403
