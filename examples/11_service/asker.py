"""The client in Python, with asyncio: three calls are in flight at once."""

import asyncio
import sys

import hyphos

Sum = hyphos.Struct("example.Sum", [("a", "i8"), ("b", "i8")])
Total = hyphos.Struct("example.Total", [("value", "i8")])


async def ask(node: hyphos.Node) -> None:
    add = node.client("add", Sum, Total)
    pairs = [(2, 3), (20, 30), (2**63 - 1, 1)]
    calls = (add.call_async(Sum(a=a, b=b)) for a, b in pairs)
    for reply in await asyncio.gather(*calls, return_exceptions=True):
        print(reply if isinstance(reply, BaseException) else f"= {reply.value}", flush=True)


node = hyphos.Node.open("asker", sys.argv)
asyncio.run(ask(node))
node.spin()
