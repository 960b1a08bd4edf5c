"""report.html of an experiment: one file that needs no network, with all that was measured."""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
from pathlib import Path

from hyphos._errors import Error
from hyphos.lab.commands import reopen
from hyphos.lab.experiment import Experiment
from hyphos.lab.results import Results, Row
from hyphos.lab.show import number, result_lines
from hyphos.lab.stats import Estimate

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem } .dim { color: #666 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8884 }
th.left, td.left { text-align: left; white-space: nowrap } td.bad { color: #c00; font-weight: 600 }
td small { color: #777; white-space: nowrap }
figure { margin: 1.5rem 0 } figcaption { font-size: 13px; color: #444 }
figure svg { max-width: 100%; height: auto }
pre { background: #8881; padding: .8rem; overflow-x: auto }
"""

METHOD = (
    "Messages are due on a schedule that nothing slows down; latency runs from the start of the "
    "publish call to the start of the callback, “from due” from the instant a message was due. "
    "Peers of a case run one after the other, in an order that rotates. Percentiles are those of "
    "all messages of all runs together; intervals are of 95 %, by a bootstrap over whole runs. A "
    "run beside which other programs took more than 5 % of the machine, or the hypervisor more "
    "than 2 %, is disturbed, and left out where at least half of a row's runs were quiet. Warm-up "
    "ended when every subscriber had heard enough."
)


def write_report(folder: Path, output: Path | None) -> Path:
    """Writes the report of the results in `folder`; returns its path. Error if there are none."""
    wanted, results = reopen(folder)
    if not results.runs:
        raise Error("not_found", "nothing was measured yet", str(folder), "hyphos lab run")
    path = output or folder / "report.html"
    try:
        path.write_text(_page(wanted, results))
    except OSError as error:
        raise Error("io", f"cannot be written: {error.strerror}", str(path)) from None
    return path


def save_plots(folder: Path, kind: str) -> list[Path]:
    """Each picture of the report as a file in `folder`/plots."""
    from hyphos.lab.plots import plots  # noqa: PLC0415

    wanted, results = reopen(folder)
    where = folder / "plots"
    where.mkdir(exist_ok=True)
    return [plot.save(where, kind) for plot in plots(results.rows(), wanted.varied())]


def _page(wanted: Experiment, results: Results) -> str:
    from hyphos.lab.plots import plots  # noqa: PLC0415

    rows = results.rows()
    machine = json.loads((results.folder / "machine.json").read_text())
    varied = wanted.varied()
    first = min((run.at for run in results.runs if run.at), default="")
    parts = [
        f"<h1>{html.escape(wanted.name)}</h1>",
        f'<p class="dim">{html.escape(wanted.about)}<br>{html.escape(first)}</p>',
        *(
            f"<figure>{plot.svg()}<figcaption>{html.escape(plot.caption)}</figcaption></figure>"
            for plot in plots(rows, varied)
        ),
        "<h2>Figures</h2>",
        _table(rows, varied, wanted.base),
        "<h2>Method</h2>",
        f"<p>{METHOD}</p>",
        "<h2>Machine</h2>",
        "<table>",
        *(
            f'<tr><td class="left">{html.escape(name)}</td>'
            f'<td class="left">{html.escape(str(value))}</td></tr>'
            for name, value in machine.items()
        ),
        "</table>",
        "<h2>Experiment</h2>",
        f"<pre>{html.escape((results.folder / 'experiment.yaml').read_text())}</pre>",
        "<h2>Data</h2>",
        f"<p>{_attached(results)}</p>",
    ]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(wanted.name)}'
        f"</title><style>{_STYLE}</style>\n" + "\n".join(parts) + "\n</html>\n"
    )


def _table(rows: list[Row], varied: list[str], base: str) -> str:
    heads, found = result_lines(rows, varied, base)
    lines = [
        '<table><tr><th class="left">case</th><th class="left">peer</th>'
        + "".join(f"<th>{html.escape(head)}</th>" for head in heads[2:])
        + "</tr>"
    ]
    for line in found:
        cells = [f'<td class="left">{html.escape(text)}</td>' for text in (line.case, line.peer)]
        if line.failure:
            cells.append(f'<td class="left bad" colspan="99">{html.escape(line.failure)}</td>')
        else:
            cells += [f"<td>{_interval(figure)}</td>" for figure in line.figures]
            cells.append(f'<td class="bad">{line.lost:,}</td>' if line.lost else "<td>0</td>")
            cells.append(f"<td>{line.runs}</td>")
            cells += [f"<td>{_interval(line.ratio)}</td>"] if line.ratio else []
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])


def _interval(estimate: Estimate) -> str:
    if math.isnan(estimate.low):
        return number(estimate.value)
    low, high = number(estimate.low), number(estimate.high)
    return f"{number(estimate.value)} <small>{low}–{high}</small>"


def _attached(results: Results) -> str:
    """The summary and every run, inside the page."""
    results.write_summary()
    links = []
    for name in ("summary.csv", "summary.json", "runs.jsonl"):
        data = gzip.compress((results.folder / name).read_bytes(), mtime=0)
        text = base64.b64encode(data).decode()
        links.append(
            f'<a download="{name}.gz" href="data:application/gzip;base64,{text}">{name}.gz</a>'
        )
    return ", ".join(links)
