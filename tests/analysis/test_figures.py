"""Figures of analysis: what is drawn is what was computed, with units."""

from __future__ import annotations

import re

import numpy as np
import pytest

import armdyn
from analysis.arms import compiled
from armdyn.analysis import acceleration_ellipsoid, workspace_map, workspace_samples
from armdyn.report.figures.ellipsoid_figures import drawn_rows, ellipsoid_figure, gravity_figure, map_figure
from armdyn.report.figures.style import as_svg

Q = np.radians([60.0, -60.0, -60.0])


def numbers_in(svg: str) -> None:
    assert not re.search(r"\bnan\b|\binf\b", svg)
    assert "currentColor" in svg  # text in the colour of the page


def test_gravity_figure_draws_the_ellipses_at_the_tool() -> None:
    """Fig. 7.15: the points drawn, taken back to accelerations, lie on the surface of the three sets."""
    dyn = compiled("planar3r")
    figure = gravity_figure(dyn, {"bent": Q, "other": [0.3, 0.4, 0.5]}, tau_max=5.0)
    axes = figure.axes[0]
    scale_m, scale_a = map(float, re.findall(r"([\d.]+) m drawn = ([\d.]+) m/s²", axes.get_xlabel())[0])
    lines = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    tip = dyn.pose(Q)[:2, 3]
    wanted = {
        "with gravity": acceleration_ellipsoid(dyn, Q, rows="x y", tau_max=5.0),
        "without gravity": acceleration_ellipsoid(dyn, Q, rows="x y", tau_max=5.0, gravity=False),
        "with gravity, by Siciliano (7.148)": acceleration_ellipsoid(dyn, Q, rows="x y", tau_max=5.0, method="text"),
    }
    free = lines["without gravity"]
    np.testing.assert_allclose((free.max(axis=0) + free.min(axis=0)) / 2, tip, atol=1e-3)
    scale = np.ptp(free, axis=0)[0] / (2 * float(wanted["without gravity"].support([1.0, 0.0])))
    assert scale == pytest.approx(scale_m / scale_a, rel=0.05)  # the label rounds
    for label, shape in wanted.items():
        # 181 points of a thin ellipse: its extreme is met to the square of half a step, as is the scale.
        np.testing.assert_allclose(shape.level((lines[label] - tip) / scale), 1, atol=2e-2)
    assert lines["with gravity"][:, 1].mean() < free[:, 1].mean()  # larger accelerations downward


def test_ellipsoid_figures_of_planar_spatial_and_singular_arms() -> None:
    for name, q, tau in (
        ("planar2r", [0.4, 0.0], None),  # stretched: a force without limit
        ("planar3r", [0.6, 0.9, -0.5], [120.0, 60.0, 20.0]),
        ("panda", [0.0, 0.3, 0.0, -1.6, 0.0, 1.9, 0.8], None),
    ):
        figure = ellipsoid_figure(compiled(name), q, tau_max=tau)
        titles = [axes.get_title() for axes in figure.axes]
        assert [title.split(":")[0] for title in titles] == ["velocity", "force", "acceleration"]
        assert all(unit in title for unit, title in zip(("m/s", "N", "m/s²"), titles, strict=True))
        numbers_in(as_svg(figure))
    assert "unlimited" in ellipsoid_figure(compiled("planar2r"), [0.4, 0.0]).axes[1].get_title()


def test_planes_of_arms() -> None:
    assert drawn_rows(compiled("planar2r")) == "x y"
    assert drawn_rows(compiled("panda")) == "x y z"
    assert len(drawn_rows(armdyn.compile(armdyn.load("pendulum"))).split()) == 2
    with pytest.raises(armdyn.ArmdynError, match="moves in a plane"):
        gravity_figure(compiled("panda"), {"here": np.zeros(7)}, tau_max=1.0)
    with pytest.raises(armdyn.ArmdynError, match="one position"):
        ellipsoid_figure(compiled("planar2r"), [[0.1, 0.2]])


def test_maps_as_heat_maps() -> None:
    dyn = compiled("planar2r")
    found = workspace_map(dyn, "gravity", counts=(6, 5))
    figure = map_figure(found)
    heat = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in heat] == ["shoulder", "elbow"]
    for k, axes in enumerate(heat):
        drawn = np.asarray(axes.collections[0].get_array()).reshape(5, 6)
        np.testing.assert_array_equal(drawn, found.values[..., k].T)
        assert axes.get_xlabel() == "shoulder, rad" and axes.get_ylabel() == "elbow, rad"
    assert "N m" in {axes.get_ylabel() for axes in figure.axes}
    numbers_in(as_svg(figure))


def test_maps_with_gaps_and_infinite_values() -> None:
    dyn = compiled("planar2r")
    payload = workspace_map(dyn, "payload", counts=(9, 9), tau_max=600.0, spans=((0, np.pi), (-1, 1)))
    assert np.isnan(payload.values).any()
    figure = map_figure(payload)
    assert "holding torque above the limits" in figure.get_suptitle()
    numbers_in(as_svg(figure))
    reach = map_figure(workspace_map(dyn, "manipulability", ("x", "y"), counts=(6, 6)))
    assert "out of reach" in reach.get_suptitle()
    numbers_in(as_svg(map_figure(workspace_samples(compiled("panda"), "payload", 200))))
