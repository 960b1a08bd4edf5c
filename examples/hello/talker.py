import sys

import hyphos
from hyphos.msgs import String

node = hyphos.Node.open("talker", sys.argv)
greeting = node.publisher("greeting", String)
node.every(lambda: greeting.publish(String(data="hello")), period_ms=500)
node.spin()
