"""Numbers of a file are exact decimals in derived equations: what cancels leaves no rounding behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import catalog
from armdyn.equations import Equations
from armdyn.errors import FeatureError
from armdyn.graph import normal_form
from armdyn.graph.polynomial import rational_terms
from armdyn.robot import Robot
from armdyn.robot.exact import part_of_pi
from support.wheel import MISSING, wheel_files

URDFS = {"ur5_robot.urdf": None, "panda.urdf": "panda_link7", "xarm7.urdf": "link7", "z1.urdf": None}
SMALLEST = 1e-9
"""The smallest product of a mass and two lengths that these files can mean: a gram on a millimetre."""


def coefficients(equations: Equations) -> Iterator[Fraction]:
    for name in ("M", "christoffel", "g", "k"):
        form = normal_form(equations.raw[name])
        stack: list[Any] = [form.nodes]
        while stack:
            part = stack.pop()
            if isinstance(part, tuple | list):
                stack += part
            else:
                yield from rational_terms(form.ring.polynomial(part)).values()


def require_no_rounding(robot: Robot) -> None:
    try:
        equations = armdyn.derive(robot)
    except FeatureError as error:
        assert error.feature == "loops"
        return
    found = [abs(value) for value in coefficients(equations)]
    assert found and min(found) > SMALLEST, f"{sum(value <= SMALLEST for value in found)} of {len(found)}"
    numbers = re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text(equations.nodes("g")).replace("^", " "))
    assert all(len(number.replace(".", "").lstrip("0").split("e")[0]) <= 6 for number in numbers)


def text(nodes: Any) -> str:
    from armdyn.graph import text

    return " ".join(text(nodes))


@pytest.mark.parametrize("name", catalog.names())
def test_no_coefficient_of_a_catalog_robot_is_rounding(name: str) -> None:
    require_no_rounding(armdyn.load(name))


@pytest.mark.parametrize("name", URDFS)
@pytest.mark.filterwarnings("ignore::armdyn.ModelWarning")
def test_no_coefficient_of_a_urdf_robot_is_rounding(name: str) -> None:
    files = wheel_files(name)
    if not files:
        pytest.skip(MISSING)
    require_no_rounding(armdyn.load(files[0], tip=URDFS[name]))


def test_ur5_has_as_many_terms_as_exact_arithmetic_gives() -> None:
    """1,935 Christoffel terms and 17 of gravity; with rounded products there were 6,654 and 243."""
    files = wheel_files("ur5_robot.urdf")
    if not files:
        pytest.skip(MISSING)
    size = armdyn.derive(armdyn.load(files[0])).size
    assert (size["christoffel"], size["g"]) == (1935, 17)


def arm(angle: float) -> Robot:
    rows = [{"name": "a", "a": 0.3, "alpha": angle, "mass": 2.1, "com": [-0.1, 0.02, 0]},
            {"name": "b", "a": 0.25, "theta": angle, "mass": 1.3, "com": [-0.1, 0, 0.03]}]  # fmt: skip
    return Robot.from_dh(rows)


@pytest.mark.parametrize("angle", [1.5707963267948966, 1.57079632679, 0.3, 1.0471975511965976, 2.0943951023931957])
def test_torques_stay_those_of_the_file(angle: float) -> None:
    robot, rng = arm(angle), np.random.default_rng(2)
    equations, dyn = armdyn.derive(robot), armdyn.compile(robot)
    for q, qd, qdd in rng.uniform(-2, 2, (4, 3, 2)):
        assert equations.lambdify()(q, qd, qdd) == pytest.approx(dyn.inverse_dynamics(q, qd, qdd), rel=1e-10)
    assert "multiples of pi" not in str(equations) or angle == 1.57079632679


def test_an_angle_of_few_digits_is_a_part_of_pi_and_the_text_says_so() -> None:
    equations = armdyn.derive(arm(1.5708))
    assert "angles are multiples of pi where their digits say so, by up to 4e-06 rad" in str(equations)
    assert min(abs(value) for value in coefficients(equations)) > 1e-3  # no cos(1.5708) = -3.7e-6


@pytest.mark.parametrize(
    ("angle", "part"),
    [(3.14159, 1), (-1.5708, Fraction(-1, 2)), (0.7854, Fraction(1, 4)), (1.04719755, Fraction(1, 3)),
     (0.2617993877991494, Fraction(1, 12)), (1.571, None), (1.5709, None), (0.31415926, None), (0.0, None)],
)  # fmt: skip
def test_parts_of_pi_are_recognised_by_all_their_digits(angle: float, part: Any) -> None:
    assert part_of_pi(angle) == part
