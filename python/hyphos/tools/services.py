"""hyphos service list | info | call, hyphos action list | info | send"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hyphos._errors import Error
from hyphos._hyphos import EndpointInfo, ProcessInfo, TypeId
from hyphos.action import GoalResult, raw_action_client
from hyphos.observe import Look, call_name, drops_of, duration, look, nobody
from hyphos.ros.typebook import TypeBook
from hyphos.service import raw_client
from hyphos.tools.console import console, print_json, table
from hyphos.tools.echo import EchoOptions, Formatter
from hyphos.tools.join import open_tool
from hyphos.tools.pub import bytes_from_hex, message_from_text
from hyphos.tools.struct_message import PROTOBUF, class_of, payload_of
from hyphos.tools.waiting import on_signals
from hyphos.tools.waits import process_lines, reporting


@dataclass(frozen=True)
class Part:
    """The type of one part: a request, a reply, a goal, ..."""

    type_name: str
    encoding: str

    type_hash: int | None = None  # the size of a struct is not known here

    @property
    def id(self) -> TypeId:
        """Valid for its name and encoding only."""
        return TypeId(self.type_name, self.encoding)


@dataclass
class Call:
    """A service or action, seen from outside."""

    name: str
    kind: str
    ends: list[tuple[ProcessInfo, EndpointInfo]] = field(default_factory=list)

    @property
    def server(self) -> tuple[ProcessInfo, EndpointInfo] | None:
        for process, end in self.ends:
            if end.channel.endswith("/request") and not end.is_publisher:
                return process, end
        return None

    @property
    def clients(self) -> list[tuple[ProcessInfo, EndpointInfo]]:
        return [
            (process, end)
            for process, end in self.ends
            if end.channel.endswith("/request") and end.is_publisher
        ]

    @property
    def requests(self) -> int:
        """The server's count, since the counters of clients end with them."""
        if self.server is not None:
            return self.server[1].counter("received")
        return sum(end.counter("sent") for _, end in self.clients)

    @property
    def type_name(self) -> str:
        server = self.server
        end = server[1] if server is not None else self.ends[0][1]
        return end.type_name

    @property
    def drops(self) -> int:
        return sum(drops_of(end) for _, end in self.ends)


def calls(now: Look, kind: str) -> dict[str, Call]:
    """All services, or all actions, by name."""
    found: dict[str, Call] = {}
    for process, end in now.internal_ends():
        name = call_name(end.channel, kind)
        if name is not None:
            found.setdefault(name, Call(name, kind)).ends.append((process, end))
    return dict(sorted(found.items()))


def parts(type_name: str) -> list[Part]:
    """Splits "pkg.A(struct) -> pkg.B(protobuf)" into its types."""
    made = []
    for word in type_name.split(" -> "):
        name, _, encoding = word.rpartition("(")
        made.append(Part(name, encoding.rstrip(")")))
    return made


def _short(type_name: str) -> str:
    return " → ".join(part.type_name for part in parts(type_name))


def _end(process: ProcessInfo, end: EndpointInfo) -> dict[str, Any]:
    return {
        "node": end.node,
        "process": process.name,
        "host": process.host,
        "pid": process.pid,
        "transports": end.transports,
        "counters": dict(end.counters),
    }


def _as_dict(call: Call) -> dict[str, Any]:
    server = call.server
    names = ("request", "reply") if call.kind == "service" else ("goal", "feedback", "result")
    types = parts(call.type_name)
    made: dict[str, Any] = {"name": call.name, "kind": call.kind}
    for name, part in zip(names, types, strict=False):
        made[name] = {"type": part.type_name, "encoding": part.encoding}
    made["server"] = _end(*server) if server is not None else None
    made["clients"] = [_end(*client) for client in call.clients]
    made["requests"] = call.requests
    made["drops"] = call.drops
    return made


