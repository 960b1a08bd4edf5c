"""Graphs for the profiler with known results: a running one, and synthetic events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
from helpers import Program, Start, wait_until
from hyphos.lab.case import Case
from hyphos.lab.machine import Load
from hyphos.lab.profile.events import EVENT, Collection, Collector, End
from hyphos.lab.profile.flows import Flows, Way
from hyphos.lab.profile.layers import LAYERS
from hyphos.lab.profile.profile import PathProfile, Profile, profile
from hyphos.lab.profile.runs import CaseProfile, RunLayers, layers_of_run
from hyphos.lab.results import Run

QUIET, DISTURBED = Load(0.0, 0.0), Load(0.5, 0.0)
CALLBACK = LAYERS.index("callback")

# camera → filter → sink, a process each. The payload is the camera's publish time, by its own
# clock. The sink prints its age at the start of the callback.
PIPELINE = """
import sys, time, hyphos
from hyphos.msgs import Int64
role, domain, work_s, plan = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
node = hyphos.Node.open(role, plan=plan, domain=domain, process=role)
print("up", flush=True)  # before any callback prints
if role == "camera":
    image = node.publisher("image", Int64)
    node.every(lambda: image.publish(Int64(data=time.monotonic_ns())), rate_hz=10)
elif role == "filter":
    edges = node.publisher("edges", Int64)
    def work(message):
        time.sleep(work_s)
        edges.publish(message)
    node.subscribe("image", Int64, work)
else:
    def hear(message, info):
        print(info.sequence, info.stamps["callback"] - message.data, flush=True)
    node.subscribe("edges", Int64, hear)
node.spin()
"""


class Gathered:
    """Collects the events of a domain from its construction on."""

    def __init__(self, domain: str) -> None:
        self._collector = Collector(domain)

    def until(self, count: int, what: Callable[[Flows], int]) -> Profile:
        """Looks until `what` has this count."""

        def enough() -> bool:
            self._collector.look()
            return what(Flows(self._collector.finish())) >= count

        wait_until(enough, "events")
        return profile(Flows(self._collector.finish()))


def ways(flows: Flows) -> int:
    return len(flows.ways()[0])


def receptions(flows: Flows) -> int:
    return len(flows.receptions)


def by_channels(told: Profile) -> dict[str, PathProfile]:
    return {"→".join(channel for channel, _ in path.hops): path for path in told.paths}


def pipeline_words(role: str, domain: str, work_s: float, plan: str = "") -> list[str]:
    return [sys.executable, "-c", PIPELINE, role, domain, str(work_s), plan]


def start_pipeline(start: Start, domain: str, work_s: float) -> Program:
    """Starts the pipeline. Returns the sink when messages flow."""
    roles = ("sink", "filter", "camera")
    return flowing([start(*pipeline_words(role, domain, work_s)) for role in roles])


def flowing(programs: Sequence[Program]) -> Program:
    """Waits for the first messages. Returns the first program, which is the sink."""
    for program in programs:
        assert program.line() == "up"
    programs[0].line()
    return programs[0]


def ages_of(sink: Program, wanted: set[int]) -> dict[int, int]:
    """The ages of messages in the sink's output, by sequence: the time since the publish."""
    found: dict[int, int] = {}
    while not wanted <= found.keys():
        sequence, age_ns = sink.line().split()
        found[int(sequence)] = int(age_ns)
    return found


def to_the_last_callback(way: Way) -> int:
    """The sum of the layers of a path, without the last callback."""
    return sum(sum(step.parts) for step in way.steps) - way.steps[-1].parts[CALLBACK]


def made_up(*rows: dict[str, int], uncertainty_ns: dict[int, int] | None = None) -> Flows:
    events = np.zeros(len(rows), EVENT)
    owner = np.zeros(len(rows), np.uint64)
    for i, row in enumerate(rows):
        for name, value in row.items():
            if name == "owner":
                owner[i] = value
            else:
                events[name][i] = value
    ends = {
        (1, 1): End(1, "body", 10, "driver", "scan", True),
        (2, 1): End(2, "mind", 20, "mapper", "scan", False),
        (2, 2): End(2, "mind", 20, "mapper", "map", True),
        (2, 3): End(2, "mind", 20, "keeper", "map", False),
    }
    return Flows(Collection(events, owner, ends, {}, uncertainty_ns or {}, 1.0))


def reception(owner: int, endpoint: int, sender: int, at: int) -> dict[str, int]:
    return {
        **{"owner": owner, "endpoint": endpoint, "sender": sender, "sequence": 1, "received": 1},
        **{"publish": at, "encoded": at + 5, "submitted": at + 6, "arrived": at + 20},
        **{"scheduled": at + 25, "dequeued": at + 40, "decoded": at + 49, "callback": at + 50},
        "end": at + 100,
    }


def published(owner: int, endpoint: int, sender: int, at: int, cause: int = 0) -> dict[str, int]:
    row = {"owner": owner, "endpoint": endpoint, "sender": sender, "sequence": 1, "publish": at}
    if cause:
        row |= {"cause_sender": cause, "cause_sequence": 1, "cause_endpoint": 1}
    return row


def two_hops(wait_ns: int = 0) -> Flows:
    """body/driver ─scan→ mind/mapper ─map→ mind/keeper, once, in 180 ns. `wait_ns` is added to the
    transport of `map`."""
    last = reception(2, 3, 8, 1080)
    for stamp in ("arrived", "scheduled", "dequeued", "decoded", "callback", "end"):
        last[stamp] += wait_ns
    return made_up(
        published(1, 1, 7, 1000), reception(2, 1, 7, 1000), published(2, 2, 8, 1080, 7), last
    )


def run_layers(case: Case, repeat: int, wait_ns: int, load: Load = QUIET) -> RunLayers:
    """The layers of a run of two_hops()."""
    run = Run(case, "hyphos/shm", repeat, {"received": 1, "lost": 0}, load=load)
    made = layers_of_run(run, two_hops(wait_ns).found, "", keep=True)
    assert made is not None
    return made


def case_profile(case: Case, waits_ns: Sequence[int]) -> CaseProfile:
    """A case with a run for each of these waits."""
    runs = [run_layers(case, repeat, wait_ns) for repeat, wait_ns in enumerate(waits_ns)]
    return CaseProfile(case, "hyphos/shm", ["size", "rate_hz"], runs)
