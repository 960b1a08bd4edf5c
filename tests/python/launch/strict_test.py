"""`hyphos run --strict` and `--events`: a run is compared with its plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Cli, Start, wait_until
from hyphos._hyphos import Plan
from hyphos.observe import Look
from hyphos.tools.strict import findings_of
from hyphos.tools.totals import Totals
from looks import End, look_at
from testing_nodes import PLAN, write_robot


def run(start: Start, folder: Path, domain: str, plan: str, *words: str) -> tuple[int, str]:
    """Runs a robot until all its processes are ready."""
    path, events = write_robot(folder, plan), folder / "events.jsonl"
    more = ["--set", f"domain={domain}", "--logs", str(folder / "logs"), "--events", str(events)]
    program = start("run", str(path), *more, *words)
    wait_until(lambda: events.exists() and '"event": "ready"' in events.read_text(), "the robot")
    code, out, err = program.stop()
    return code, out + err


def findings(text: str) -> list[str]:
    return [line.partition("strict: ")[2] for line in text.splitlines() if "strict: " in line]


def test_a_robot_as_planned_passes(hyphos_start: Start, tmp_path: Path, domain: str) -> None:
    code, text = run(hyphos_start, tmp_path, domain, PLAN, "--strict")
    assert (code, findings(text)) == (0, []), text


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("publishers: [doubler]", "publishers: [counter]", "'doubler' publishes 'doubled'"),
        ("subscribers: [doubler]", "subscribers: []", "'doubler' subscribes to 'count'"),
        (", subscribers: []", "", "'doubled' has no subscriber, but doubler publishes it"),
        ("nodes: [counter]", "nodes: []", "'count' has no publisher, but doubler subscribes"),
    ],
)  # fmt: skip
def test_a_use_that_is_not_planned_fails(
    hyphos_start: Start, tmp_path: Path, domain: str, old: str, new: str, finding: str
) -> None:
    plan = PLAN.replace(old, new)
    if "nodes: []" in new:
        plan = plan.replace('  counter: {python: "nodes.py:Counter"}\n', "")
        plan = plan.replace("publishers: [counter], ", "")
    code, text = run(hyphos_start, tmp_path, domain, plan, "--strict")
    assert code == 1
    assert finding in "\n".join(findings(text)), text


def test_an_exception_in_a_callback_fails(hyphos_start: Start, tmp_path: Path, domain: str) -> None:
    plan = write_robot(tmp_path, PLAN.replace("nodes.py:Doubler", "nodes.py:Fragile"))
    logs = tmp_path / "logs"
    words = ["--set", f"domain={domain}", "--logs", str(logs), "--strict"]
    program = hyphos_start("run", str(plan), *words)
    log = logs / "sink.log"
    wait_until(lambda: log.exists() and "cannot double " in log.read_text(), "the exception")
    code, out, _ = program.stop()
    assert code == 1
    assert "sink failed (1)" in out
    assert (
        "strict: exceptions left callbacks: 1. The first: node 'doubler': callback of channel"
        in out
    )


@pytest.mark.parametrize(("words", "expected"), [(["--strict"], 1), ([], 0)])
def test_an_exception_in_a_timer_fails(
    hyphos_cli: Cli, tmp_path: Path, domain: str, words: list[str], expected: int
) -> None:
    plan = write_robot(tmp_path, 'hyphos: 1\nnodes: {bad: {python: "nodes.py:Once"}}\n')
    set_domain = ["--set", f"domain={domain}", "--logs", str(tmp_path / "logs")]
    code, out, _ = hyphos_cli("run", str(plan), *set_domain, *words)
    assert code == expected, out
    assert "node 'bad': a timer's callback threw: KeyError: 'no such key'" in out


def test_events_are_json_lines(hyphos_start: Start, tmp_path: Path, domain: str) -> None:
    plan = PLAN.replace("publishers: [doubler]", "publishers: [counter]")
    code, text = run(hyphos_start, tmp_path, domain, plan)
    assert code == 0, text  # without --strict
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    kinds = [event["event"] for event in events]
    assert kinds.index("ready") < kinds.index("finding") < kinds.index("end") == len(kinds) - 1
    assert events[-1] == {"event": "end", "code": 0}
    states = [event["state"] for event in events if event.get("process") == "source"]
    assert states[0] == "starting"
    assert "running" in states
    assert states[-1] == "ended"
    [finding] = [e for e in events if e["event"] == "finding" and e["what"] == "undeclared"]
    assert "'doubler' publishes 'doubled'" in finding["text"]


def test_events_need_a_file_that_can_be_written(
    hyphos_cli: Cli, tmp_path: Path, domain: str
) -> None:
    words = ["--set", f"domain={domain}", "--events", str(tmp_path / "no/file")]
    code, _, err = hyphos_cli("run", str(write_robot(tmp_path)), *words)
    assert code == 1
    assert "cannot write the events: No such file or directory" in err


def test_processes_outside_of_the_plan_feed_channels_but_have_no_findings(tmp_path: Path) -> None:
    loaded = Plan.load(str(write_robot(tmp_path)), [], False)
    plan = json.loads(loaded.json())
    subscriber = End("count", "doubler", False)
    publisher = End("doubled", "doubler", True)
    outside = End("count", "tool", True)

    def found(*ends: tuple[str, list[End]]) -> list[str]:
        totals = Totals(0.0)
        seen: Look = look_at(1, *((number, of) for number, (_, of) in enumerate(ends)))
        for process, (name, _) in zip(seen.processes, ends, strict=True):
            process.name = name  # type: ignore[misc]
        totals.add(seen)
        return [one.what for one in findings_of(loaded, plan, totals)]

    assert found(("sink", [subscriber, publisher])) == ["no_publisher"]
    assert found(("sink", [subscriber, publisher]), ("tool-1", [outside])) == []
