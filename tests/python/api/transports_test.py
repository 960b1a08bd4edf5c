"""The transports of endpoints, as the tools show them."""

from __future__ import annotations

import hyphos
from helpers import wait_until
from hyphos import _hyphos
from hyphos.msgs import Int64


def test_a_second_publisher_has_the_transports_of_the_first(domain: str, node: hyphos.Node) -> None:
    with hyphos.Node.open("other", domain=domain) as other:
        other.subscribe("count", Int64, lambda _: None)
        first = node.publisher("count", Int64)
        wait_until(lambda: first.listeners > 0, "the subscriber")
        second = node.publisher("count", Int64)
        assert second.listeners > 0
        ends = [
            end.transports
            for process in _hyphos.inspect(domain)
            for end in process.endpoints
            if end.channel == "count" and end.is_publisher
        ]
        assert ends == ["shm", "shm"]
