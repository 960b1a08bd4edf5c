"""`hyphos metrics`: the text that Prometheus reads."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator

import hyphos
import pytest
from helpers import Cli, Inbox, Start, wait_until
from hyphos.msgs import Int64

SAMPLE = re.compile(r"^([a-z_]+)\{(.*)\} (\S+)$")
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')

Samples = list[tuple[str, dict[str, str], float]]


def parse(text: str) -> Samples:
    """Parses the text. Every line is a comment or a sample of the last metric."""
    assert text.endswith("\n")
    found: Samples = []
    family = ""
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            family = line.split()[2]
        elif not line.startswith("# HELP "):
            match = SAMPLE.match(line)
            assert match, line
            assert match[1].startswith(family)
            found.append((match[1], dict(LABEL.findall(match[2])), float(match[3])))
    return found


def value(samples: Samples, name: str, **labels: str) -> float:
    [found] = [v for n, have, v in samples if n == name and labels.items() <= have.items()]
    return found


@pytest.fixture
def talk(domain: str, inbox: Inbox) -> Iterator[None]:
    with hyphos.Node.open("tester", domain=domain) as node:
        node.subscribe("number", Int64, inbox)
        out = node.publisher("number", Int64)
        for i in range(5):
            out.publish(Int64(data=i))
        inbox.wait(5)

        def timed() -> bool:  # a callback is timed after its end
            ends = [end for end in node.runtime.endpoints() if not end.is_publisher]
            return sum(end.latency.count for end in ends if end.channel == "number") == 5

        wait_until(timed, "the times of the messages")
        yield


@pytest.mark.usefixtures("talk")
def test_counters_and_latencies_are_exported(hyphos_cli: Cli, domain: str) -> None:
    code, out, err = hyphos_cli("metrics", "--once", "-d", domain)
    assert code == 0, err
    samples = parse(out)
    assert value(samples, "hyphos_processes") == 1
    assert value(samples, "hyphos_messages_sent_total", channel="number", node="tester") == 5
    assert value(samples, "hyphos_messages_received_total", channel="number") == 5
    assert value(samples, "hyphos_latency_seconds_count", channel="number") == 5
    assert value(samples, "hyphos_latency_seconds_bucket", channel="number", le="+Inf") == 5
    steps = [v for n, labels, v in samples if n == "hyphos_latency_seconds_bucket"]
    assert steps == sorted(steps)
    assert value(samples, "hyphos_latency_seconds_sum", channel="number") > 0
    assert value(samples, "hyphos_clock_seconds", mode="real") > 1.7e9


@pytest.mark.usefixtures("talk")
def test_prometheus_can_read_the_endpoint(
    hyphos_start: Start, hyphos_cli: Cli, domain: str
) -> None:
    server = hyphos_start("metrics", "--port", "0", "-d", domain)
    match = re.fullmatch(r"metrics at (http://127\.0\.0\.1:(\d+)/metrics)", server.line())
    assert match
    with urllib.request.urlopen(match[1], timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        samples = parse(answer.read().decode())
    assert value(samples, "hyphos_messages_sent_total", channel="number") == 5
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(match[1].replace("/metrics", "/"), timeout=30)
    code, _, err = hyphos_cli("metrics", "--port", match[2], "-d", domain)
    assert code == 1
    assert f"cannot listen on 127.0.0.1 port {match[2]}" in err
    assert server.stop()[0] == 0


def test_text_is_escaped() -> None:
    from hyphos.tools.metrics import _escape  # noqa: PLC0415

    assert _escape('a"b\\c\nd') == 'a\\"b\\\\c\\nd'
