"""Kills each process of a robot under `hyphos run` in turn, KILLS times each. Checks after every
kill that the robot recovers and that the other processes have lost no message.

    launch_crash.py PLUGIN_OF_DOUBLER KILLS
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import hyphos
from hyphos import MessageInfo, _hyphos
from hyphos.msgs import Int64, String
from launch_nodes import LIFE

PATIENCE_S = 60.0
NAMES = ("source", "work", "sink")

PLAN = """hyphos: 1
robot: phoenix
domain: {domain}
processes:
  source: {{nodes: [source], {policy}}}
  work: {{nodes: [doubler], after: source, {policy}}}
  sink: {{nodes: [sink], after: work, {policy}}}
nodes:
  source: {{python: "{nodes}:Source"}}
  doubler: {{plugin: "{plugin}"}}
  sink: {{python: "{nodes}:Sink"}}
channels:
  born: {{type: hyphos.msgs.String, latched: true, depth: 1}}
  number: {{type: hyphos.msgs.Int64, depth: 1000}}
  doubled: {{type: hyphos.msgs.Int64, depth: 1000}}
  seen: {{type: hyphos.msgs.String, depth: 1000}}
"""
POLICY = "restart: on_failure, backoff_ms: 10, max_backoff_ms: 50, max_restarts_per_minute: 600"


@dataclass(frozen=True)
class Came:
    """A number, and the processes that handled it."""

    source: int = 0  # its pid
    number: int = 0
    sender: int = 0  # of the channel. Differs after each restart of its process
    sink: int = 0  # its pid
    known: int = 0  # pid of the source, as the sink knows it


class Witness:
    """Subscribes to all channels and finds gaps in the counts. For each publishing process and each
    life of the source, the count must have no gap after the first received number. A publisher that
    is discovered late is received from a later number on."""

    def __init__(self, node: hyphos.Node) -> None:
        self.lock = threading.Lock()
        self.gaps: list[str] = []
        self.sources: set[int] = set()
        self.counts: dict[tuple[str, int, int], int] = {}  # by channel, sender and source
        self.last = {"number": Came(), "doubled": Came(), "seen": Came()}
        self.messages = 0
        deep = hyphos.Policy(depth=1000)  # as in the plan, so that a stalled process loses nothing

        def hear(channel: str, step: int) -> None:
            def take(message: Int64, info: MessageInfo) -> None:
                self.take(channel, message.data, step, info.sender)

            node.subscribe(channel, Int64, take, policy=deep)

        hear("number", 1)
        hear("doubled", 2)
        node.subscribe("seen", String, self.on_seen, policy=deep)

    def take(self, channel: str, value: int, step: int, sender: int) -> None:
        source, number = divmod(value // step, LIFE)
        with self.lock:
            self.messages += 1
            last = self.counts.get((channel, sender, source), value - step)
            if value != last + step:
                self.gaps.append(f"{channel}: {value} came after {last}")
            self.counts[channel, sender, source] = value
            self.sources.add(source)
            self.last[channel] = Came(source, number, sender)

    def on_seen(self, seen: String) -> None:
        sink, known, sender, value = (int(word) for word in seen.data.split())
        source, number = divmod(value // 2, LIFE)
        with self.lock:
            self.messages += 1
            self.last["seen"] = Came(source, number, sender, sink, known)


def pids(domain: str) -> dict[str, int]:
    """The pids of the processes that are ready."""
    with suppress(hyphos.Error):
        return {p.name: p.pid for p in _hyphos.inspect(domain) if p.state == "ready"}
    return {}


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out waiting for {what}")
        time.sleep(0.005)


def whole(witness: Witness, domain: str, after: int = 0, doubler: int = 0) -> bool:
    """True if all processes are ready and a number of the source above `after` has passed through
    them to the sink and to the witness. Each of these two discovers a new doubler by itself.
    `doubler` is the previous one."""
    there = pids(domain)
    if not all(name in there for name in NAMES):
        return False
    source = there["source"]
    with witness.lock:
        number, doubled, seen = (witness.last[name] for name in ("number", "doubled", "seen"))
    return (
        all(one.source == source and one.number > after for one in (number, doubled, seen))
        and doubled.sender == seen.sender != doubler
        and (seen.sink, seen.known) == (there["sink"], source)
    )


def kill_each(witness: Witness, domain: str, kills: int) -> list[float]:
    """The seconds until the robot had recovered, for each kill."""
    took = []
    for turn in range(kills):
        for victim in NAMES:
            gone = pids(domain)[victim]
            with witness.lock:
                doubler = witness.last["doubled"].sender if victim == "work" else 0
            os.kill(gone, signal.SIGKILL)
            began = time.monotonic()
            until(lambda v=victim, g=gone: pids(domain).get(v, g) != g, f"{victim} to be back")  # type: ignore[misc]
            with witness.lock:
                mark = 0 if victim == "source" else witness.last["number"].number
            until(lambda m=mark, d=doubler: whole(witness, domain, m, d), f"all, after {victim}")  # type: ignore[misc]
            took.append(time.monotonic() - began)
            with witness.lock:
                assert not witness.gaps, (turn, victim, witness.gaps)
    return took


def main() -> int:
    plugin, kills = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    domain = f"launch-crash-{os.getpid()}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nodes = Path(__file__).with_name("launch_nodes.py")
        plan = folder / "robot.yaml"
        plan.write_text(PLAN.format(domain=domain, policy=POLICY, nodes=nodes, plugin=plugin))
        words = [sys.executable, "-m", "hyphos", "run", str(plan), "--logs", str(folder / "logs")]
        words += ["--grace", "30"]
        out = (folder / "out").open("wb")
        with subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT) as robot:
            try:
                with hyphos.Node.open("witness", domain=domain, process="witness") as node:
                    witness = Witness(node)
                    until(lambda: whole(witness, domain), "the robot")
                    took = sorted(kill_each(witness, domain, kills))
                robot.send_signal(signal.SIGINT)
                code = robot.wait(PATIENCE_S)
            except BaseException:
                robot.kill()
                print((folder / "out").read_text(errors="replace")[-5000:])
                raise
        text = (folder / "out").read_text(errors="replace")
    assert code == 0, text
    for name in NAMES:
        assert f"{name}: restarted {kills} times" in text, text
    assert len(witness.sources) == kills + 1, witness.sources
    assert not pids(domain)
    middle, worst = took[len(took) // 2], took[-1]
    print(f"{len(took)} kills, {witness.messages} messages; recovered after {middle:.2f} s")
    print(f"(median; {worst:.2f} s at most); no survivor lost a message")
    return 0


if __name__ == "__main__":
    sys.exit(main())
