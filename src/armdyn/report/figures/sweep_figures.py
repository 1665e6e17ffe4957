"""Figures of a sweep: trade-offs between its measures, results over one parameter, or maps over two."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.report.figures.style import COLORS, DARK, FAINT, GREY, new_figure, open_axes
from armdyn.sweeps import MEASURES, PAYLOAD, Sweep

MOST = 6
"""Panels of a figure."""


def sweep_figure(sweep: Sweep) -> Any:
    """A Matplotlib figure of what differs between the variants.

    Results over the parameter, if one varies; else one panel per pair of measures that cannot both be best, with the
    Pareto front; else maps of the measures over the two parameters that matter most.
    """
    varying = [i for i, x in enumerate(sweep.points.T) if np.ptp(x) > 0]
    if not varying:
        raise ArmdynError("no parameter varies, so there is nothing to draw", where="sweep")
    if len(varying) == 1:
        return _curves(sweep, varying[0])
    pairs = _conflicts(sweep)
    return _trade_offs(sweep, pairs[:MOST]) if pairs else _maps(sweep, varying)


def _curves(sweep: Sweep, parameter: int) -> Any:
    """One panel per measure, its joints as curves."""
    x = sweep.points[:, parameter]
    order = np.argsort(x)
    shown = [name for name in sweep.job.measures if _differs(_columns(sweep, name))][:MOST] or sweep.job.measures[:1]
    figure, panels = _panels(len(shown))
    for axes, name in zip(panels, shown, strict=True):
        for label, color in zip(_labels(sweep, name), COLORS, strict=False):
            joint = label.removeprefix(name).strip("_")
            axes.plot(x[order], sweep[label][order], ".-", color=color, label=joint)
        if MEASURES[name].by_joint:
            axes.legend(frameon=False, fontsize=8)
        if name in sweep.limits:
            axes.axhline(sweep.limits[name], color=GREY, linestyle="--", linewidth=1)
        axes.set(xlabel=_parameter(sweep, parameter), ylabel=_measure(name))
    figure.suptitle(_title(sweep), color=DARK)
    return figure


def _trade_offs(sweep: Sweep, pairs: list[tuple[str, str]]) -> Any:
    """One measure over another: all variants, those within the limits, the front, and the optimum."""
    figure, panels = _panels(len(pairs))
    within, front = sweep.within, sweep.front
    for axes, (first, second) in zip(panels, pairs, strict=True):
        x, y = sweep.worst(first), sweep.worst(second)
        groups = [
            (~within, {"c": "none", "edgecolors": FAINT, "s": 16, "label": "beyond a limit"}),
            (within, {"c": GREY, "alpha": 0.45, "edgecolors": "none", "s": 16, "label": "within the limits"}),
            (front, {"c": COLORS[0], "edgecolors": "white", "linewidths": 0.4, "s": 30, "label": "Pareto front"}),
        ]
        for rows, look in groups:
            if np.size(x[rows]):
                axes.scatter(x[rows], y[rows], **look)
        if sweep.optimum is not None:
            best = x[sweep.optimum], y[sweep.optimum]
            axes.scatter(*best, c=COLORS[1], s=150, marker="*", edgecolors=DARK, linewidths=0.6, label="optimum")
        _within_view(axes, x[within], y[within])
        for name, line in ((first, axes.axvline), (second, axes.axhline)):
            if name in sweep.limits:
                line(sweep.limits[name], color=GREY, linestyle="--", linewidth=1)
        axes.set(xlabel=_measure(first), ylabel=_measure(second))
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.suptitle(_title(sweep), color=DARK)
    return figure


def _within_view(axes: Any, x: Any, y: Any) -> None:
    """Axes around the variants within the limits: those far outside would push them into a corner."""
    for values, set_limits in ((x, axes.set_xlim), (y, axes.set_ylim)):
        if values.size and np.ptp(values) > 0:
            room = 0.08 * np.ptp(values)
            set_limits(values.min() - room, values.max() + room)


def _maps(sweep: Sweep, varying: list[int]) -> Any:
    """Measures as colours over the two parameters with the strongest influence."""
    shown = [name for name in sweep.job.measures if _differs(sweep.worst(name))][:MOST] or sweep.job.measures[:1]
    strength = np.nan_to_num(np.abs(sweep.influence())).max(axis=1)
    first, second = sorted(sorted(varying, key=lambda i: -strength[i])[:2])
    figure, panels = _panels(len(shown))
    for axes, name in zip(panels, shown, strict=True):
        drawn = axes.scatter(
            sweep.points[:, first], sweep.points[:, second], c=sweep.worst(name), s=20, cmap="viridis", zorder=2
        )
        axes.set(xlabel=_parameter(sweep, first), ylabel=_parameter(sweep, second))
        figure.colorbar(drawn, ax=axes, label=_measure(name))
    figure.suptitle(_title(sweep), color=DARK)
    return figure


def _panels(count: int) -> tuple[Any, list[Any]]:
    columns = min(3, count)
    rows = -(-count // columns)
    figure = new_figure(figsize=(max(6.4, 4.2 * columns), 3.6 * rows + 0.4), layout="constrained")
    panels = [figure.add_subplot(rows, columns, k + 1) for k in range(count)]
    for axes in panels:
        open_axes(axes, 8.5)
    return figure, panels


def _conflicts(sweep: Sweep) -> list[tuple[str, str]]:
    """Pairs of measures that no variant within the limits has best at once; what is optimised first."""
    names = sorted(sweep.compared, key=lambda name: name != sweep.optimised)
    best = {}
    for name in names:
        values = np.where(sweep.within, sweep.worst(name) * (-1 if MEASURES[name].larger else 1), np.inf)
        best[name] = values <= values.min() + 1e-9 * np.ptp(values[sweep.within])
    return [pair for pair in combinations(names, 2) if not (best[pair[0]] & best[pair[1]]).any()]


def _labels(sweep: Sweep, measure: str) -> list[str]:
    return [label for label in sweep.labels if label == measure or label.startswith(f"{measure}_")]


def _columns(sweep: Sweep, measure: str) -> Any:
    return np.column_stack([sweep[label] for label in _labels(sweep, measure)])


def _differs(values: Any) -> bool:
    return bool(np.nanmax(np.ptp(values, axis=0)) > 1e-9 * np.nanmax(np.abs(values)))


def _measure(name: str) -> str:
    """Name and unit for an axis; of joints the worst counts."""
    unit = MEASURES[name].unit
    return name.replace("_", " ") + (f", {unit}" if unit else "")


def _parameter(sweep: Sweep, index: int) -> str:
    name = sweep.names[index]
    return f"{name}, kg" if name == PAYLOAD else f"{name} (SI units)"


def _title(sweep: Sweep) -> str:
    return f"{sweep.robot}: {len(sweep.points)} variants"
