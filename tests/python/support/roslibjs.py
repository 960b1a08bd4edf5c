"""roslibjs from npm: the last version in one file, and the current one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

CLASSIC = "roslib@1.4.1"  # the last version in one file, which a page can load without a server
MODERN = "roslib@2.1.0"

_SCRIPTS = {
    CLASSIC: '<script src="/node_modules/roslib/build/roslib.min.js"></script>',
    MODERN: """<script src="/node_modules/roslib/local.js"></script>
<script type="module">import * as ROSLIB from "roslib"; window.ROSLIB = ROSLIB;</script>""",
}


def write_page(folder: Path, package: str, script: str) -> None:
    """Writes index.html, with `ROSLIB` of the package installed below the folder."""
    own = folder / "node_modules" / "roslib" / "importmap.js"
    if own.exists():  # local files replace the network addresses
        named = re.compile(r"https://unpkg\.com/((?:@[\w.-]+/)?[\w.-]+)@[\w.-]+/")
        local = named.sub(r"/node_modules/\1/", own.read_text())
        local = local.replace("https://unpkg.com/", "/node_modules/")
        # The named file is for Node: a browser finds no default export in it.
        local = local.replace("eventemitter3/index.mjs", "eventemitter3/dist/eventemitter3.esm.js")
        (own.parent / "local.js").write_text(local)
    head = f'<!doctype html><meta charset="utf-8"><title>{package}</title>'
    (folder / "index.html").write_text(f"{head}\n{_SCRIPTS[package]}\n<script>{script}</script>\n")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves the folder over HTTP and returns the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
