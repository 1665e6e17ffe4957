"""Units in robot files: exact, and refused where they do not measure what the key holds."""

from __future__ import annotations

import math

import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.robot.units import SI, unit, without_unit


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("400 mm", "a", 0.4),
        ("123.4mm", "d", 0.1234),
        ("-170 deg", "lower", math.radians(-170)),
        ("90°", "alpha", math.pi / 2),
        ("0.5 kg mm^2", "inertia", 5e-7),
        ("2 kg·cm²", "inertia", 2e-4),
        ("30 rpm", "velocity", math.pi),
        ("300 1/min", "speed", 10 * math.pi),
        ("3 U/min", "speed", 0.1 * math.pi),
        ("50 mNm/A", "torque_constant", 0.05),
        ("0.3 N m s/rad", "viscous", 0.3),
        ("0.3 N*m*s", "viscous", 0.3),
        ("1.5 N/mm", "stiffness", 1500.0),
        ("1 in", "a", 0.0254),
    ],
)
def test_quantities_by_hand(text: str, key: str, value: float) -> None:
    expression = without_unit(text, key)
    assert math.isclose(armdyn.Robot.from_dh([{"a": expression}]).joints[0].geometry.a, value, rel_tol=1e-15)


@pytest.mark.parametrize("text", ["pi/2", "2*l1", "1001/2000", "2e3", "-.5", "l1 + 3", "1/3"])
def test_expressions_without_a_unit_stay_as_they_are(text: str) -> None:
    assert without_unit(text, "a") == text


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("90 deg", "a", "a unit like m"),
        ("3 mm", "alpha", "a unit like rad"),
        ("3 kgg", "mass", "Did you mean 'kg'"),
        ("3 m", "ratio", "takes no unit"),
        ("3 m^^2", "mass", "in the unit"),
        ("3 kg", "velocity", "rad/s or m/s"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, key: str, words: str) -> None:
    with pytest.raises(ArmdynError, match=words):
        without_unit(text, key)


def test_every_key_with_a_unit_has_one_that_can_be_read() -> None:
    for units in SI.values():
        assert all(unit(each).factor == 1 for each in units)


def test_a_right_angle_in_degrees_is_exact() -> None:
    rows = [{"a": "500 mm", "alpha": angle, "mass": 1} for angle in ("90 deg", "pi/2")]
    one, two = (armdyn.Robot.from_dh([row, {"a": 0.3, "mass": 1}]) for row in rows)
    assert one.joints[0].geometry == two.joints[0].geometry


def test_units_of_a_toml_file() -> None:
    text = """
name = "arm"
[parameters]
l = "500 mm"
[[joint]]
a = "l"
mass = "1500 g"
com = ["-250 mm", 0, 0]
inertia = [0, 0, 0, "3e4 kg mm^2", 0, "3e4 kg mm^2"]
"""
    from armdyn.formats.toml import loads

    body = loads(text).joints[0].body.inertia
    assert loads(text).parameters["l"] == 0.5
    assert (float(body.mass), float(body.com.x)) == (1.5, -0.25)
    with pytest.raises(ArmdynError, match=r"joint1'\.mass: m does not measure mass"):
        loads(text.replace("1500 g", "1500 m"))
