"""The relay in Python: it publishes each received array unchanged."""

import sys

import hyphos

node = hyphos.Node.open("relay", sys.argv)
relayed = node.publisher("relayed", bytes)
node.subscribe("raw", bytes, relayed.publish)
node.spin()
