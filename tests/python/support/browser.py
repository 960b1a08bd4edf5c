"""A page in headless Chromium, controlled by the DevTools protocol: tests see the user's view."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from helpers import wait_until
from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """A browser page. `events`: all events of the browser since the page was opened."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            told = self._next()
            if told.get("id") == number:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result

    def _next(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._socket.recv(timeout=60))
        if "method" in told:
            self.events.append(told)
        return told

    def open(
        self, place: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> None:
        """Opens a page. `place`: a file, or an address."""
        self.events.clear()
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        scheme = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        told = self.call("Page.navigate", url=place if isinstance(place, str) else place.as_uri())
        # The end of a former load can come late, for example that of the first empty page.
        load = {"loaderId": told["loaderId"], "name": "load"}
        while not any(one.items() >= load.items() for one in self.named("Page.lifecycleEvent")):
            self._next()

    def ask(self, script: str) -> Any:
        """The value of an expression, which may be a promise."""
        told = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def named(self, *methods: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event["method"] in methods]

    def picture(self, path: Path) -> None:
        """Saves the whole page as a PNG file."""
        told = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(told["data"]))


@contextmanager
def browser(folder: Path, *more: str) -> Iterator[Page]:
    """A browser with a separate profile below `folder`, and one empty page in it. `more` options
    can switch on 3-D drawing in software."""
    program = chromium()
    assert program is not None
    words = [program, "--headless=new", "--no-sandbox", "--no-first-run"]
    words += more or ["--disable-gpu"]
    words += ["--disable-background-networking", "--disable-dev-shm-usage"]
    words += ["--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        told = folder / "DevToolsActivePort"
        wait_until(lambda: told.exists() and "\n" in told.read_text(), "the browser to listen")
        port, path = told.read_text().splitlines()[:2]
        # A browser that draws in software can be late to accept a client and to reply to a ping.
        quiet: dict[str, Any] = {"max_size": None, "ping_interval": None, "open_timeout": 60}
        with connect(f"ws://127.0.0.1:{port}{path}", **quiet) as root:
            whole = Page(root)
            target = whole.call("Target.createTarget", url="about:blank")["targetId"]
            address = f"ws://127.0.0.1:{port}/devtools/page/{target}"
            with connect(address, **quiet) as socket:
                yield Page(socket)
    finally:
        process.terminate()
        process.wait()