def list_calls(kind: str, domain: str, as_json: bool) -> None:
    found = calls(look(domain), kind)
    if as_json:
        print_json([_as_dict(call) for call in found.values()])
        return
    if not found:
        more = "" if look(domain).processes else f": {nobody(domain)}"
        console().print(f"no {kind}s in domain '{domain}' on this machine{more}", soft_wrap=True)
        return
    asked = "requests" if kind == "service" else "goals"
    made = table(
        "",
        [kind, "types", "server", "process", "clients", asked, "drops"],
        ["clients", asked, "drops"],
    )
    for call in found.values():
        server = call.server
        made.add_row(
            call.name,
            _short(call.type_name),
            server[1].node if server is not None else "[red]none[/red]",
            f"{server[0].name} ({server[0].pid})" if server is not None else "",
            str(len(call.clients)),
            f"{call.requests:,}",
            f"[red]{call.drops:,}[/red]" if call.drops else "0",
        )
    console().print(made)


def _require(kind: str, domain: str, name: str) -> Call:
    now = look(domain)
    if not now.processes:
        raise nobody(domain)
    found = calls(now, kind)
    if name in found:
        return found[name]
    near = get_close_matches(name, list(found), 1)
    there = (
        f"did you mean '{near[0]}'?"
        if near
        else f"{kind}s: {', '.join(found)}"
        if found
        else f"domain '{domain}' on this machine has none"
    )
    raise Error("not_found", f"no {kind} '{name}'; {there}", advice=f"hyphos {kind} list")


def info(kind: str, domain: str, name: str, as_json: bool) -> None:
    call = _require(kind, domain, name)
    if as_json:
        print_json(_as_dict(call))
        return
    out = console()
    names = ("request", "reply") if kind == "service" else ("goal", "feedback", "result")
    out.print(f"{kind:<9}{name}")
    for label, part in zip(names, parts(call.type_name), strict=False):
        out.print(f"{label:<9}{part.type_name} ({part.encoding})", soft_wrap=True)
    made = table("", ["", "node", "process", "pid", "transport", "counters"], ["pid"])
    for process, end in call.ends:
        if not end.channel.endswith("/request"):
            continue
        made.add_row(
            "calls" if end.is_publisher else "replies",
            end.node,
            process.name,
            str(process.pid),
            end.transports,
            " ".join(f"{name}={count:,}" for name, count in end.counters),
        )
    out.print(made)
    if call.server is None:
        out.print(f"no server of '{name}' runs on this machine")
        return
    waits = call.server[1].latency
    if waits.count:
        out.print(
            f"requests take {duration(waits.percentile_ns(0.5))} (p50), "
            f"{duration(waits.percentile_ns(0.99))} (p99) from the client to the server's queue"
        )


@dataclass
class CallOptions:
    name: str
    value: str
    timeout_s: float
    buffers: Sequence[Path]
    hex_value: bool
    full: bool
    as_json: bool
    domain: str
    proto_path: Sequence[Path]
    descriptors: Sequence[Path]


Encoded = Callable[[Callable[[], int]], tuple[bytes, list[bytes]]]


def _encode(part: Part, options: CallOptions) -> Encoded:
    """Returns a function that encodes the typed text as a request, for a clock."""
    text = sys.stdin.read() if options.value == "-" else options.value
    buffers = [path.read_bytes() for path in options.buffers]
    if buffers and part.encoding != "attached":
        raise Error("invalid_config", f"{part.type_name} has no attached buffers")
    if options.hex_value:
        payload = bytes_from_hex(text)
        return lambda _now: (payload, buffers)
    if part.encoding == "bytes":
        return lambda _now: (text.encode(), buffers)
    book = TypeBook(options.proto_path, options.descriptors, options.domain)
    cls = class_of(book, part.type_name, part.encoding)
    if cls is None and part.encoding in PROTOBUF:
        cls = book.get(part.type_name)  # an error with a similar name
    if cls is None:
        raise Error(
            "unsupported",
            f"{part.type_name} is a {part.encoding} type, which cannot be written as YAML",
            advice="give its bytes as hexadecimal, with --hex",
        )
    sizes = [len(one) for one in buffers]
    # Fails before anything starts.
    payload_of(cls, message_from_text(cls, text, sizes).message)

    def make(now: Callable[[], int]) -> tuple[bytes, list[bytes]]:
        return payload_of(cls, message_from_text(cls, text, sizes, now).message), buffers

    return make


