"""Options of a run, and its edges, as in lab/common/options.hpp and edges.hpp."""

from __future__ import annotations

from typing import NamedTuple

MAX_FLOWS = 256


class Edge(NamedTuple):
    name: str
    publishers: list[str]
    subscribers: list[str]
    block: bool


class Options:
    """The options that the parent passes to its processes. The parent has checked them."""

    def __init__(self, words: list[str]) -> None:
        given = dict(zip(words[::2], words[1::2], strict=True))
        self.peer = given["--peer"]
        self.variant = given.get("--variant", "")
        self.shape = given["--shape"]
        self.size = int(given["--size"])
        self.rate_hz = float(given["--rate"])
        self.count = int(given["--count"])
        self.seconds = float(given["--seconds"])
        self.warmup = int(given["--warmup"])
        self.processes = int(given["--processes"])
        self.subscribers = int(given["--subscribers"])
        self.publishers = int(given["--publishers"])
        self.pairs = int(given["--pairs"])
        self.reliability = given.get("--reliability", "")
        self.queue = int(given["--queue"])  # 0: the peer's default
        self.work_us = float(given["--work-us"])
        self.stall_ms = float(given["--stall-ms"])
        self.stall_every_ms = float(given["--stall-every-ms"])
        self.recorded = given.get("--recorded", "")
        self.speed = float(given["--speed"])
        hosts = [one.partition("=")[2] for one in given.get("--hosts", "").split(",")]
        self.addresses = hosts if all(hosts) else ["127.0.0.1"]
        self.role = given["--role"]
        self.index = int(given["--index"])
        self.sheet_fd = int(given["--sheet-fd"])
        self.run_dir = given["--run-dir"]
        self.run_id = int(given["--run-id"])
        self.ports = int(given["--ports"])

    @property
    def name(self) -> str:
        return f"{self.role}{self.index}"

    @property
    def echoes(self) -> bool:
        return self.shape == "echo"

    @property
    def floods(self) -> bool:
        return self.shape in ("flood", "uncapped")

    @property
    def uncapped(self) -> bool:
        """Whether the flood has a time limit instead of a number of messages."""
        return self.shape == "uncapped"

    @property
    def sources(self) -> int:
        """The number of publishers with their own schedule."""
        return {"fanin": self.publishers, "echo": self.pairs}.get(self.shape, 1)

    @property
    def hops(self) -> int:
        return {"echo": self.pairs, "pipeline": self.processes - 2}.get(self.shape, 0)

    @property
    def sinks(self) -> int:
        return {"echo": 0, "fanout": self.subscribers}.get(self.shape, 1)

    @property
    def flows(self) -> int:
        """The number of paths from a source to a measuring process."""
        return self.subscribers if self.shape == "fanout" else self.sources

    @property
    def edges(self) -> int:
        return {"echo": 2 * self.pairs, "pipeline": self.processes - 1}.get(self.shape, 1)

    def address_of(self, role: str, index: int) -> str:
        """The address of a process, on the machine of machine_of() in C++."""
        count = len(self.addresses)
        if count == 1:
            return self.addresses[0]
        if self.shape == "pipeline":
            stage = {"pub": 0, "hop": index + 1, "sub": self.processes - 1}[role]
            return self.addresses[stage % count]
        many = count - 1
        if self.shape == "fanin":
            return self.addresses[many if role == "sub" else index % many]
        return self.addresses[0 if role == "pub" else 1 + index % many]

    @property
    def own_address(self) -> str:
        return self.address_of(self.role, self.index)

    @property
    def longest_warm_up_ns(self) -> int:
        return int((60 + 2 * self.warmup * max(1 / self.rate_hz, 0.01)) * 1e9)

    def port(self, index: int) -> int:
        return self.ports + index

    def edge(self, index: int) -> Edge:
        if self.echoes:
            ends = [[f"pub{index // 2}"], [f"hop{index // 2}"]]
            publishers, subscribers = ends if index % 2 == 0 else reversed(ends)
        else:
            sources = [f"pub{i}" for i in range(self.sources)]
            sinks = [f"sub{i}" for i in range(self.sinks)]
            publishers = sources if index == 0 else [f"hop{index - 1}"]
            subscribers = [f"hop{index}"] if index < self.hops else sinks
        return Edge(f"hyphos_lab_{self.run_id}_{index}", publishers, subscribers, self.floods)
