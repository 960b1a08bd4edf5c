"""Messages of proto/hyphos/msgs/nav.proto."""

from hyphos.msgs.nav_pb2 import *  # noqa: F403
