"""A parameter that any process can read counts refused messages. The log is rate-limited."""

from __future__ import annotations

import threading
from pathlib import Path

import hyphos
from helpers import Cli, Inbox, wait_until
from hyphos.msgs import Log


def test_a_reason_refuses_and_counts(node: hyphos.Node) -> None:
    refusals = hyphos.Refusals(node)
    assert not refusals.refuse("scan", "")
    assert refusals.count == 0
    assert refusals.refuse("scan", "it has no ranges")
    assert refusals.refuse("odom", "the stamp is 0")
    assert refusals.count == 2
    assert node.params().values()["refused"] == 2


def test_the_count_is_read_from_another_process(
    node: hyphos.Node, hyphos_cli: Cli, domain: str
) -> None:
    refusals = hyphos.Refusals(node)
    for _ in range(3):
        refusals.refuse("scan", "it has no ranges")
    code, out, err = hyphos_cli("param", "get", "tester", "refused", "-d", domain)
    assert code == 0, err
    assert out.split()[-1] == "3"


def test_the_count_continues_after_a_restart(domain: str, tmp_path: Path) -> None:
    words = ["test", "--hyphos-domain", domain, "--hyphos-state", str(tmp_path)]
    for life in (1, 2):
        with hyphos.Node.open("tester", words) as node:
            refusals = hyphos.Refusals(node)
            assert refusals.count == life - 1
            refusals.refuse("scan", "it has no ranges")
            wait_until(lambda: any(tmp_path.iterdir()), "the state")


def test_concurrent_refusals_are_all_counted(node: hyphos.Node) -> None:
    refusals = hyphos.Refusals(node)

    def refuse() -> None:
        for _ in range(100):
            refusals.refuse("scan", "it has no ranges")

    threads = [threading.Thread(target=refuse) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refusals.count == node.params().values()["refused"] == 400


def test_the_log_has_channel_reason_and_count_once(node: hyphos.Node, inbox: Inbox) -> None:
    listener = node.runtime.node("listener")
    listener.subscribe("log", Log, inbox)
    refusals = hyphos.Refusals(node)
    for _ in range(50):
        refusals.refuse("scan", "it has no ranges")
    node.log.info("behind")
    wait_until(lambda: any(line.msg == "behind" for line in inbox.items), "the last line")
    lines = [line.msg for line in inbox.items if "refused" in line.msg]
    assert lines[0] == "scan refused: it has no ranges (1 refused so far)"
    assert len(lines) < 50
