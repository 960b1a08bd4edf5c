"""hyphos metrics: counters of a robot in the text format of Prometheus (version 0.0.4)."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hyphos import _hyphos
from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, Histogram, ProcessInfo
from hyphos.observe import look
from hyphos.tools.waiting import stoppable

_TIMEOUT_S = 5.0  # for one request, then the connection is closed
_MOST_AT_ONCE = 8  # requests, further ones get status 503
# Upper edges of latencies in seconds: 1, 2, 5 in each decade from 1 us to 10 s.
_EDGES_NS = [m * 10**e for e in range(3, 10) for m in (1, 2, 5)] + [10**10]
_COUNTERS = {
    "sent": ("hyphos_messages_sent_total", "Messages published."),
    "received": ("hyphos_messages_received_total", "Callbacks run."),
    "bytes": ("hyphos_bytes_total", "Encoded bytes. 0 if messages are passed by pointer only."),
    "deadline_missed": ("hyphos_deadline_missed_total", "Silences longer than the deadline."),
    "callback_error": ("hyphos_callback_errors_total", "Exceptions that left callbacks."),
}


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels.items()) + "}"


@dataclass
class _Family:
    kind: str
    text: str
    lines: list[str] = field(default_factory=list)


class _Page:
    """Samples by metric: the format requires the samples of one metric together."""

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}

    def add(
        self,
        name: str,
        kind: str,
        text: str,
        labels: dict[str, str],
        value: float,
        suffix: str = "",
    ) -> None:
        family = self._families.setdefault(name, _Family(kind, text))
        family.lines.append(f"{name}{suffix}{_labels(labels)} {value!r}")

    def __str__(self) -> str:
        blocks = (
            f"# HELP {name} {family.text}\n# TYPE {name} {family.kind}\n" + "\n".join(family.lines)
            for name, family in self._families.items()
        )
        return "\n".join(blocks) + "\n"


def _cumulative(histogram: Histogram) -> Iterable[tuple[str, int]]:
    """Pairs (upper edge in seconds, number of samples at or below it).

    A bucket of our histogram counts at its upper edge. So a sample may be counted up to 1.6 % too
    high, never too low.
    """
    buckets, seen = list(histogram.buckets), 0
    for edge in _EDGES_NS:
        while buckets and buckets[0][0] <= edge:
            seen += buckets.pop(0)[1]
        yield f"{edge / 1e9:g}", seen
    yield "+Inf", seen + sum(count for _, count in buckets)


def _add_latency(page: _Page, labels: dict[str, str], histogram: Histogram) -> None:
    name, text = "hyphos_latency_seconds", "From publish() to the start of the callback."
    for edge, count in _cumulative(histogram):
        page.add(name, "histogram", text, labels | {"le": edge}, count, "_bucket")
    total_s = histogram.mean_ns * histogram.count / 1e9
    page.add(name, "histogram", text, labels, total_s, "_sum")
    page.add(name, "histogram", text, labels, histogram.count, "_count")


def _add_end(page: _Page, process: ProcessInfo, end: EndpointInfo, now_ns: int) -> None:
    labels = {
        "process": process.name,
        "node": end.node,
        "channel": end.channel,
        "end": "publisher" if end.is_publisher else "subscriber",
    }
    for counter, (name, text) in _COUNTERS.items():
        mine = "sent" if end.is_publisher else "received"
        if counter == mine or end.counter(counter) > 0:
            page.add(name, "counter", text, labels, end.counter(counter))
    for counter, count in end.counters:
        if counter.startswith("unmatched."):
            text = "Received messages without a set of their synchronizer, by reason."
            why = counter.removeprefix("unmatched.")
            page.add("hyphos_unmatched_total", "counter", text, labels | {"why": why}, count)
        if not counter.startswith("drop."):
            continue
        where, _, why = counter.removeprefix("drop.").partition(".")
        drop = labels | {"where": where, "why": why}
        page.add(
            "hyphos_drops_total", "counter", "Messages lost, by place and reason.", drop, count
        )
    if end.last_ns:
        text = "Time since the last message."
        age_s = max(0, now_ns - end.last_ns) / 1e9
        page.add("hyphos_last_message_age_seconds", "gauge", text, labels, age_s)
    if not end.is_publisher:
        del labels["end"]
        _add_latency(page, labels, end.latency)


def _add_clocks(page: _Page, process: ProcessInfo) -> None:
    labels = {"process": process.name, "mode": process.clock.mode}
    text = "The time of the process, seconds since 1970."
    page.add("hyphos_clock_seconds", "gauge", text, labels, process.clock.now_ns / 1e9)
    for peer in process.peer_clocks:
        where = {"process": process.name, "peer": peer.process, "endpoint": peer.endpoint}
        for name, text, value_ns in (
            ("wall_ahead", "Wall clock of another machine minus this one.", peer.wall_ahead_ns),
            ("uncertainty", "Uncertainty of that difference.", peer.uncertainty_ns),
            (
                "round_trip",
                "Round trip of the best exchange with that machine.",
                peer.round_trip_ns,
            ),
        ):
            page.add(f"hyphos_peer_clock_{name}_seconds", "gauge", text, where, value_ns / 1e9)


def render(domain: str) -> str:
    """All metrics of a domain, now."""
    processes = look(domain).processes
    now_ns = _hyphos.monotonic_ns()
    page = _Page()
    page.add(
        "hyphos_processes", "gauge", "Processes of the domain.", {"domain": domain}, len(processes)
    )
    for process in processes:
        info = {"process": process.name, "host": process.host, "pid": str(process.pid)}
        page.add("hyphos_process_info", "gauge", "Always 1, one sample per process.", info, 1)
        _add_clocks(page, process)
        for end in process.endpoints:
            _add_end(page, process, end, now_ns)
    return str(page)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], domain: str) -> None:
        self.domain = domain
        self.turns = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that disconnects needs no log line."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _TIMEOUT_S
    server: _Server

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self._answer(404, "text/plain", "not found, the metrics are at /metrics\n")
        elif not self.server.turns.acquire(blocking=False):
            self._answer(503, "text/plain", "too many requests at once\n")
        else:
            try:
                text = render(self.server.domain)
            except Error as error:
                self._answer(500, "text/plain", f"{error}\n")
            else:
                self._answer(200, "text/plain; version=0.0.4; charset=utf-8", text)
            finally:
                self.server.turns.release()

    def _answer(self, code: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Regular scrapes need no log lines."""


def serve(domain: str, host: str, port: int) -> int:
    """Serves until Ctrl-C."""
    try:
        server = _Server((host, port), domain)
    except OSError as error:
        raise Error(
            "io", f"cannot listen on {host} port {port}: {error.strerror}", advice="give --port"
        ) from error
    shown = f"[{host}]" if ":" in host else host
    with server, stoppable() as stop:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        print(f"metrics at http://{shown}:{server.server_address[1]}/metrics", flush=True)
        stop.wait()
        server.shutdown()
        thread.join()
    return 0
