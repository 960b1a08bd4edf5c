"""HYPHOS_DOMAIN selects the domain of commands and programs, and an option wins."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hyphos
import pytest
from helpers import Cli, Inbox, Start, write_program
from hyphos.cli.main import make_app
from hyphos.msgs import String
from typer.main import get_command

PROGRAM = """import sys, hyphos
with hyphos.Node.open("talker", sys.argv) as node:
    print("domain", node.runtime.domain, flush=True)
"""


@pytest.fixture
def robot(domain: str) -> Iterator[hyphos.Node]:
    with hyphos.Node.open("sim", domain=domain, process="body") as node:
        node.publisher("text", String)
        node.subscribe("text", String, Inbox())
        yield node


def test_a_command_uses_the_domain_of_the_environment(
    robot: hyphos.Node, domain: str, hyphos_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPHOS_DOMAIN", domain)
    assert robot.runtime.domain == domain
    code, out, _ = hyphos_cli("channel", "list", "--json")
    assert code == 0
    assert [row["name"] for row in json.loads(out)] == ["text"]
    code, out, _ = hyphos_cli("channel", "list", "--json", "-d", f"{domain}x")  # the option wins
    assert (code, json.loads(out)) == (0, [])


def test_every_domain_option_reads_the_variable() -> None:
    found = []

    def walk(command: object, path: str) -> None:
        for name, below in getattr(command, "commands", {}).items():
            walk(below, f"{path} {name}")
        for param in getattr(command, "params", []):
            if param.name == "domain" and not path.startswith(" shm"):  # shm is of all domains
                found.append((path, param.envvar))

    walk(get_command(make_app()), "")
    assert len(found) > 30
    assert [path for path, variable in found if variable != "HYPHOS_DOMAIN"] == []


def test_a_program_uses_the_domain_of_the_environment(
    domain: str, python: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
import sys, hyphos
print(hyphos.Node.open("one", sys.argv).runtime.domain)
"""
    monkeypatch.setenv("HYPHOS_DOMAIN", domain)
    assert python(source).end()[:2] == (0, f"{domain}\n")
    words = ("--hyphos-domain", f"{domain}o")
    assert python(source, *words).end()[:2] == (0, f"{domain}o\n")  # the option wins
    monkeypatch.setenv("HYPHOS_DOMAIN", "")
    assert python(source).end()[:2] == (0, "0\n")


def test_an_impossible_domain_of_the_environment_is_refused_by_name(
    python: Start, hyphos_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPHOS_DOMAIN", "two words")
    code, _, err = python("import hyphos; hyphos.Node.open('one')").end()
    assert code == 1
    assert "HYPHOS_DOMAIN is 'two words'" in err
    plan = tmp_path / "robot.yaml"
    plan.write_text("hyphos: 1\nnodes: {one: {}}\n")
    for words in (("channel", "list"), ("run", str(plan)), ("plan", str(plan)), ("time",)):
        code, _, err = hyphos_cli(*words)
        assert code == 2, words
        assert "HYPHOS_DOMAIN" in err, words
        assert "two words" in err, words


def test_a_plan_runs_in_the_domain_of_the_environment(
    domain: str, hyphos_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path / "talker", f"#!{sys.executable}\n{PROGRAM}")
    plan = tmp_path / "robot.yaml"
    plan.write_text("hyphos: 1\ndomain: of_the_plan\nnodes: {talker: {executable: ./talker}}\n")
    logs = ("--logs", str(tmp_path / "logs"))
    monkeypatch.setenv("HYPHOS_DOMAIN", domain)
    code, out, err = hyphos_cli("run", str(plan), *logs)
    assert (code, err) == (0, "")
    assert f"domain {domain}" in out
    assert json.loads(hyphos_cli("plan", str(plan), "--json")[1])["domain"] == domain
    words = ("--set", f"domain={domain}o")  # the option wins
    assert f"domain {domain}o" in hyphos_cli("run", str(plan), *logs, *words)[1]
    shown = hyphos_cli("plan", str(plan), "--json", *words)[1]
    assert json.loads(shown)["domain"] == f"{domain}o"


@pytest.mark.parametrize(
    "words",
    [
        ("channel", "list"), ("channel", "info", "text"), ("channel", "echo", "text"),
        ("channel", "hz", "text"), ("node", "list"), ("node", "info", "sim"), ("top", "--once"),
        ("graph",), ("param", "list"), ("param", "get", "sim", "speed"), ("service", "list"),
        ("service", "call", "reset", "{}"), ("action", "list"), ("action", "send", "go", "{}"),
        ("time",), ("record", "-o", "empty.mcap", "--for", "0.1"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_domain_names_the_domains_with_processes(
    words: tuple[str, ...], robot: hyphos.Node, domain: str, hyphos_cli: Cli
) -> None:
    # Processes of other tests run beside this one, and an error lists at most eight domains.
    assert robot.runtime.domain == domain
    _, out, err = hyphos_cli(*words, "-d", f"a{os.getpid()}")
    said = " ".join((out + err).split())  # its lines end anywhere
    assert "Processes run in domain " in said, said
    assert f"'{domain}' (" in said or " more" in said, said


def test_the_remedy_of_an_empty_domain_names_option_and_variable(
    robot: hyphos.Node, domain: str, hyphos_cli: Cli
) -> None:
    assert robot.runtime.domain == domain
    code, _, err = hyphos_cli("top", "--once", "-d", f"{domain}x")
    assert code == 1
    assert "--domain" in err
    assert "HYPHOS_DOMAIN" in err
