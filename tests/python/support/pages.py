"""Properties of every page that Hyphos writes, checked in a browser."""

from __future__ import annotations

from pathlib import Path

from browser import Page

CONTRASTS = """
(() => {
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(x => { x /= 255;
      return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4 });
    return .2126 * r + .7152 * g + .0722 * b };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('p, td, th, dd, figcaption, h1, a')].map(
      e => light(getComputedStyle(e).color))
    .concat([...document.querySelectorAll('svg text')].map(e => light(getComputedStyle(e).fill)))
    .map(ink => (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05)) })()
"""
BOXES = """
[...document.querySelectorAll('figure svg')].map(svg => { const box = svg.getBoundingClientRect();
  return [box.width, box.height, svg.querySelectorAll('path').length] })
"""
DUPLICATES = """
(() => { const all = [...document.querySelectorAll('[id]')].map(e => e.id);
  return all.length - new Set(all).size })()
"""
DOWNLOADS = """
Promise.all([...document.querySelectorAll('a[download]')].map(async link => {
  const packed = await (await fetch(link.href)).blob();
  const unpacked = packed.stream().pipeThrough(new DecompressionStream('gzip'));
  return [link.download, await new Response(unpacked).text()] }))
"""


def look_at(tab: Page, path: Path, plots: int, tables: set[str]) -> dict[str, str]:
    """Checks the properties of a report. Returns the files that a reader can download from it."""
    for width, dark in ((1280, False), (390, True)):
        tab.open(path, width=width, dark=dark)
        boxes = tab.ask(BOXES)
        assert len(boxes) == plots
        assert all(w > 200 and h > 100 and paths > 5 for w, h, paths in boxes), boxes
        assert min(tab.ask(CONTRASTS)) >= 4.5  # WCAG 2.1, AA
        assert tab.ask("document.documentElement.scrollWidth") <= width
        assert tab.ask(DUPLICATES) == 0
    found = set(tab.ask("[...document.querySelectorAll('table[id]')].map(t => t.id)"))
    assert found == tables
    assert tab.ask("[...document.querySelectorAll('table')].every(t => t.rows.length > 1)")
    files = dict(tab.ask(DOWNLOADS))
    asked = [one["request"]["url"] for one in tab.named("Network.requestWillBeSent")]
    assert {url.split(":")[0] for url in asked} == {"file", "data"}
    assert [url for url in asked if url.startswith("file:")] == [path.as_uri()]
    assert not tab.named("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    return files
