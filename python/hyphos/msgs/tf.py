"""Messages of proto/hyphos/msgs/tf.proto."""

from hyphos.msgs.tf_pb2 import *  # noqa: F403
