"""Figures of torques: what is drawn is what was computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.texts.siciliano.example_7_2 import MOTIONS, example_7_2
from motion.arms import compiled, waypoints
from support.pictures import colors_in


@pytest.mark.parametrize("name", MOTIONS)
def test_contributions_in_the_layout_of_figure_7_6(name: str) -> None:
    parts = example_7_2(name, dt=0.01)
    axes = parts.plot().axes
    drawn = {(i % 2, line.get_label()): line.get_ydata() for i, panel in enumerate(axes) for line in panel.get_lines()}
    assert np.array_equal(drawn[0, "inertia 12"], parts.inertia[:, 0, 1])
    assert np.array_equal(drawn[1, "centrifugal 21"], parts.centrifugal[:, 1, 0])
    assert np.array_equal(drawn[0, "Coriolis 1(12)"], parts.coriolis[:, 0, 0])
    assert np.array_equal(drawn[1, "total"], parts.tau[:, 1])
    assert (1, "Coriolis 2(12)") not in drawn  # it is zero
    assert len(axes) == 10


def test_motion_tip_and_many_joints(tmp_path: Path) -> None:
    parts = example_7_2("straight line", dt=0.01)
    assert [panel.get_title(loc="left") for panel in parts.plot(kind="motion").axes] == [
        "positions",
        "velocities",
        "accelerations",
        "torques",
    ]
    speed = parts.plot(kind="tip").axes[1].get_lines()[0].get_ydata()
    assert np.isclose(speed.max(), 5.0)
    dyn = compiled("panda")
    move = armdyn.time_optimal(waypoints("panda", 0), dyn)
    file = tmp_path / "panda.png"
    figure = armdyn.torque_breakdown(dyn, move).plot(file)
    assert len(colors_in(file)) >= 4 and sum(panel.get_visible() for panel in figure.axes) == 7
    with pytest.raises(armdyn.ArmdynError, match="unknown figure 'tips'"):
        parts.plot(kind="tips")  # type: ignore[arg-type]
