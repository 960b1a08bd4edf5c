"""hyphos cosim radio plot"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hyphos._errors import Error
from hyphos.lab.plots import COLOURS, STYLE, legend_below, plain_log
from hyphos.tools.console import console
from hyphos.tools.native import program

LOST = 0.999  # beyond this loss of the best rate, curves end
KINDS = ("svg", "png", "pdf")


def plot(
    scenario: Path, sender: str | None, receiver: str | None, output: Path, data: Path | None
) -> int:
    """Writes the picture, and the curves if asked. Returns the exit code of the native program."""
    kind = output.suffix[1:]
    if kind not in KINDS:
        raise Error(
            "unsupported",
            f"a picture cannot be written as '{output.suffix}'",
            str(output),
            "end the name with .svg, .png or .pdf",
        )
    words = [str(program("cosim", "hyphos-cosim")), "curves", str(scenario)]
    words += ["--from", sender] if sender else []
    words += ["--to", receiver] if receiver else []
    ran = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        return ran.returncode
    figure = draw(json.loads(ran.stdout))
    try:
        if data is not None:
            data.write_text(ran.stdout)
        with mpl.rc_context(STYLE):
            figure.savefig(output, format=kind, dpi=160)
    except OSError as error:
        raise Error("io", f"the file cannot be written: {error.strerror}", error.filename) from None
    console().print(f"picture: {output}", markup=False)
    return 0


def draw(told: dict[str, Any]) -> Figure:
    """Draws the curves in four panels. The panels of loss share the colours of the rates."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 7.5), layout="constrained")
        (path, ratio), (loss, errors) = figure.subplots(2, 2)
    points = _interesting(told["distances"])
    _path_loss(path, points)
    _ratio(ratio, points, told)
    _losses(loss, points, "distance_m", told)
    loss.set_xlabel("horizontal distance (m)")
    _losses(errors, told["errors"], "snr_db", told)
    errors.set_xlabel("signal-to-noise ratio (dB)")
    errors.set_xlim(*_ratios(told["errors"]))
    for ax in (path, ratio, loss):
        ax.set_xscale("log")
        plain_log(ax.xaxis)
        ax.set_xlim(points[0]["distance_m"], points[-1]["distance_m"])
    figure.suptitle(title(told))
    legend_below(figure, *loss.get_legend_handles_labels())
    return figure


def title(told: dict[str, Any]) -> str:
    """The radio in words."""
    rate = told["rate"] or told["rate_control"]
    parts = [
        f"{told['kind']} ({rate}), {told['tx_power_dbm']:g} dBm",
        " ".join(filter(None, [told["path_loss"], told["environment"]])),
        f"shadowing {told['shadowing_db']:g} dB",
        f"fading {told['fading']}",
    ]
    ends = (
        f"{told['from']} at {told['from_height_m']:g} m, "
        f"{told['to']} at {told['to_height_m']:g} m, {told['bytes']:g} bytes, no boxes"
    )
    return ", ".join(parts) + "\n" + ends


def _interesting(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The distances up to the first one at which every rate loses nearly everything."""
    for i, point in enumerate(points):
        if min(point["loss"]) > LOST:
            return points[: max(i + 1, 2)]
    return points


def _ratios(points: list[dict[str, Any]]) -> tuple[float, float]:
    """The range of ratios in which losses change."""
    between = [
        one["snr_db"] for one in points if min(one["loss"]) < LOST and max(one["loss"]) > 1e-4
    ]
    if not between:
        return points[0]["snr_db"], points[-1]["snr_db"]
    return between[0] - 3, between[-1] + 3


def _path_loss(ax: Axes, points: list[dict[str, Any]]) -> None:
    xs = [one["distance_m"] for one in points]
    differs = any(one["path_loss_db"] != one["path_loss_nlos_db"] for one in points)
    ax.plot(xs, [one["path_loss_db"] for one in points], color=COLOURS[0], label="line of sight")
    if differs:
        nlos = [one["path_loss_nlos_db"] for one in points]
        ax.plot(xs, nlos, color=COLOURS[1], label="without")
        chance = ax.twinx()
        share = [100 * one["los_probability"] for one in points]
        chance.plot(xs, share, color=COLOURS[7], linestyle=":", label="probability")
        chance.set_ylabel("probability of a line of sight (%)")
        chance.set_ylim(-3, 103)
        chance.grid(visible=False)
        ax.legend(loc="lower right")
    ax.set_xlabel("horizontal distance (m)")
    ax.set_ylabel("path loss (dB)")


def _ratio(ax: Axes, points: list[dict[str, Any]], told: dict[str, Any]) -> None:
    xs = [one["distance_m"] for one in points]
    low, high = [one["snr_p5_db"] for one in points], [one["snr_p95_db"] for one in points]
    ax.plot(xs, [one["snr_db"] for one in points], color=COLOURS[0], label="median")
    if low != high:
        ax.fill_between(xs, low, high, color=COLOURS[0], alpha=0.2, linewidth=0, label="5 to 95 %")
        ax.legend(loc="upper right")
    ax.set_xlabel("horizontal distance (m)")
    ax.set_ylabel(f"ratio to {told['noise_dbm']:.1f} dBm of noise (dB)")


def _losses(ax: Axes, points: list[dict[str, Any]], x: str, told: dict[str, Any]) -> None:
    rates = told["rates"]
    xs = [one[x] for one in points]
    for i, rate in enumerate(rates):
        ax.plot(
            xs,
            [100 * one["loss"][i] for one in points],
            color=COLOURS[i % len(COLOURS)],
            linestyle="-" if i < len(COLOURS) else "--",
            linewidth=2.2 if rate == told["rate"] else 1.1,
            label=rate or "frames",
        )
    ax.set_ylabel("loss of one transmission (%)")
    ax.set_ylim(-3, 103)
