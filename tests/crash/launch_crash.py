"""Kills each process of a robot under `hyphos run` in turn, so many times each, and checks after
every kill that the robot is whole again and that the others have lost nothing.

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
from pathlib import Path

import hyphos
from hyphos import _hyphos
from hyphos.msgs import Int64, String

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


class Witness:
    """Hears everything, and finds gaps in what is counted."""

    def __init__(self, node: hyphos.Node) -> None:
        self.lock = threading.Lock()
        self.gaps = {"number": 0, "doubled": 0}
        self.runs = 0  # of the source: its count began anew
        self.last = {"number": 0, "doubled": 0}
        self.seen = ("", "", 0)  # pid of the sink, of the source it knows, what came out
        self.messages = 0
        node.subscribe("number", Int64, lambda m: self.take("number", m.data, 1))
        node.subscribe("doubled", Int64, lambda m: self.take("doubled", m.data, 2))
        node.subscribe("seen", String, self.on_seen)

    def take(self, channel: str, value: int, step: int) -> None:
        with self.lock:
            self.messages += 1
            last = self.last[channel]
            if value < last:
                self.runs += channel == "number"
            elif last and value != last + step:
                self.gaps[channel] += 1
            self.last[channel] = value

    def on_seen(self, seen: String) -> None:
        sink, source, value = seen.data.split()
        with self.lock:
            self.messages += 1
            self.seen = (sink, source, int(value))


def pids(domain: str) -> dict[str, int]:
    """Of the processes that are ready."""
    with suppress(hyphos.Error):
        return {p.name: p.pid for p in _hyphos.inspect(domain) if p.state == "ready"}
    return {}


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.005)


def whole(witness: Witness, domain: str, after: int) -> bool:
    """All stand, and a number counted after `after` has gone through those that stand now, to the
    sink and to the witness: each of them finds a new doubler for itself."""
    there = pids(domain)
    if not all(name in there for name in NAMES):
        return False
    with witness.lock:
        sink, source, value = witness.seen
        heard = min(value, witness.last["doubled"])
    return sink == str(there["sink"]) and source == str(there["source"]) and heard > 2 * after


def kill_each(witness: Witness, domain: str, kills: int) -> list[float]:
    """Seconds until the robot was whole again, for each kill."""
    took = []
    for turn in range(kills):
        for victim in NAMES:
            gone = pids(domain)[victim]
            with witness.lock:
                before = dict(witness.gaps)
            os.kill(gone, signal.SIGKILL)
            began = time.monotonic()
            until(lambda v=victim, g=gone: pids(domain).get(v, g) != g, f"{victim} to be back")  # type: ignore[misc]
            with witness.lock:
                mark = 0 if victim == "source" else witness.last["number"]
            until(lambda m=mark: whole(witness, domain, m), f"the robot, after {victim}")  # type: ignore[misc]
            took.append(time.monotonic() - began)
            with witness.lock:
                gaps = {name: witness.gaps[name] - before[name] for name in before}
            # While the plug-in was away, nothing was doubled: one gap. Nobody else may have one.
            allowed = {"number": 0, "doubled": int(victim == "work")}
            assert all(gaps[name] <= allowed[name] for name in gaps), (turn, victim, gaps)
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
        out = (folder / "out").open("wb")
        with subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT) as robot:
            try:
                with hyphos.Node.open("witness", domain=domain, process="witness") as node:
                    witness = Witness(node)
                    until(lambda: whole(witness, domain, 0), "the robot")
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
    assert witness.runs >= kills - 1, witness.runs
    assert not pids(domain)
    middle, worst = took[len(took) // 2], took[-1]
    print(f"{len(took)} kills, {witness.messages} messages; whole again after {middle:.2f} s")
    print(f"(median; {worst:.2f} s at most); no survivor lost a message")
    return 0


if __name__ == "__main__":
    sys.exit(main())
