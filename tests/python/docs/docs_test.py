"""The links, the layout and the languages of the documents, and their blocks of YAML and XML.

The tests load plans, experiments and scenarios. docs_code_test.py runs code, docs_commands_test.py
runs commands, and tutorials_test.py goes through pages. A block that cannot run has a comment with
the reason before it, and the last test counts these blocks by reason.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import hyphos
import pytest
import yaml
from doc_blocks import PAGES, ROOT, TEMPLATES, Block, all_blocks, blocks, blocks_of
from helpers import Cli
from hyphos._hyphos import Plan
from hyphos.lab import experiment
from hyphos.new import project

VIEWER = ROOT / "build/release/view/hyphos-view"
LANGUAGES = {
    "",
    "c",
    "cmake",
    "cpp",
    "csharp",
    "html",
    "json",
    "proto",
    "python",
    "sh",
    "xml",
    "yaml",
}


# --- The extraction itself ------------------------------------------------------------------------


def test_blocks_are_found_with_their_markers() -> None:
    text = "a\n\n<!-- block: not run: too\nlong -->\n```sh\nmake x\n```\nb\n```\nout\n```\n"
    first, second = blocks_of(text, "page.md")
    assert (first.language, first.text, first.line) == ("sh", "make x\n", 5)
    assert first.why_not_run == "too long"
    assert (second.language, second.marker) == ("", "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_fence_is_missed(page: Path) -> None:
    fences = sum(line.startswith("```") for line in page.read_text().splitlines())
    assert fences == 2 * len(list(blocks_of(page.read_text(), page.name)))


# --- Links ----------------------------------------------------------------------------------------


def without_code(text: str) -> str:
    text = re.sub(r"^( *)```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors_of(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    plain = re.sub(r"^( *)```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", plain, re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            broken.append(f"{link}: no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
            broken.append(f"{link}: no such heading")
    assert broken == []


def test_every_page_is_short() -> None:
    words = {str(page.relative_to(ROOT)): len(page.read_text().split()) for page in PAGES}
    long = {name: count for name, count in words.items() if name.startswith("docs/")}
    assert {name: count for name, count in long.items() if count > 1500} == {}


# --- Languages ------------------------------------------------------------------------------------


def test_every_block_has_a_known_language() -> None:
    assert {block.language for block in all_blocks()} <= LANGUAGES


# --- YAML -----------------------------------------------------------------------------------------


def yaml_kind(found: Any) -> str:
    if not isinstance(found, dict):
        return "none"
    if "hyphos" in found or set(found) <= {"network", "data_graph"}:
        return "plan"
    if "lab" in found:
        return "experiment"
    if "hyphos_view" in found:
        return "layout"
    if "jobs" in found:
        return "workflow"
    return "scenario" if "robots" in found else "none"


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_yaml_loads_as_printed(block: Block, tmp_path: Path, hyphos_cli: Cli) -> None:
    file = tmp_path / (block.file or "robot.yaml")
    kind = yaml_kind(yaml.safe_load(block.text))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text)
    if kind == "plan" and "include: [robot.yaml]" in block.text:  # of the project of the tutorial
        rendered = project.rendered("my_robot", project.Languages.BOTH)
        (tmp_path / "robot.yaml").write_text(rendered["robot.yaml"])
    if kind == "plan":
        loaded = Plan.load(str(file), [], False)
        assert loaded.warnings == []
        code, out, err = hyphos_cli("plan", str(file))
        assert (code, err) == (0, ""), out
    elif kind == "experiment":
        # The text beside such blocks names these files: a recording, a plan with loads.
        shutil.copy(ROOT / "examples/patrol/three_processes.yaml", tmp_path / "robot.yaml")
        file = tmp_path / "experiment.yaml"
        experiment.parse(block.text, str(file))
        assert experiment.parse(block.text, str(file), full=True).name
    elif kind == "layout":
        if not VIEWER.exists():
            pytest.skip("the viewer is not built")
        domain = f"absent{os.getpid()}"
        words = [str(VIEWER), "--domain", domain, "--layout", str(file), "--size", "320x200"]
        done = subprocess.run(
            [*words, "--png", str(tmp_path / "out.png")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    elif kind == "scenario":
        code, out, err = hyphos_cli("cosim", "run", str(file))
        assert code == 0, out + err
    else:
        # A test of the page runs the commands of a workflow.
        assert kind == "workflow" and block.file, (
            f"{block}: neither a plan, nor an experiment, nor a scenario"
        )


def test_a_plan_with_a_mistake_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(blocks("yaml")[0].text.replace("nodes: [pilot]", "nodes: [pilott]"))
    with pytest.raises(hyphos.Error, match="pilott"):
        Plan.load(str(file), [], False)


# --- Other kinds ----------------------------------------------------------------------------------


def test_xml_is_well_formed() -> None:
    for block in blocks("xml"):
        ElementTree.fromstring(block.text)


@pytest.mark.parametrize("block", [b for b in all_blocks() if b.marker[:6] == "quoted"], ids=str)
def test_each_quotation_equals_its_source(block: Block) -> None:
    if block.marker.startswith(TEMPLATES):
        path = block.marker.removeprefix(TEMPLATES).removesuffix(".in")
        assert block.text in project.rendered("my_robot", project.Languages.BOTH)[path]
        return
    source = (ROOT / block.marker.removeprefix("quoted from ")).read_text()
    assert set(block.text.splitlines()) - {""} <= set(source.splitlines())


@pytest.mark.parametrize("language", ["cmake", "csharp", "html"])
def test_other_languages_run_or_have_a_reason(language: str) -> None:
    for block in blocks(language):
        assert block.marker, f"{block}: mark it as a file, as quoted, or as not run"


# --- Omitted blocks -------------------------------------------------------------------------------


def test_skipped_blocks_are_few_and_have_a_reason(record_property: Any) -> None:
    reasons = Counter(block.why_not_run for block in all_blocks() if block.why_not_run)
    record_property("not run", dict(reasons))
    print(*(f"{count} not run: {reason}" for reason, count in reasons.items()), sep="\n")
    assert sum(reasons.values()) <= 12
    assert all(len(reason) > 10 for reason in reasons)
    unmarked = [
        block for block in all_blocks()
        if block.marker
        and not re.match(r"not run: |file |quoted from |run with the files", block.marker)
    ]  # fmt: skip
    assert unmarked == []
