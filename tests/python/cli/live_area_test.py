"""A text that is redrawn in place leaves nothing on the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from helpers import OnTerminal, wait_until
from screen import lines_of

GROWING = """
import signal, time
from pathlib import Path
from hyphos.tools.live_area import LiveArea
from rich.console import Console

stopped = []
signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
print(*(f"before {row}" for row in range(20)), sep="\\n", flush=True)
with LiveArea(Console(force_terminal=True)) as area:
    while not Path("go").exists():
        time.sleep(0.01)
    for rows in range(1, 41):
        area.update("\\n".join(f"row {row}" for row in range(rows % 7 + 10)), refresh=True)
    Path("drawn").touch()
    while not stopped:
        time.sleep(0.01)  # signal.pause() could miss a signal just before it
print("the end")
"""


def test_ctrl_c_removes_the_text_alone_from_a_slow_terminal(tmp_path: Path) -> None:
    """The terminal has not shown the text when Ctrl-C comes, so more output is pending than the
    4096 bytes that the terminal keeps."""
    program = OnTerminal([sys.executable, "-c", GROWING], tmp_path)
    program.read_until("before 19")
    (tmp_path / "go").touch()
    wait_until((tmp_path / "drawn").exists)
    assert not program.echoes()
    program.type("\x03")
    program.read_until("the end")
    assert [line for line in lines_of(program.shown) if line] == [
        *(f"before {row}" for row in range(20)),
        "the end",
    ]
    assert program.echoes()
    assert program.end() == 0
