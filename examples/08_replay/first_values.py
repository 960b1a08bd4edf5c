"""Prints the first values of a channel in a recording, with the reader of the mcap library."""

import sys
from itertools import islice

from mcap_protobuf.reader import read_protobuf_messages

file, channel = sys.argv[1:]
for message in islice(read_protobuf_messages(file, topics=[channel]), 3):
    print(message.proto_msg.data)
