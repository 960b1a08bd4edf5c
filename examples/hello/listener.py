import sys

import hyphos
from hyphos.msgs import String

node = hyphos.Node.open("listener", sys.argv)
node.subscribe("greeting", String, lambda text: print(text.data, flush=True))
node.spin()
