"""Prints the first values of a channel in a recording, with the reader of the mcap library."""

import sys
from itertools import islice
from pathlib import Path

from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

file, channel = sys.argv[1:]
with Path(file).open("rb") as recording:
    messages = make_reader(recording, decoder_factories=[DecoderFactory()]).iter_decoded_messages
    for *_, value in islice(messages(topics=[channel]), 3):
        print(value.data)
