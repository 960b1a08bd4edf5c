"""Parts of the laboratory's HTML pages. Each page is one file that needs no network."""

from __future__ import annotations

import base64
import gzip
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyphos._errors import Error

if TYPE_CHECKING:  # matplotlib is optional
    from hyphos.lab.plots import Plot

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --dim: #5f6368; --paper: #fff; --bad: #b3001b }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --dim: #a2a7ad; --paper: #16181c; --bad: #ff7b7b }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--paper) }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem } .dim, td small, figcaption { color: var(--dim) }
.wide, figure { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8884 }
th { vertical-align: bottom } td small { white-space: nowrap }
.left { text-align: left; vertical-align: top } td.left.name { white-space: nowrap }
td.bad { color: var(--bad); font-weight: 600 }
figure { margin: 1.5rem 0 } figcaption { font-size: 13px; max-width: 60rem }
figure svg { max-width: 100%; height: auto; color: var(--ink) }
figure svg text { fill: currentColor }
dt { font-weight: 600 } dd { margin: 0 0 .5rem 1rem; max-width: 60rem }
pre { background: #8881; padding: .8rem; overflow-x: auto } a { color: inherit }
@media (max-width: 45rem) { figure svg { max-width: none } }
"""

# The columns of a table of findings, with the keys of Beside.as_dict().
FINDING_HEADS = (
    ("says", "finding"),
    ("source", "source"),
    ("answer", "verdict"),
    ("figures", "figures here"),
    ("theirs", "figures of the paper"),
    ("differs", "differences"),
)


@dataclass(frozen=True)
class Cell:
    """A cell of a table, such as a figure with its interval."""

    text: str
    small: str = ""
    bad: bool = False
    span: int = 1
    words: bool = False  # sentences, which may take several lines


def page(title: str, parts: Iterable[str]) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>\n"
        f"<h1>{html.escape(title)}</h1>\n" + "\n".join(filter(None, parts)) + "\n</html>\n"
    )


def figure(plot: Plot) -> str:
    text = html.escape(plot.caption)
    return f"<figure>{plot.svg()}<figcaption>{text}</figcaption></figure>"


def section(title: str, *parts: str) -> str:
    """A section. Empty if its parts are empty."""
    inside = "\n".join(filter(None, parts))
    return f"<h2>{html.escape(title)}</h2>\n{inside}" if inside else ""


def paragraph(text: str, *, dim: bool = False) -> str:
    return f"<p{' class=dim' if dim else ''}>{_prose(text)}</p>" if text else ""


def _prose(text: str) -> str:
    """Escaped sentences, with `…` as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def table(
    heads: Sequence[str], lines: Iterable[Sequence[str | Cell]], left: int = 1, name: str = ""
) -> str:
    """A table whose first `left` columns are words."""
    head = "".join(
        f"<th{' class=left' if i < left else ''}>{html.escape(text)}</th>"
        for i, text in enumerate(heads)
    )
    body = []
    for line in lines:
        cells = [one if isinstance(one, Cell) else Cell(one) for one in line]
        body.append("<tr>" + "".join(_cell(c, i < left) for i, c in enumerate(cells)) + "</tr>")
    which = f' id="{name}"' if name else ""
    return f'<div class="wide"><table{which}><tr>{head}</tr>\n' + "\n".join(body) + "</table></div>"


def _cell(cell: Cell, words: bool) -> str:
    classes = " ".join(
        ["left name"] * (words and not cell.words)
        + ["left"] * (cell.words or (cell.span > 1 and not words))
        + ["bad"] * cell.bad
    )
    attributes = f' class="{classes}"' if classes else ""
    if cell.span > 1:
        attributes += f' colspan="{cell.span}"'
    small = f" <small>{html.escape(cell.small)}</small>" if cell.small else ""
    text = _prose(cell.text) if cell.words else html.escape(cell.text)
    return f"<td{attributes}>{text}{small}</td>"


def findings_table(found: Sequence[Mapping[str, Any]], name: str) -> str:
    """The published findings, from Beside.as_dict(). Empty if there are none."""
    lines = [
        [
            Cell(str(one.get(key, "")), bad=key == "answer" and not one["whole"], words=True)
            for key, _ in FINDING_HEADS
        ]
        for one in found
    ]
    heads = [head for _, head in FINDING_HEADS]
    return table(heads, lines, left=len(heads), name=name) if lines else ""


def words(meanings: Mapping[str, str]) -> str:
    """The definitions of the words of a page."""
    return (
        "<dl>"
        + "".join(
            f"<dt>{html.escape(word)}</dt><dd>{html.escape(text)}</dd>"
            for word, text in meanings.items()
        )
        + "</dl>"
    )


def machine_table(machine: Mapping[str, Any]) -> str:
    lines = [(name, Cell(str(value), span=2)) for name, value in machine.items()]
    return table(("", "", ""), lines, name="machine")


def attached(files: Mapping[str, bytes]) -> str:
    """The files, compressed, inside the page."""
    links = []
    for name, content in files.items():
        text = base64.b64encode(gzip.compress(content, mtime=0)).decode()
        links.append(
            f'<a download="{html.escape(name)}.gz" '
            f'href="data:application/gzip;base64,{text}">{html.escape(name)}.gz</a>'
        )
    return f"<p>{', '.join(links)}</p>"


def write(path: Path, text: str) -> Path:
    try:
        path.write_text(text)
    except OSError as error:
        raise Error("io", f"cannot write: {error.strerror}", str(path)) from None
    return path
