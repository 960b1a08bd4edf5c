"""`python -m hyphos.tools.probe --hyphos-plan FILE --hyphos-process NAME`: creates the nodes of one
process without transports, prints their endpoints as one line of JSON, and ends. `hyphos validate`
runs it for every process, so a crash of a plug-in does not reach the validator.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from hyphos._errors import Error
from hyphos.host import make_nodes
from hyphos.node import Runtime
from hyphos.observe import INTERNAL


def _option(argv: list[str], name: str) -> list[str]:
    return [argv[i + 1] for i, word in enumerate(argv[:-1]) if word == name]


def run(argv: list[str]) -> dict[str, Any]:
    [file] = _option(argv, "--hyphos-plan")
    [process] = _option(argv, "--hyphos-process")
    settings = _option(argv, "--hyphos-set")
    runtime = Runtime.open(plan=file, process=process, overrides=settings, threads=1, offline=True)
    try:
        kept = make_nodes(runtime, file, settings)
        ends = [
            {
                "channel": end.channel,
                "node": end.node,
                "publishes": end.is_publisher,
                "type": end.type_name,
                "encoding": end.encoding,
                "type_hash": f"{end.type_hash:016x}",
            }
            for end in runtime.endpoints()
            if not end.channel.startswith(INTERNAL)
        ]
        del kept
    except Error as error:
        return {"error": str(error), "advice": error.advice}
    except Exception as error:  # noqa: BLE001 - the node's own code
        return {"error": f"{type(error).__name__}: {error}", "advice": ""}
    return {"ends": ends}


def main() -> None:
    out = os.fdopen(os.dup(1), "w")  # nodes may print
    os.dup2(2, 1)
    try:
        found = run(sys.argv)
    except Error as error:
        found = {"error": str(error), "advice": error.advice}
    print(json.dumps(found), file=out, flush=True)
    # Do not wait for threads or devices that the nodes have started.
    os._exit(0)


if __name__ == "__main__":
    main()
