"""Messages of proto/hyphos/msgs/sensor.proto."""

from hyphos.msgs.sensor_pb2 import *  # noqa: F403
