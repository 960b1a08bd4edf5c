"""The report of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyphos.tools.report import Report
from hyphos.tools.totals import Totals


def test_without_graphviz_the_graph_is_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "report.html"
    Report("robot", 'digraph { "a" -> "b" }', 1.0, Totals(0.0)).write(file)
    page = file.read_text()
    assert "<pre>digraph { &quot;a&quot; -&gt; &quot;b&quot; }</pre>" in page
    assert "apt install graphviz" in page
    assert "<h2>Channels</h2>" in page
