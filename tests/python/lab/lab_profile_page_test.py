"""Pages and plots of profiles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import Page
from hyphos.lab.case import Case
from hyphos.lab.profile.profile import profile
from pages import look_at
from profiles import case_profile, two_hops


def test_the_page_of_a_graph_is_readable_and_has_its_data(tab: Page, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hyphos.lab.profile.report import write_report  # noqa: PLC0415

    told = profile(two_hops()).as_dict()
    path = write_report(tmp_path / "page.html", told)
    # Bars of channels and of paths, and the message flow.
    files = look_at(tab, path, 3, {"channels", "paths", "machine"})
    assert json.loads(files["profile.json.gz"]) == json.loads(json.dumps(told))
    text = tab.ask("document.body.innerText")
    assert "body/driver ─scan→ mind/mapper ─map→ mind/keeper: its slowest messages spend" in text


def test_the_page_of_an_experiment_shows_its_critical_paths(tab: Page, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hyphos.lab.profile.report import write_report  # noqa: PLC0415

    cases = [case_profile(Case("pipeline", size=size), (0, 10, 20)) for size in (128, 500_000)]
    told = {
        "experiment": "small",
        "peer": "hyphos/shm",
        "machine": {"cores": 2},
        "cases": [one.as_dict() for one in cases],
        "findings": [
            {"says": "It is <slow>.", "answer": "not confirmed", "whole": False,
             "figures": "p95: 3", "differs": "Another machine."},
        ],
    }  # fmt: skip
    path = write_report(tmp_path / "page.html", told)
    files = look_at(tab, path, 2, {"layers", "layer-findings", "machine"})
    assert json.loads(files["profile.json.gz"])["cases"][1]["size"] == 500_000
    text = tab.ask("document.body.innerText")
    for case in ("128 B, 100 Hz", "500 kB, 100 Hz"):
        assert f"{case}: body/driver ─scan→ mind/mapper ─map→ mind/keeper: its slowest" in text
    assert "It is <slow>." in text
    assert "6 runs, of which 0 were disturbed" in text


def test_many_cases_are_spread_over_several_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hyphos.lab.profile.draw import write_pictures  # noqa: PLC0415

    cases = [case_profile(Case("pipeline", rate_hz=hz), (0, 10)).as_dict() for hz in range(1, 18)]
    told = {"experiment": "all", "peer": "hyphos/shm", "cases": cases}
    written = write_pictures(tmp_path / "all.svg", told)
    assert [one.name for one in written] == [
        "all.svg", "all-layers_by_size_2.svg", "all-layers_by_size_3.svg", "all-flow.svg",
    ]  # fmt: skip
    shown = [one.read_text() for one in written[:3]]
    for hz in range(1, 18):
        assert sum(text.count(f">1 KB, {hz} Hz, p95<") for text in shown) == 1


def test_plots_are_png_if_the_file_name_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hyphos.lab.profile.draw import write_pictures  # noqa: PLC0415

    written = write_pictures(tmp_path / "layers.png", profile(two_hops()).as_dict())
    assert [one.name for one in written] == ["layers.png", "layers-paths.png", "layers-flow.png"]
    assert all(one.read_bytes().startswith(b"\x89PNG") for one in written)
