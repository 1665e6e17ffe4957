"""The figure of a sweep: results over one parameter, or maps over two."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.report.figures.style import COLORS, new_figure
from armdyn.sweeps import MEASURES, Sweep


def sweep_figure(sweep: Sweep, label: str | None = None) -> Any:
    """A Matplotlib figure: results over one varying parameter; for two, one map per result (at most six)."""
    varying = [i for i, x in enumerate(sweep.points.T) if np.ptp(x) > 0]
    if not varying:
        raise ArmdynError("no parameter varies, so there is nothing to draw", where="sweep")
    labels = [label] if label is not None else list(sweep.labels[:6])
    if len(varying) == 1:
        figure = new_figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        x = sweep.points[:, varying[0]]
        order = np.argsort(x)
        units = {_unit(name) for name in labels}
        for name, color in zip(labels, COLORS, strict=False):
            text = _words(name) if len(units) == 1 else f"{_words(name)}, {_unit(name)}"
            axes.plot(x[order], sweep[name][order], ".-", color=color, label=text)
        axes.set(xlabel=_axis(sweep.names[varying[0]]), ylabel=units.pop() if len(units) == 1 else "")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        figure.suptitle(f"Sweep of {sweep.robot}")
        return figure
    columns = min(3, len(labels))
    rows = -(-len(labels) // columns)
    figure = new_figure(figsize=(4.4 * columns, 3.6 * rows), layout="constrained")
    first, second = _strongest(sweep, varying)
    for k, name in enumerate(labels):
        axes = figure.add_subplot(rows, columns, k + 1)
        drawn = axes.scatter(sweep.points[:, first], sweep.points[:, second], c=sweep[name], s=18, cmap="viridis")
        axes.set(xlabel=_axis(sweep.names[first]), ylabel=_axis(sweep.names[second]), title=_words(name))
        figure.colorbar(drawn, ax=axes, label=_unit(name))
    figure.suptitle(f"Sweep of {sweep.robot}")
    return figure


def _strongest(sweep: Sweep, varying: list[int]) -> tuple[int, int]:
    """The two parameters with the strongest influence on the results."""
    strength = np.nan_to_num(np.abs(sweep.influence())).max(axis=1)
    first, second = sorted(sorted(varying, key=lambda i: -strength[i])[:2])
    return first, second


def _unit(label: str) -> str:
    """The unit of a result: peak_torque_elbow has that of peak_torque."""
    return next((measure.unit for name, measure in MEASURES.items() if f"{label}_".startswith(f"{name}_")), "")


def _axis(parameter: str) -> str:
    return f"{parameter}, kg" if parameter == "payload" else f"{parameter}, SI"


def _words(label: str) -> str:
    return label.replace("_", " ")
