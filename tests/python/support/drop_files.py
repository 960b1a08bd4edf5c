"""drop_files.py WINDOW FILE...: drags files onto a window of an X server and drops them there, as a
file manager does (XDND 5). A program of the distribution's Python, which has python3-xlib.

Prints "dropped", or the reason why the window did not take them, and exits with 1.
"""

from __future__ import annotations

import select
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from Xlib import X, Xatom, display
from Xlib.protocol import event

PATIENCE_S = 60.0
VERSION = 5


class Source:
    def __init__(self, target: int, files: list[str]) -> None:
        self.display = display.Display()
        root = self.display.screen().root
        self.window = root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self.target = self.display.create_resource_object("window", target)
        uris = [f"file://{quote(str(Path(file).resolve()))}" for file in files]
        self.list = "".join(f"{uri}\r\n" for uri in uris).encode()
        place = self.target.translate_coords(root, 0, 0)
        size = self.target.get_geometry()
        x, y = -place.x + size.width // 2, -place.y + size.height // 2
        self.place = x << 16 | y

    def atom(self, name: str) -> int:
        return int(self.display.intern_atom(name))

    def send(self, kind: str, *values: int) -> None:
        data = (self.window.id, *values, 0, 0, 0, 0)[:5]
        message = event.ClientMessage(
            window=self.target, client_type=self.atom(kind), data=(32, data)
        )
        self.target.send_event(message)
        self.display.flush()

    def wait(self, kind: str) -> Any:
        """The data of the target's next message of this kind. Serves the files meanwhile."""
        end = time.monotonic() + PATIENCE_S
        while True:
            while self.display.pending_events():
                found = self.display.next_event()
                if found.type == X.SelectionRequest:
                    self.serve(found)
                elif found.type == X.ClientMessage and found.client_type == self.atom(kind):
                    return found.data[1]
            left = end - time.monotonic()
            if left <= 0:
                sys.exit(f"no {kind} in {PATIENCE_S:.0f} s")
            select.select([self.display.fileno()], [], [], left)

    def serve(self, asked: Any) -> None:
        asked.requestor.change_property(asked.property, asked.target, 8, self.list)
        asked.requestor.send_event(
            event.SelectionNotify(
                time=asked.time,
                requestor=asked.requestor,
                selection=asked.selection,
                target=asked.target,
                property=asked.property,
            )
        )
        self.display.flush()

    def drop(self) -> None:
        if self.target.get_full_property(self.atom("XdndAware"), Xatom.ATOM) is None:
            sys.exit("the window takes no files")
        self.window.set_selection_owner(self.atom("XdndSelection"), X.CurrentTime)
        self.send("XdndEnter", VERSION << 24, self.atom("text/uri-list"))
        self.send("XdndPosition", 0, self.place, X.CurrentTime, self.atom("XdndActionCopy"))
        if not self.wait("XdndStatus")[1] & 1:
            sys.exit("the window refuses the files")
        self.send("XdndDrop", 0, X.CurrentTime)
        if self.wait("XdndFinished")[1] == 0:  # GLFW sends the size of the list, and not 1
            sys.exit("the window did not read the files")
        print("dropped")


if __name__ == "__main__":
    Source(int(sys.argv[1]), sys.argv[2:]).drop()