def _formatter(part: Part, options: CallOptions) -> Formatter:
    echo = EchoOptions(
        channel=options.name,
        count=None,
        timeout_s=None,
        full=options.full,
        meta=False,
        as_json=options.as_json,
        domain=options.domain,
        proto_path=options.proto_path,
        descriptors=options.descriptors,
    )
    return Formatter(part, echo)


def _show(formatter: Formatter, value: tuple[Any, Sequence[Any]]) -> str:
    payload, buffers = value
    return formatter(bytes(payload), list(buffers)).removesuffix("\n---")


def _server(kind: str, options: CallOptions) -> EndpointInfo:
    call = _require(kind, options.domain, options.name)
    if call.server is None:
        raise Error(
            "not_found",
            f"no server of '{options.name}' runs on this machine",
            advice=f"hyphos {kind} info {options.name} shows its clients",
        )
    return call.server[1]


def _awaited(kind: str, what: str, options: CallOptions) -> list[str]:
    head = f"waiting for {what} '{options.name}'"
    found = calls(look(options.domain), kind).get(options.name)
    if found is None or found.server is None:
        return process_lines(f"{head}, which has no server now", options.domain)
    process, end = found.server
    asked = "requests" if kind == "service" else "goals"
    return [
        head,
        f"  server {end.node} (process {process.name}, pid {process.pid}): "
        f"{end.counter('received'):,} {asked} received, {len(found.clients)} clients",
    ]


def call(options: CallOptions) -> int:
    """Calls once and prints the reply."""
    end = _server("service", options)
    request, reply = parts(end.type_name)
    make = _encode(request, options)
    known = TypeId.known(end.type_name, end.encoding, end.type_hash)
    with open_tool("call", options.domain) as node:
        client = raw_client(node, options.name, request.id, reply.id, known)
        with reporting(lambda: _awaited("service", "the reply of", options)):
            answer = client.call(make(node.clock.now_ns), timeout_ms=options.timeout_s * 1e3)
        formatter = _formatter(reply, options)
        if formatter.note:
            print(formatter.note, file=sys.stderr)
        print(_show(formatter, answer), flush=True)
    return 0


def send(options: CallOptions, quiet: bool) -> int:
    """Sends one goal, prints feedback and result. Ctrl-C cancels the goal."""
    end = _server("action", options)
    goal_type, feedback_type, result_type = parts(end.type_name)
    make = _encode(goal_type, options)
    known = TypeId.known(end.type_name, end.encoding, end.type_hash)
    show_feedback = _formatter(feedback_type, options)

    done = threading.Event()
    outcome: list[tuple[GoalResult[Any] | None, Error | None]] = []

    def ended(result: GoalResult[Any] | None, error: Error | None) -> None:
        outcome.append((result, error))
        done.set()

    with open_tool("send", options.domain) as node:
        client = raw_action_client(
            node, options.name, (goal_type.id, feedback_type.id, result_type.id), known
        )
        asked = [0]
        goals: list[Any] = []

        def interrupted(_number: int) -> None:
            asked[0] += 1
            if asked[0] > 1:
                done.set()
                return
            print("canceling, press Ctrl-C again to exit", file=sys.stderr)
            for goal in goals:
                goal.cancel()

        def heard(feedback: Any) -> None:
            end_report()
            print(_show(show_feedback, feedback), flush=True)

        with (
            on_signals(interrupted),  # before the first feedback: a user may then press Ctrl-C
            reporting(lambda: _awaited("action", "feedback or result of", options)) as end_report,
        ):
            goal = client.send(
                make(node.clock.now_ns),
                None if quiet else heard,
                accept_timeout_ms=options.timeout_s * 1e3,
            )
            goals.append(goal)
            if asked[0]:
                goal.cancel()
            goal.then(ended)
            done.wait()
        if asked[0] > 1 and not outcome:
            raise KeyboardInterrupt
        result, error = outcome[0]
        if result is None:
            raise error or Error("io", "the goal ended without a result", options.name)
        print(_show(_formatter(result_type, options), result.value), flush=True)
        print(result.state, file=sys.stderr)
        if goal.feedback_dropped:
            print(f"{goal.feedback_dropped} feedback messages were dropped", file=sys.stderr)
        return 0 if result.succeeded else 1
