"""The relay in Python: a received array is published as it is."""

import sys

import hyphos

node = hyphos.Node.open("relay", sys.argv)
relayed = node.publisher("relayed", bytes)
node.subscribe("raw", bytes, relayed.publish)
node.spin()
