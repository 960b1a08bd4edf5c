"""`hyphos cosim run --mcap` and `emulate --mcap`: a run as a recording."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from helpers import Start
from hyphos.recording.mcap_scan import Scan
from lab_places import ECHO, need

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "examples/cosim/cosim.yaml"


def test_a_run_is_recorded_completely_and_reproducibly(hyphos_start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "cosim.yaml"
    scenario.write_text(EXAMPLE.read_text().replace("duration_s: 30", "duration_s: 5"))
    files = [tmp_path / f"{number}.mcap" for number in range(2)]
    for file, option in zip(files, ("--skip", "--no-skip"), strict=True):
        code, out, err = hyphos_start(
            "cosim", "run", str(scenario), "--mcap", str(file), option
        ).end()
        assert code == 0, err
    assert files[0].read_bytes() == files[1].read_bytes()
    scan = Scan(files[0])
    messages = [message for group in scan.messages() for message in group]
    assert scan.problems == []
    topics = Counter(scan.channels[message.channel].topic for message in messages)
    assert set(topics) == {
        "cosim/links",
        "cosim/packets",
        "cosim/scene",
        "cosim/windows",
        "husky1/pose",
        "husky2/pose",
        "iris/pose",
    }
    packets = [
        (message.log_ns, json.loads(message.data))
        for message in messages
        if scan.channels[message.channel].topic == "cosim/packets"
    ]
    events = Counter(packet["event"] for _, packet in packets)
    assert events["sent"] == 300  # three robots, 20 per second, 5 s
    dropped = sum(packet["copies"] for _, packet in packets if packet["event"] == "dropped")
    flying = re.search(r"(\d+) in flight", out)
    assert flying is not None
    assert events["delivered"] + dropped + int(flying[1]) == 600
    assert f"{events['delivered']} delivered" in out
    sent_ns = {packet["packet"]: at for at, packet in packets if packet["event"] == "sent"}
    for at, packet in packets:
        if packet["event"] == "delivered":
            assert packet["sent_ns"] == sent_ns[packet["packet"]] < at
    assert topics["iris/pose"] == topics["husky1/pose"] > 20


def test_a_run_is_shown_by_bag_info(hyphos_start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "cosim.yaml"
    scenario.write_text(EXAMPLE.read_text().replace("duration_s: 30", "duration_s: 1"))
    file = tmp_path / "run.mcap"
    code, _, err = hyphos_start("cosim", "run", str(scenario), "--mcap", str(file)).end()
    assert code == 0, err
    code, out, err = hyphos_start("bag", "info", str(file)).end()
    assert code == 0, err
    assert "cosim/packets" in out
    assert "cosim/windows" in out
    assert "iris/pose" in out


# Sends until 50 datagrams have come back. Late replies are left out.
SEND = """
import itertools, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.5)
came = 0
for number in itertools.count():
    if came == 50:
        break
    sent = str(number).encode()
    s.sendto(sent, ("ADDRESS", 7000))
    try:
        while s.recv(100) != sent:
            pass
        came += 1
        time.sleep(0.03)
    except OSError:
        pass
"""


@need()
def test_a_run_in_real_time_is_recorded_completely(hyphos_start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "cosim.yaml"
    scenario.write_text(
        "realtime: {lag_p99_ms: 600000, lag_longest_ms: 600000}\n"
        "robots:\n  a: {waypoints: [[0, 0, 1], [50, 0, 1]], speed: 2}\n"
        f"  b: {{at: [10, 0, 1], run: [{sys.executable}, echo.py]}}\n"
        "  c: {at: [9000, 0, 1]}\n"
    )
    (tmp_path / "echo.py").write_text(ECHO)
    file, told = tmp_path / "run.mcap", tmp_path / "run.json"
    code, out, err = hyphos_start(
        "cosim", "emulate", str(scenario), "--for", "1000", "--mcap", str(file),
        "--json", str(told), "--on", "a", "--",
        sys.executable, "-c", SEND.replace("ADDRESS", "{b}"),
    ).end()  # fmt: skip
    assert code == 0, out + err
    packets = json.loads(told.read_text())["packets"]
    scan = Scan(file)
    messages = [message for group in scan.messages() for message in group]
    assert scan.problems == []
    by_topic: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for message in messages:
        topic = scan.channels[message.channel].topic
        by_topic.setdefault(topic, []).append((message.log_ns, json.loads(message.data)))
    assert set(by_topic) == {
        "cosim/links", "cosim/packets", "cosim/scene", "a/pose", "b/pose", "c/pose"
    }  # fmt: skip
    events = Counter(one["event"] for _, one in by_topic["cosim/packets"])
    assert events["sent"] == packets["packets"] >= 100
    assert events["delivered"] == packets["delivered"] >= 100
    dropped = sum(
        one["copies"] for _, one in by_topic["cosim/packets"] if one["event"] == "dropped"
    )
    assert dropped == sum(packets["dropped"].values()) > 0
    sizes = {one["packet"]: one["bytes"] for _, one in by_topic["cosim/packets"]}
    for at, one in by_topic["cosim/packets"]:
        assert one["bytes"] == sizes[one["packet"]]
        assert one["event"] != "delivered" or one["sent_ns"] < at
    places = [one["pose"]["position"]["x"] for _, one in by_topic["a/pose"]]
    assert places == sorted(places)
    assert places[-1] > places[0]
