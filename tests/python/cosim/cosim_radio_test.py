"""`hyphos cosim radio`: lists and plots of radios."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Start

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "examples/cosim/radio.yaml"
pytest.importorskip("matplotlib", reason="scripts/setup default")


def test_the_list_has_every_radio_with_rates_and_source(hyphos_start: Start) -> None:
    code, out, err = hyphos_start("cosim", "radio", "list").end()
    assert code == 0, err
    for word in (
        "802.11g",
        "802.11ax",
        "802.15.4",
        "lora",
        "cell",
        "cqi15",
        "mcs11",
        "sf12",
        "IEEE Std 802.11-2020",
    ):
        assert word in out


def test_a_plot_has_the_curves_of_the_scenario(hyphos_start: Start, tmp_path: Path) -> None:
    picture, data = tmp_path / "radio.svg", tmp_path / "radio.json"
    words = ["cosim", "radio", "plot", str(EXAMPLE), "--from", "base", "--to", "rover"]
    code, out, err = hyphos_start(*words, "-o", str(picture), "--json", str(data)).end()
    assert code == 0, err
    assert str(picture) in out.replace("\n", "")
    told = json.loads(data.read_text())
    assert told["rates"] == ["6", "9", "12", "18", "24", "36", "48", "54"]
    points = told["distances"]
    assert [one["path_loss_db"] for one in points] == sorted(one["path_loss_db"] for one in points)
    for i in range(len(told["rates"])):
        losses = [one["loss"][i] for one in points]
        assert losses[0] < 0.01
        assert losses[-1] > 0.9
        between = [one["distance_m"] for one in points if 0.05 < one["loss"][i] < 0.95]
        assert between[-1] > 1.5 * between[0], "the curve is no switch"
        errors = [one["loss"][i] for one in told["errors"]]
        assert errors == sorted(errors, reverse=True)
    text = picture.read_text()
    for word in ("path loss (dB)", "loss of one transmission", "802.11g (minstrel)", ">54<"):
        assert word in text


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_a_plot_of_a_simple_radio_is_written_in_other_formats(
    hyphos_start: Start, tmp_path: Path, suffix: str
) -> None:
    picture = tmp_path / f"radio.{suffix}"
    scenario = EXAMPLE.with_stem("cosim")
    code, _, err = hyphos_start("cosim", "radio", "plot", str(scenario), "-o", str(picture)).end()
    assert code == 0, err
    assert picture.stat().st_size > 10_000


def test_mistakes_are_named(hyphos_start: Start, tmp_path: Path) -> None:
    words = ["cosim", "radio", "plot", str(EXAMPLE)]
    code, _, err = hyphos_start(*words, "--from", "bases", "-o", str(tmp_path / "a.svg")).end()
    assert code == 1
    assert "no robot 'bases': the robots are base, rover, iris" in err
    code, _, err = hyphos_start(*words, "-o", str(tmp_path / "a.txt")).end()
    assert code != 0
    assert ".svg, .png or .pdf" in err
