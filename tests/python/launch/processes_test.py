"""Python programs that communicate through shared memory, and their end."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Inbox, Start, wait_until
from hyphos import Attached
from hyphos.msgs import Image, LaserScan, String, Twist
from launched import is_heard

TALKER = """
import sys, hyphos, numpy as np
from hyphos import Attached
from hyphos.msgs import Image
node = hyphos.Node.open("talker", domain=sys.argv[1])
camera = node.publisher("camera", Attached[Image])
pixels = np.arange(1_000_000, dtype=np.uint32)
node.every(lambda: camera.publish(Image(width=7), pixels), rate_hz=100)
print("ready", flush=True)
print(node.spin(), flush=True)
"""

ECHO = """
import sys, hyphos
from hyphos import Attached
from hyphos.msgs import Image
node = hyphos.Node.open("echo", domain=sys.argv[1])
back = node.publisher("back", Attached[Image])
node.subscribe("there", Attached[Image], back.publish)
print("ready", flush=True)
node.spin()
"""


def mapped_file(address: int) -> str:
    """The file that is mapped at an address of this process, or "" for anonymous memory."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        low, high = (int(part, 16) for part in fields[0].split("-"))
        if low <= address < high:
            return fields[5] if len(fields) > 5 else ""
    return ""


def place(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_received_buffer_is_a_view_of_shared_memory(
    python: Start, node: hyphos.Node, domain: str, inbox: Inbox
) -> None:
    talker = python(TALKER, domain)
    node.subscribe("camera", Attached[Image], inbox)
    image = inbox.wait(1)[0]
    pixels = image.buffers[0]
    assert image.head.width == 7
    assert "/dev/shm/" in mapped_file(place(pixels))
    assert not pixels.flags.owndata
    assert np.array_equal(pixels.view(np.uint32), np.arange(1_000_000))
    assert talker.stop()[0] == 0


def test_a_loan_is_in_shared_memory_if_a_process_subscribes(
    python: Start, node: hyphos.Node, domain: str, inbox: Inbox
) -> None:
    echo = python(ECHO, domain)
    there = node.publisher("there", Attached[Image])
    node.subscribe("back", Attached[Image], inbox)
    wait_until(lambda: there.listeners == 1 and is_heard(domain, "back"), "the echo")
    pixels = there.loan(3_000_000)
    assert "/dev/shm/" in mapped_file(place(pixels))
    pixels[:] = np.arange(3_000_000) % 251
    there.publish(Image(height=3), pixels)
    [image] = inbox.wait(1)
    assert image.head.height == 3
    assert np.array_equal(image.buffers[0], pixels)
    # The echo sent our slot back: the same file, not a copy in a slot of the echo.
    assert mapped_file(place(image.buffers[0])) == mapped_file(place(pixels))
    assert echo.stop()[0] == 0


def test_a_view_outlives_its_sender(
    python: Start, node: hyphos.Node, domain: str, inbox: Inbox
) -> None:
    talker = python(TALKER, domain)
    node.subscribe("camera", Attached[Image], inbox)
    pixels = inbox.wait(1)[0].buffers[0]
    talker.signal(signal.SIGKILL)
    talker.end()
    assert np.array_equal(pixels.view(np.uint32), np.arange(1_000_000))
    node.close()
    assert int(pixels.view(np.uint32)[-1]) == 999_999


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_spin_cleanly(python: Start, domain: str, number: signal.Signals) -> None:
    talker = python(TALKER, domain)
    assert talker.line() == "ready"
    wait_until(lambda: _spinning(talker.popen.pid), "spin")
    talker.signal(number)
    code, out, err = talker.end()
    assert (code, out, err) == (0, "0\n", "")
    assert not list(Path("/dev/shm").glob(f"hyphos-*/{domain}/*"))


def _spinning(pid: int) -> bool:
    """True once spin() handles SIGTERM, because Python itself does not handle it."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(next(x for x in status.splitlines() if x.startswith("SigCgt")).split()[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def test_a_program_that_does_not_close_its_node_ends(python: Start, domain: str) -> None:
    program = python(
        """
import sys, hyphos
from hyphos.msgs import String
node = hyphos.Node.open("careless", domain=sys.argv[1])
kept = []
node.subscribe("n", String, kept.append)
publisher = node.publisher("n", String)
node.every(lambda: publisher.publish(String(data="x")), rate_hz=1000)
while len(kept) < 20:
    pass
""",
        domain,
    )
    assert program.end() == (0, "", "")
    assert not list(Path("/dev/shm").glob(f"hyphos-*/{domain}/*"))


def test_an_exception_in_the_main_program_is_visible(python: Start, domain: str) -> None:
    program = python(
        """
import sys, hyphos
node = hyphos.Node.open("broken", domain=sys.argv[1])
raise KeyError("oops")
""",
        domain,
    )
    code, _, err = program.end()
    assert code == 1
    assert "oops" in err


def test_types_are_compared_between_processes(
    python: Start, node: hyphos.Node, domain: str, inbox: Inbox
) -> None:
    talker = python(TALKER, domain)
    assert talker.line() == "ready"
    wrong = node.subscribe("camera", String, inbox)
    right = Inbox()
    with hyphos.Node.open("right", domain=domain) as other:
        other.subscribe("camera", Attached[Image], right)
        right.wait(3)
    assert wrong.publishers == 0
    assert inbox.items == []


def test_node_open_accepts_the_arguments_of_run(python: Start, domain: str, tmp_path: Path) -> None:
    plan = tmp_path / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {domain}\nprocesses: {{one: {{nodes: [namer]}}}}\n"
        "nodes: {namer: {params: {word: from the plan}}}\n"
    )
    program = python(
        """
import sys, hyphos
node = hyphos.Node.open("anything", sys.argv)
print(node.name, node.runtime.process, node.runtime.domain, node.param("word", ""))
""",
        *("--hyphos-plan", str(plan), "--hyphos-process", "one"),
    )
    code, out, _ = program.end()
    assert (code, out) == (0, f"namer one {domain} from the plan\n")


def test_the_program_in_the_documentation_works(
    python: Start, node: hyphos.Node, domain: str, inbox: Inbox
) -> None:
    text = (Path(__file__).parents[3] / "docs/how-to/python.md").read_text()
    blocks = [rest.split("```")[0] for rest in text.split("```python\n")[1:]]
    whole = next(block for block in blocks if "Node.open(" in block and '"cmd_vel"' in block)
    node.subscribe("cmd_vel", Twist, lambda twist: inbox(twist.linear.x))
    scan = node.publisher("scan", LaserScan)
    program = python(whole, "--hyphos-domain", domain)
    wait_until(lambda: scan.listeners == 1 and is_heard(domain, "cmd_vel"), "the program")
    scan.publish(LaserScan(ranges=[3, 2]))
    scan.publish(LaserScan(ranges=[3, 0.2]))
    assert inbox.wait(2) == [0.3, 0.0]
    assert program.stop()[0] == 0
